/** CRDs from kinds: the manifest, the conversion of each part of zod, losses and rejected kinds. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineKind as defineRuled } from '../../../../src/crd/define-kind-with-rules.js';
import { scale } from '../../../../src/crd/scale.js';
import type { SchemaLoss } from '../../../../src/crd/zod/context.js';
import { patternsOf } from '../../../../src/crd/zod/pattern.js';
import { type ToCRDOptions, toCRD } from '../../../../src/crd/zod/to-crd.js';
import { defineKind } from '../../../../src/kinds/define-kind.js';
import { ConfigMap } from '../../../../src/kinds/index.js';
import type { Kind } from '../../../../src/kinds/kind.js';
import { status } from '../../../../src/kinds/status-subresource.js';
import { atomic, mapList, setList } from '../../../../src/schema/hints.js';
import { re2Matches } from '../../../../src/text/re2/index.js';
import fc from '../../../property/seeded.js';
import { bodies } from './to-crd-bodies.js';

const widget = (spec: z.ZodType, more: Partial<Parameters<typeof defineKind>[0]> = {}): Kind =>
  defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced', body: { spec }, ...more }) as Kind;

/** The schema of one field, and what is lost with it. */
function schemaOf(value: z.ZodType, options: ToCRDOptions = {}): { schema: unknown; lost: string[] } {
  const losses: SchemaLoss[] = [];
  const crd = toCRD(widget(z.object({ value: value.optional() })), { ...options, onLoss: (loss) => losses.push(loss) });
  const root = crd.spec.versions[0]?.schema?.openAPIV3Schema;
  const schema = root?.properties?.['spec']?.properties?.['value'];
  return {
    schema,
    lost: losses.map(({ path, what, effect }) => `${path}: ${what}${effect === 'weaker' ? '' : ` (${effect})`}`),
  };
}

describe('the manifest', () => {
  test('contains all parts of a kind in the manifest', () => {
    const kind = defineKind({
      apiVersion: 'example.com/v1beta1',
      kind: 'Policy',
      scope: 'Cluster',
      names: { shortNames: ['pol'], categories: ['all'] },
      body: {
        spec: z.object({
          size: z.enum(['s', 'm']).default('m').describe('How big.'),
          parts: z.array(z.string()).max(5),
        }),
        status: z.object({ ready: z.boolean() }).optional(),
      },
      subresources: { status },
    });
    expect(toCRD(kind)).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'policies.example.com' },
      spec: {
        group: 'example.com',
        names: {
          plural: 'policies',
          singular: 'policy',
          kind: 'Policy',
          listKind: 'PolicyList',
          shortNames: ['pol'],
          categories: ['all'],
        },
        scope: 'Cluster',
        versions: [
          {
            name: 'v1beta1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      size: { description: 'How big.', type: 'string', enum: ['s', 'm'], default: 'm' },
                      parts: { type: 'array', items: { type: 'string' }, maxItems: 5 },
                    },
                    required: ['parts'],
                  },
                  status: { type: 'object', properties: { ready: { type: 'boolean' } }, required: ['ready'] },
                },
                required: ['spec'],
              },
            },
            subresources: { status: {} },
          },
        ],
      },
    });
  });

  test("uses the names of a real cluster or of this library's dialect", () => {
    const kind = widget(z.object({ tags: setList(z.string()) }));
    expect(JSON.stringify(toCRD(kind))).toContain('"x-kubernetes-list-type":"set"');
    expect(JSON.stringify(toCRD(kind, { dialect: 'kubernetes' }))).toBe(JSON.stringify(toCRD(kind)));
    const own = toCRD(kind, { dialect: 'orch' });
    expect(own.apiVersion).toBe('apiextensions.orch.io/v1');
    expect(JSON.stringify(own)).toContain('"x-orch-list-type":"set"');
  });

  test('returns a new plain JSON object on each call', () => {
    const kind = widget(z.object({ list: z.array(z.int()).default([1]) }));
    expect(toCRD(kind)).not.toBe(toCRD(kind));
    expect(JSON.parse(JSON.stringify(toCRD(kind)))).toEqual(toCRD(kind));
    for (const value of Object.values(bodies)) {
      const crd = toCRD(widget(z.object({ value })));
      expect(JSON.parse(JSON.stringify(crd))).toEqual(crd);
    }
  });

  test('contains rules, columns, selectable fields, deprecation and scale', () => {
    const kind = widget(z.object({ replicas: z.int().default(1) }));
    const rule = { rule: 'self.spec.replicas < 10', message: 'too many' };
    const column = { name: 'Replicas', type: 'integer', description: '', jsonPath: '.spec.replicas', cell: () => 1 };
    const more = {
      rules: [rule],
      columns: [
        { name: 'Name', type: 'string', description: 'The name.', cell: () => 'x' },
        column,
        { ...column, name: 'Odd', jsonPath: undefined },
      ],
      deprecation: () => 'use v2',
      subresources: { status, scale, other: status },
      strategy: {
        ...kind.strategy,
        read: { ...kind.strategy.read, selectableFields: { 'spec.replicas': () => '1' } },
      },
    };
    const lost: string[] = [];
    const crd = toCRD({ ...kind, ...more } as unknown as Kind, { onLoss: ({ what }) => lost.push(what) });
    expect(crd.spec.versions[0]).toMatchObject({
      deprecated: true,
      deprecationWarning: 'use v2',
      schema: { openAPIV3Schema: { 'x-kubernetes-validations': [rule] } },
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
      additionalPrinterColumns: [{ name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' }],
      selectableFields: [{ jsonPath: '.spec.replicas' }],
    });
    expect(lost).toEqual(['the subresource other', 'the column Odd']);
  });
});

