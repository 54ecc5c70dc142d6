/** Conversion of zod schemas to structural schemas: supported types, hints and rejected schemas. */
import { defineKind } from 'orchplane';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import * as v3 from 'zod/v3';
import { objectFromZod } from '../../../src/schema/from-zod.js';
import { hint, mapList } from '../../../src/schema/hints.js';
import type { SchemaNode } from '../../../src/schema/schema-node.js';

/** The node of one field. */
function nodeOf(schema: z.ZodType): SchemaNode {
  const node = objectFromZod({ field: schema }, 'Widget').fields.get('field')?.node;
  if (node === undefined) throw new Error('no node');
  return node;
}

describe('an unsupported type', () => {
  test.each([
    ['date', z.date()],
    ['bigint', z.bigint()],
    ['bigint', z.int64()],
    ['map', z.map(z.string(), z.string())],
    ['set', z.set(z.string())],
    ['symbol', z.symbol()],
    ['undefined', z.undefined()],
    ['void', z.void()],
    ['never', z.never()],
    ['nan', z.nan()],
    ['null', z.null()],
    ['tuple', z.tuple([z.string()])],
    ['promise', z.promise(z.string())],
    ['lazy', z.lazy(() => z.string())],
    ['pipe', z.string().transform((text) => text.length)],
    ['pipe', z.preprocess(String, z.string())],
    ['catch', z.string().catch('x')],
  ])('rejects the type %s with an error that names the field', (type, schema) => {
    expect(() => objectFromZod({ spec: z.object({ when: schema }) }, 'Widget')).toThrow(
      new TypeError(`spec.when: zod type "${type}" is not supported in API objects`),
    );
  });

  test('rejects an unsupported type inside lists and maps', () => {
    expect(() => objectFromZod({ list: z.array(z.date()) }, 'Widget')).toThrow(/^list\[\*\]: zod type "date"/);
    expect(() => objectFromZod({ map: z.record(z.string(), z.date()) }, 'Widget')).toThrow(
      /^map\[\*\]: zod type "date"/,
    );
  });

  test('rejects an unsupported type inside wrappers', () => {
    expect(() => objectFromZod({ when: z.date().optional().nullable() }, 'Widget')).toThrow(/^when: zod type "date"/);
  });

  test.each([
    ['null', null],
    ['a plain object', {}],
    ['a schema of zod 3', v3.string()],
  ])('rejects %s as a schema', (_name, schema) => {
    expect(() => objectFromZod({ spec: schema as unknown as z.ZodType }, 'Widget')).toThrow(
      new TypeError('spec is not a schema of zod 4'),
    );
  });

  test('rejects schemas of zod/mini, at any depth', () => {
    expect(() => objectFromZod({ name: mini.string() }, 'Widget')).toThrow(
      'name: schemas of zod/mini are not supported',
    );
    const nested = { spec: z.object({ name: mini.string() }) };
    expect(() => objectFromZod(nested, 'Widget')).toThrow('spec.name: schemas of zod/mini are not supported');
  });

  test('rejects an unsupported type when the kind is defined, not when it is used', () => {
    expect(() =>
      defineKind({
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        scope: 'Namespaced',
        body: { spec: z.object({ since: z.date() }) },
      }),
    ).toThrow('spec.since: zod type "date" is not supported in API objects');
  });

  test.each([
    ['a number coerced from a text', z.coerce.number()],
    ['a text that is trimmed', z.string().trim()],
    ['a text that is made lower case', z.string().toLowerCase()],
  ])('rejects a schema that changes values: %s', (_what, schema) => {
    expect(() => objectFromZod({ field: schema }, 'Widget')).toThrow(TypeError);
  });
});

describe('scalars', () => {
  test.each([
    ['string', z.string(), 'string', 'string'],
    ['string', z.email(), 'string', 'string'],
    ['string', z.templateLiteral(['a-', z.number()]), 'string', 'string'],
    ['boolean', z.boolean(), 'boolean', 'bool'],
    ['number', z.number(), 'number', 'float64'],
    ['int', z.int(), 'int64', 'int64'],
    ['int32', z.int32(), 'int32', 'int32'],
    ['enum', z.enum(['a', 'b']), 'string', 'string'],
    ['literal', z.literal('a'), 'string', 'string'],
  ])('converts the scalar %s', (_name, schema, scalar, goType) => {
    expect(nodeOf(schema)).toMatchObject({ type: 'scalar', scalar, goType });
  });
});

describe('containers', () => {
  test('converts a record to a map', () => {
    expect(nodeOf(z.record(z.string(), z.number()))).toMatchObject({
      type: 'map',
      goType: 'map[string]float64',
      values: { type: 'scalar', scalar: 'number' },
    });
  });

  test('converts an array to an atomic list by default', () => {
    expect(nodeOf(z.array(z.string()))).toMatchObject({
      type: 'list',
      goType: '[]string',
      listType: 'atomic',
      mapKeys: [],
    });
    expect(nodeOf(mapList(z.object({ name: z.string() }), 'name'))).toMatchObject({
      type: 'list',
      listType: 'map',
      mapKeys: ['name'],
      patchMergeKey: 'name',
      patchStrategy: 'merge',
    });
  });

  test('converts a union to a value that is kept as sent', () => {
    expect(nodeOf(z.unknown())).toMatchObject({ type: 'any' });
    expect(nodeOf(z.union([z.string(), z.number()]))).toMatchObject({ type: 'any' });
    expect(nodeOf(z.custom<string>())).toMatchObject({ type: 'any' });
  });

  test('sorts the fields of a document', () => {
    expect([...objectFromZod({ b: z.string(), a: z.string() }, 'Widget').fields.keys()]).toEqual(['a', 'b']);
  });

  test('makes nested objects documents', () => {
    expect(nodeOf(z.object({ a: z.string() }))).toMatchObject({ representation: 'document' });
  });

  test('preserves unknown fields of a loose object', () => {
    expect(nodeOf(z.looseObject({}))).toMatchObject({ preserveUnknown: true });
    expect(nodeOf(z.object({}))).toMatchObject({ preserveUnknown: false });
  });
});

describe('wrappers', () => {
  const presence = (schema: z.ZodType) => objectFromZod({ field: schema }, 'Widget').fields.get('field')?.presence;

  test('derives from wrappers when a field is on the wire', () => {
    expect(presence(z.string())).toBe('always');
    expect(presence(z.string().optional())).toBe('omitEmpty');
    expect(presence(z.object({}).optional())).toBe('pointer');
  });

  test('takes frozen defaults from wrappers', () => {
    const node = nodeOf(z.object({ sizes: z.array(z.string()) }).default({ sizes: ['m'] }));
    expect(node.default).toEqual({ sizes: ['m'] });
    expect(Object.isFrozen((node.default as { sizes: string[] }).sizes)).toBe(true);
  });

  test('derives from wrappers whether null is allowed', () => {
    expect(nodeOf(z.string().nullable())).toMatchObject({ nullable: true });
    expect(nodeOf(z.string()).nullable).toBeUndefined();
  });

  test('keeps the hints of inner schemas, and outer hints take precedence', () => {
    const inner = mapList(z.object({ name: z.string() }), 'name');
    expect(nodeOf(inner.optional())).toMatchObject({ listType: 'map' });
    expect(nodeOf(hint(inner.optional(), { listType: 'atomic' }))).toMatchObject({ listType: 'atomic' });
  });
});
