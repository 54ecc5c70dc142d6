/** The structural schema of a CRD schema, as apply and field ownership use it. */
import { describe, expect, test } from 'vitest';
import { structuralSchemaOf } from '../../../src/crd/structural-schema.js';
import { schemaNodeOf } from '../../../src/crd/to-schema-node.js';
import { fieldsOfIntent, IntentError } from '../../../src/merge/apply/intent-fields.js';
import { merge } from '../../../src/merge/apply/merge.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import type { JSONSchemaProps } from '../../../src/schema/json-schema.js';

const X = 'x-kubernetes-' as const;
const text = { type: 'string' };
const rootNodeOf = (spec: JSONSchemaProps) =>
  schemaNodeOf(structuralSchemaOf({ type: 'object', properties: { spec } }, kubernetesDialect));
const nodeOf = (spec: JSONSchemaProps) => rootNodeOf(spec).fields.get('spec')?.node;

/** The fields that an applier of a spec owns, or the error. */
function owned(spec: JSONSchemaProps, value: unknown): unknown {
  try {
    return fieldsOfIntent(rootNodeOf(spec), { spec: value });
  } catch (error) {
    if (error instanceof IntentError) return error.message;
    throw error;
  }
}

describe('objects', () => {
  test('has object fields in wire order', () => {
    const node = nodeOf({ type: 'object', required: ['b'], properties: { b: text, a: text } });
    expect(node).toMatchObject({ type: 'object', representation: 'document', preserveUnknown: false, atomic: false });
    expect(node?.type === 'object' && [...node.fields.values()].map(({ name, required }) => [name, required])).toEqual([
      ['a', false],
      ['b', true],
    ]);
    expect(owned({ type: 'object', properties: { a: text } }, { b: 1 })).toBe('.spec.b: field not declared in schema');
  });

  test('accepts any fields of an object without properties', () => {
    expect(nodeOf({ type: 'object' })).toMatchObject({ type: 'object', preserveUnknown: true });
    expect(owned({ type: 'object' }, { a: { b: 1 } })).toEqual({
      'f:spec': { 'f:a': { '.': {}, 'f:b': {} } },
    });
    expect(owned({ type: 'object' }, 'x')).toBe('.spec: expected map, got &{x}');
    expect(nodeOf({ type: 'object', additionalProperties: false })).toMatchObject({ preserveUnknown: false });
  });

  test('converts an object with values of one type to a map', () => {
    expect(nodeOf({ type: 'object', additionalProperties: { type: 'integer' } })).toMatchObject({
      type: 'map',
      atomic: false,
      values: { type: 'scalar', scalar: 'int64' },
    });
    expect(nodeOf({ type: 'object', additionalProperties: text, [`${X}map-type`]: 'atomic' })).toMatchObject({
      type: 'map',
      atomic: true,
    });
    expect(nodeOf({ type: 'object', additionalProperties: true })).toMatchObject({
      type: 'object',
      preserveUnknown: true,
    });
  });

  test('preserves unknown fields at all levels below x-kubernetes-preserve-unknown-fields', () => {
    const inner = { type: 'object', properties: { b: text } };
    const node = nodeOf({ type: 'object', [`${X}preserve-unknown-fields`]: true, properties: { a: inner } });
    expect(node).toMatchObject({ type: 'object', preserveUnknown: true });
    expect(node?.type === 'object' && node.fields.get('a')?.node).toMatchObject({ preserveUnknown: true });
  });

  test('adds the common fields to embedded resources', () => {
    const node = nodeOf({
      type: 'object',
      [`${X}embedded-resource`]: true,
      properties: { spec: { type: 'object' }, metadata: { type: 'object' } },
    });
    expect(node?.type === 'object' && [...node.fields.keys()]).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(node?.type === 'object' && node.fields.get('metadata')?.node).toMatchObject({ representation: 'struct' });
  });

  test('omits the three common fields at the root', () => {
    const root = structuralSchemaOf(
      { type: 'object', properties: { kind: text, apiVersion: text, metadata: { type: 'object' }, spec: text } },
      kubernetesDialect,
    );
    expect([...schemaNodeOf(root).fields.keys()]).toEqual(['spec']);
    expect(schemaNodeOf(root).preserveUnknown).toBe(false);
  });
});

describe('lists', () => {
  const item = { type: 'object', properties: { name: { ...text, default: 'x' }, size: { type: 'integer' } } };

  test('treats a list as atomic by default', () => {
    expect(nodeOf({ type: 'array', items: text })).toMatchObject({ type: 'list', listType: 'atomic' });
    expect(nodeOf({ type: 'array', items: text, [`${X}list-type`]: 'set' })).toMatchObject({ listType: 'set' });
  });

  test('merges map lists by their keys, with defaults for omitted keys', () => {
    const keyed = { type: 'array', items: item, [`${X}list-type`]: 'map', [`${X}list-map-keys`]: ['name'] };
    expect(nodeOf(keyed)).toMatchObject({ listType: 'map', mapKeys: ['name'] });
    expect(merge(rootNodeOf(keyed), { spec: [{ name: 'x', size: 1 }] }, { spec: [{ size: 2 }] })).toEqual({
      spec: [{ name: 'x', size: 2 }],
    });
  });
});

describe('scalars', () => {
  test.each<[schema: JSONSchemaProps, node: object]>([
    [text, { type: 'scalar', scalar: 'string' }],
    [
      { ...text, format: 'byte' },
      { type: 'scalar', scalar: 'string' },
    ],
    [{ type: 'integer' }, { type: 'scalar', scalar: 'int64' }],
    [{ type: 'number' }, { type: 'scalar', scalar: 'number' }],
    [{ type: 'boolean' }, { type: 'scalar', scalar: 'boolean' }],
    [{ [`${X}int-or-string`]: true }, { type: 'any', atomic: false }],
    [{ [`${X}preserve-unknown-fields`]: true }, { type: 'any', atomic: false }],
    [
      { ...text, nullable: true, default: 'a' },
      { type: 'scalar', nullable: true, default: 'a' },
    ],
  ])('converts the scalar %j', (schema, node) => {
    expect(nodeOf(schema)).toMatchObject(node);
  });

  test('accepts any scalar for a string with a format', () => {
    const date = { type: 'object', properties: { when: { ...text, format: 'date' } } };
    expect(owned(date, { when: 5 })).toEqual({ 'f:spec': { 'f:when': {} } });
    expect(owned({ type: 'object', properties: { when: text } }, { when: 5 })).toBe(
      '.spec.when: expected string, got &value.valueUnstructured{Value:5}',
    );
  });
});