describe('rules and scales', () => {
  const ruled = (rule: string, value: z.ZodType) =>
    defineRuled({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      scope: 'Namespaced',
      body: { spec: z.object({ value }) },
      rules: [{ rule }],
    });

  test('converts rules with the same meaning', () => {
    const kind = ruled("self.spec.value.startsWith('2024')", z.iso.datetime());
    const schema = toCRD(kind).spec.versions[0]?.schema?.openAPIV3Schema;
    expect(schema?.['x-kubernetes-validations']).toEqual([{ rule: "self.spec.value.startsWith('2024')" }]);
    expect(schema?.properties?.['spec']?.properties?.['value']?.format).toBeUndefined();
    expect(schemaOf(z.iso.datetime()).schema).toMatchObject({ format: 'date-time' });
  });

  test('rejects rules that exceed the cost limit of a server', () => {
    const lists = z.array(z.array(z.string()));
    const kind = ruled('self.spec.value.all(a, self.spec.value.all(b, a.all(x, b.all(y, x != y))))', lists);
    expect(() => toCRD(kind)).toThrow('estimated rule cost exceeds budget');
  });

  test('converts the paths of a scale or rejects it', () => {
    const kind = widget(z.object({ size: z.int() }));
    const paths = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
    const scaled = { ...kind, subresources: { scale: { ...scale, paths } } } as Kind;
    expect(toCRD(scaled).spec.versions[0]?.subresources).toEqual({ scale: paths });
    const silent = { ...kind, subresources: { scale: { ...scale, paths: undefined } } } as unknown as Kind;
    expect(() => toCRD(silent)).toThrow('the scale subresource has no paths');
  });
});

