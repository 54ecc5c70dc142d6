/** OpenAPI of kinds defined with zod schemas. */
import { Deployment } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../src/kinds/define-kind.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { mapList } from '../../../src/schema/hints.js';
import { zodBody } from '../../../src/zod/index.js';
import { documentAt, servedIn, wholeDocument } from './openapi/documents.js';

const Shared = z.string().max(9).meta({ id: 'openapi-custom-shared', description: 'Has an id.' });

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: {
    spec: z
      .object({
        colour: z.enum(['red', 'green']).default('red').describe('Its colour.'),
        count: z.int().min(1).max(7).describe('How many.'),
        share: z.number().gt(0).lt(1).multipleOf(0.25).optional(),
        plain: z.int32().optional(),
        level: z.literal([1, 2]).optional(),
        code: z
          .string()
          .min(2)
          .max(5)
          .regex(/^[a-z]+$/)
          .meta({ title: 'Code', description: 'What it goes by.' }),
        mail: z.email().optional(),
        both: z.string().regex(/^a/).regex(/z$/).optional(),
        maybe: z.string().max(3).nullable().optional().describe('Or nothing.'),
        parts: mapList(z.object({ name: z.string().min(1).describe('Of the part.') }), 'name')
          .max(3)
          .optional(),
        labels: z.record(z.string(), z.string().max(63)).optional().describe('Free.'),
        either: z.union([z.string(), z.number()]).optional().describe('One or the other.'),
        first: Shared.optional(),
        second: Shared.optional(),
      })
      .describe('What is wished for.'),
  },
});

const served = servedIn(kubernetesDialect, [Widget]);
const NAME = 'com.example.v1.Widget';

test('publishes the constraints of zod schemas in OpenAPI 3', () => {
  const { components } = documentAt('apis/example.com/v1', served, kubernetesDialect);
  const spec = components.schemas[NAME]?.properties?.['spec'];
  expect(spec?.description).toBe('What is wished for.');
  expect(spec?.required).toEqual(['code', 'count']);
  expect(spec?.properties).toEqual({
    both: {
      type: 'string',
      allOf: [
        { type: 'string', pattern: '^a' },
        { type: 'string', pattern: 'z$' },
      ],
    },
    code: {
      description: 'What it goes by.',
      title: 'Code',
      type: 'string',
      minLength: 2,
      maxLength: 5,
      pattern: '^[a-z]+$',
    },
    colour: { description: 'Its colour.', type: 'string', enum: ['red', 'green'], default: 'red' },
    count: { description: 'How many.', type: 'integer', format: 'int64', minimum: 1, maximum: 7 },
    either: { description: 'One or the other.', 'x-kubernetes-preserve-unknown-fields': true },
    first: { description: 'Has an id.', type: 'string', maxLength: 9 },
    labels: { description: 'Free.', type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
    level: { type: 'number', enum: [1, 2] },
    mail: { type: 'string', format: 'email' },
    maybe: { description: 'Or nothing.', type: 'string', maxLength: 3, nullable: true },
    parts: {
      type: 'array',
      maxItems: 3,
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { description: 'Of the part.', type: 'string', minLength: 1 } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    plain: { type: 'integer', format: 'int32' },
    second: { description: 'Has an id.', type: 'string', maxLength: 9 },
    share: {
      type: 'number',
      format: 'double',
      minimum: 0,
      exclusiveMinimum: true,
      maximum: 1,
      exclusiveMaximum: true,
      multipleOf: 0.25,
    },
  });
});

describe('OpenAPI 2 of zod schemas', () => {
  const fields = wholeDocument(served, kubernetesDialect).definitions[NAME]?.properties?.['spec']?.properties ?? {};

  test('omits what OpenAPI 2 cannot express', () => {
    expect(fields['colour']).toEqual({ description: 'Its colour.', type: 'string', enum: ['red', 'green'] });
    expect(fields['maybe']).toEqual({ description: 'Or nothing.', maxLength: 3 });
    expect(fields['both']).toEqual({ type: 'string' });
    expect(fields['either']).toEqual(expect.not.objectContaining({ type: expect.anything() }));
  });
});

test('refers to a built-in type that a user-defined kind uses', () => {
  const Fleet = defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Fleet',
    scope: 'Cluster',
    body: { template: zodBody(Deployment).spec },
  });
  const { components } = documentAt('apis/example.com/v1', servedIn(kubernetesDialect, [Fleet]), kubernetesDialect);
  const text = JSON.stringify(components.schemas['com.example.v1.Fleet']?.properties?.['template']);
  const [, name = ''] = /"#\/components\/schemas\/([^"]+)"/.exec(text) ?? [];
  expect(name).toMatch(/DeploymentSpec$/);
  expect(components.schemas[name]?.properties).toHaveProperty('replicas');
});