describe('the schema', () => {
  test.each<[string, z.ZodType, unknown]>([
    ['string', z.string().min(1).max(9).min(3), { type: 'string', minLength: 3, maxLength: 9 }],
    ['pattern', z.string().regex(/^\d+\.$/), { type: 'string', pattern: '^\\d+\\.$' }],
    [
      'patterns',
      z.string().startsWith('a.').endsWith('z').includes('?'),
      { type: 'string', pattern: '^a\\.', allOf: [{ pattern: 'z$' }, { pattern: '\\?' }] },
    ],
    [
      'lookahead',
      z.string().regex(/^(?!a)b+$/),
      { type: 'string', pattern: '^b+$', allOf: [{ not: { pattern: '^(?:a)' } }] },
    ],
    ['ipv6', z.ipv6(), { type: 'string', format: 'ipv6' }],
    ['number', z.number().positive().max(5), { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 5 }],
    ['int32', z.int32().min(1), { type: 'integer', format: 'int32', minimum: 1, maximum: 2147483647 }],
    ['whole bounds', z.int().gt(0.5).lt(4), expect.objectContaining({ minimum: 1, maximum: 3 })],
    [
      'factors',
      z.number().int().multipleOf(2).multipleOf(3),
      expect.objectContaining({ multipleOf: 2, allOf: [{ multipleOf: 3 }] }),
    ],
    ['nullable enum', z.enum(['a']).nullable(), { type: 'string', nullable: true, allOf: [{ enum: ['a'] }] }],
    ['literals', z.literal(['a', 'b', null]), { type: 'string', nullable: true, allOf: [{ enum: ['a', 'b'] }] }],
    ['anything', z.unknown(), { 'x-kubernetes-preserve-unknown-fields': true, nullable: true }],
    [
      'loose object',
      z.looseObject({ a: z.string() }),
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        'x-kubernetes-preserve-unknown-fields': true,
      },
    ],
    ['record', z.record(z.string(), z.boolean()), { type: 'object', additionalProperties: { type: 'boolean' } }],
    [
      'atomic',
      atomic(z.record(z.string(), z.string())),
      expect.objectContaining({ 'x-kubernetes-map-type': 'atomic' }),
    ],
    [
      'map list',
      mapList(z.object({ name: z.string() }), 'name').min(1),
      {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        minItems: 1,
      },
    ],
    [
      'title, description and example',
      z.string().meta({ title: 'T', description: 'D', examples: ['e'] }),
      { title: 'T', description: 'D', example: 'e', type: 'string' },
    ],
    [
      'int or string',
      z.union([z.int32().min(1), z.string().regex(/%$/)]),
      { 'x-kubernetes-int-or-string': true, pattern: '%$', minimum: 1, maximum: 2147483647 },
    ],
    [
      'intersection',
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.int32() }).nullable()),
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: expect.objectContaining({ type: 'integer' }) },
        required: ['a', 'b'],
      },
    ],
    [
      'intersection of nullable types',
      z.intersection(z.string().min(2).nullable(), z.string().max(5).nullable()),
      { type: 'string', minLength: 2, maxLength: 5, nullable: true },
    ],
    [
      'discriminated union',
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('a'), x: z.string().min(2) }),
        z.strictObject({ kind: z.literal('b'), y: z.boolean().optional() }),
      ]),
      {
        type: 'object',
        properties: { kind: { type: 'string' }, x: { type: 'string' }, y: { type: 'boolean' } },
        anyOf: [
          {
            required: ['kind', 'x'],
            properties: { kind: { enum: ['a'] }, x: { minLength: 2 } },
            allOf: [{ not: { required: ['y'] } }],
          },
          { required: ['kind'], properties: { kind: { enum: ['b'] } }, allOf: [{ not: { required: ['x'] } }] },
        ],
      },
    ],
  ])('converts the schema: %s', (_, value, expected) => {
    expect(schemaOf(value).schema).toEqual(expected);
  });

  test('takes descriptions from the outermost wrapper', () => {
    const inner = z.string().describe('inner');
    expect(schemaOf(inner.nullable()).schema).toMatchObject({ description: 'inner', nullable: true });
    expect(schemaOf(inner.nullable().describe('outer')).schema).toMatchObject({ description: 'outer' });
  });

  test('uses the extensions of the dialect', () => {
    expect(schemaOf(z.union([z.int(), z.string()]), { dialect: 'orch' }).schema).toMatchObject({
      'x-orch-int-or-string': true,
    });
  });
});

describe('reported losses', () => {
  test.each<[string, z.ZodType, string[]]>([
    ['refinements', z.object({ a: z.string().refine(Boolean) }), ['spec.value.a: a refinement']],
    ['refinements in lists', z.array(z.string().refine(Boolean)), ['spec.value[*]: a refinement']],
    ['patterns', z.string().regex(/(a)\1/), ['spec.value: the pattern /(a)\\1/ (has a back reference)']],
    ['factors', z.number().multipleOf(0.1), ['spec.value: multiples of 0.1']],
    ['keys', z.record(z.string().min(1), z.string()), ['spec.value: the schema of keys']],
    ['types', z.union([z.string(), z.boolean()]), ['spec.value: the choice between string, boolean']],
    ['formats', z.stringFormat('odd', (text) => text === 'x'), ['spec.value: the format odd']],
    ['URLs', z.url(), ['spec.value: the URL syntax beyond the format uri (differs)']],
    [
      'host names',
      z.url({ hostname: /^a\.b$/ }),
      ['spec.value: the URL syntax beyond the format uri (differs)', 'spec.value: the host names of /^a\\.b$/'],
    ],
    ['a default of null', z.string().nullable().default(null), ['spec.value: a default of null (differs)']],
    [
      'fields of other alternatives',
      z.union([z.object({ a: z.string() }), z.object({ b: z.int() })]),
      [
        'spec.value.a: any type in other alternatives (differs)',
        'spec.value.b: any type in other alternatives (differs)',
      ],
    ],
  ])('reports the loss of %s', (_, value, expected) => {
    expect(schemaOf(value).lost).toEqual(expected);
  });

  test('reports the validate function of the kind as a loss', () => {
    const losses: SchemaLoss[] = [];
    toCRD(widget(z.object({}), { validate: () => [] }), { onLoss: (loss) => losses.push(loss) });
    expect(losses).toEqual([{ path: '', what: 'the validate function', effect: 'weaker' }]);
  });

  test('passes an error of onLoss to the caller', () => {
    const kind = widget(z.object({ a: z.string().refine(Boolean) }));
    const throwLoss = ({ path, what }: SchemaLoss) => {
      throw new Error(`${path}: ${what}`);
    };
    expect(() => toCRD(kind, { onLoss: throwLoss })).toThrow('spec.a: a refinement');
  });

  test('reports the content of a recursive schema as a loss', () => {
    const tree: z.ZodType = z.lazy(() => z.object({ left: tree.optional() }));
    const { schema, lost } = schemaOf(z.union([tree, z.null()]));
    expect(schema).toMatchObject({ type: 'object', nullable: true });
    expect(lost).toEqual([expect.stringContaining('the content of a recursive schema')]);
  });
});

describe('kinds that a server would reject', () => {
  test.each<[string, () => Kind, string]>([
    ['a group without a dot', () => widget2('example/v1'), 'spec.group: Invalid value: "example": should be a domain'],
    ['the core group', () => widget2('v1'), 'spec.group: Required value'],
    [
      'a default that its own schema rejects',
      () => widget(z.object({ a: z.string().min(3).default('x') })),
      'properties[a].default: Invalid value: "x"',
    ],
    [
      'a default with unknown fields',
      () => widget(z.object({ a: z.object({}).default({ b: 1 } as never) })),
      'must not have unknown fields',
    ],
    [
      'a key that may be null',
      () => widget(z.object({ a: mapList(z.object({ k: z.string().nullable() }), 'k') })),
      'cannot be nullable',
    ],
  ])('rejects a kind with %s', (_, kind, message) => {
    expect(() => toCRD(kind())).toThrow(TypeError);
    expect(() => toCRD(kind())).toThrow(message);
  });

  test('rejects kinds of other origins and unknown options', () => {
    expect(() => toCRD(ConfigMap)).toThrow('toCRD accepts kinds created by defineKind; ConfigMap is not one');
    const kind = widget(z.object({}));
    expect(() => toCRD(kind, { onloss: () => undefined } as ToCRDOptions)).toThrow('toCRD has no option "onloss"');
    expect(() => toCRD(kind, { dialect: 'other' as 'orch' })).toThrow('there is no dialect "other"');
  });
});

const widget2 = (apiVersion: string): Kind =>
  defineKind({ apiVersion, kind: 'Widget', scope: 'Namespaced', body: { spec: z.object({}) } }) as Kind;

/** Patterns that linters or older compilers reject. */
const expressionOf = (source: string, flags = '') => new RegExp(source, flags);

describe('patterns', () => {
  const EXPRESSIONS = [
    /^a.b$/,
    /a.b/s,
    /^\s*\S+$/,
    /^[\s\S]*$/,
    /^[^\S ]$/,
    /^\w+[-.]\d{2,3}$/,
    /[[\]^]/,
    expressionOf('^[]$'),
    expressionOf('^[^]$'),
    /a{x}|{/,
    /^\u0061\x62$/,
    /^\u{1F600}+$/u,
    /^\p{L}+$/u,
    /^\p{Script=Greek}$/u,
    /^(?<name>ab)+$/,
    /^(?:a|b)*?$/,
    /^(?!ab)(?!.*c)[a-d]+$/,
    /^(?=.*\d)(?=.*[a-z]).{2,4}$/,
    /\bab\b/,
    /^\0$/,
    /^a\/b-c\.$/,
    /^(yes|NO)$/i,
    /^\t\n?$/,
    /^$/,
    /(a+)+$/,
  ] as const;
  const texts = fc.string({
    unit: fc.constantFrom(...'aAbcd01 \t\n\r-._/[]{}^x$é\u00a0\u2028\0σ', '😀'),
    maxLength: 5,
  });

  test.each(EXPRESSIONS.map((each) => [String(each), each] as const))(
    'converts %s with the same meaning',
    (_, expression) => {
      const patterns = patternsOf(expression);
      if (typeof patterns === 'string') throw new Error(patterns);
      const { all, none } = patterns;
      fc.assert(
        fc.property(texts, (text) => {
          // Without the flag, characters beyond the basic multilingual plane count as two.
          if (!expression.unicode && text.includes('😀')) return;
          const got = all.every((each) => re2Matches(each, text)) && !none.some((each) => re2Matches(each, text));
          expect([text, got]).toEqual([text, expression.test(text)]);
        }),
        { numRuns: 300 },
      );
    },
  );

  test.each([
    [/(a)\1/, 'back reference'],
    [/\k<a>(?<a>b)/, 'back reference'],
    [/a(?=b)/, 'lookahead'],
    [/(?<!a)b/, 'has lookahead or lookbehind'],
    [/^a$/m, 'line anchors'],
    [/a/y, 'sticky'],
    [/a{1001}/, 'invalid repeat count'],
    [/\p{Emoji}/u, 'invalid character class range'],
    [expressionOf('[a--b]', 'v'), 'v flag'],
    [/^(?=a)a|b$/, 'lookahead'],
  ])('reports that %s cannot be converted', (expression, why) => {
    expect(patternsOf(expression)).toContain(why);
  });
});
