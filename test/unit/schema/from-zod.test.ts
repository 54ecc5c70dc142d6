/** Conversion of zod schemas to structural schemas: supported types, hints and rejected schemas. */
import { defineKind } from 'orchplane';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { objectFromZod } from '../../../src/schema/from-zod.js';
import {
  bytes,
  hint,
  int32,
  int64,
  mapList,
  namedString,
  optional,
  pointer,
  struct,
  time,
} from '../../../src/schema/hints.js';
import type { SchemaNode } from '../../../src/schema/schema-node.js';

/** The node of one field. */
function nodeOf(schema: z.ZodType): SchemaNode {
  const node = objectFromZod(z.object({ field: schema })).fields.get('field')?.node;
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
    expect(() => objectFromZod(z.object({ spec: z.object({ when: schema }) }))).toThrow(
      new TypeError(`spec.when: zod type "${type}" is not supported in API objects`),
    );
  });

  test('rejects an unsupported type inside lists and maps', () => {
    expect(() => objectFromZod(z.object({ list: z.array(z.date()) }))).toThrow(/^list\[\*\]: zod type "date"/);
    expect(() => objectFromZod(z.object({ map: z.record(z.string(), z.date()) }))).toThrow(
      /^map\[\*\]: zod type "date"/,
    );
  });

  test('rejects an unsupported type inside wrappers', () => {
    expect(() => objectFromZod(z.object({ when: z.date().optional().nullable() }))).toThrow(/^when: zod type "date"/);
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

  test('rejects anything but an object at the top', () => {
    expect(() => objectFromZod(z.string())).toThrow(new TypeError('the schema must be a z.object'));
    expect(() => objectFromZod(z.array(z.string()), 'metadata')).toThrow('metadata must be a z.object');
  });

  test.each([
    ['a number coerced from a text', z.coerce.number()],
    ['a text that is trimmed', z.string().trim()],
    ['a text that is made lower case', z.string().toLowerCase()],
  ])('rejects a schema that changes values: %s', (_what, schema) => {
    expect(() => objectFromZod(z.object({ field: schema }))).toThrow(TypeError);
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
    ['bytes', bytes(), 'bytes', '[]uint8'],
    ['time', time(), 'time', 'v1.Time'],
    ['hinted int32', int32(), 'int32', 'int32'],
    ['hinted int64', int64(), 'int64', 'int64'],
  ])('converts the scalar %s', (_name, schema, scalar, goType) => {
    expect(nodeOf(schema)).toMatchObject({ type: 'scalar', scalar, goType });
  });

  test('accepts a Go type name for a scalar', () => {
    expect(nodeOf(namedString('v1.SecretType'))).toMatchObject({ scalar: 'string', goType: 'v1.SecretType' });
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
    expect(nodeOf(mapList(struct('Part', { name: z.string() }), 'name'))).toMatchObject({
      type: 'list',
      goType: '[]v1.Part',
      listType: 'map',
      mapKeys: ['name'],
      patchMergeKey: 'name',
      patchStrategy: 'merge',
    });
  });

  test('converts a union to a value that is kept as sent', () => {
    expect(nodeOf(z.unknown())).toMatchObject({ type: 'any', checked: false });
    expect(nodeOf(z.union([z.string(), z.number()]))).toMatchObject({ type: 'any', checked: true });
    expect(nodeOf(z.custom<string>())).toMatchObject({ type: 'any' });
  });

  test('sorts the fields of a document and keeps the declaration order of a struct', () => {
    const shape = { b: z.string(), a: z.string() };
    expect([...objectFromZod(z.object(shape)).fields.keys()]).toEqual(['a', 'b']);
    expect([...objectFromZod(struct('Thing', shape)).fields.keys()]).toEqual(['b', 'a']);
  });

  test('gives a nested object the representation of the enclosing object', () => {
    const inside = z.object({ b: z.string(), a: z.string() });
    const field = (schema: z.ZodObject) => objectFromZod(schema).fields.get('inside')?.node;
    expect(field(z.object({ inside }))).toMatchObject({ representation: 'document' });
    expect(field(struct('Thing', { inside }))).toMatchObject({ representation: 'struct' });
  });

  test('preserves unknown fields of a loose object', () => {
    expect(nodeOf(z.looseObject({}))).toMatchObject({ preserveUnknown: true });
    expect(nodeOf(z.object({}))).toMatchObject({ preserveUnknown: false });
    expect(nodeOf(hint(z.object({}), { preserveUnknown: true }))).toMatchObject({ preserveUnknown: true });
  });
});

describe('wrappers', () => {
  const presence = (schema: z.ZodType) => objectFromZod(z.object({ field: schema })).fields.get('field')?.presence;

  test('derives from wrappers when a field is on the wire', () => {
    expect(presence(z.string())).toBe('always');
    expect(presence(z.string().optional())).toBe('omitEmpty');
    expect(presence(optional(z.string()))).toBe('omitEmpty');
    expect(presence(pointer(z.string()))).toBe('pointer');
    expect(presence(z.object({}).optional())).toBe('pointer');
    expect(presence(hint(optional(z.string()), { presence: 'always' }))).toBe('always');
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
    expect(nodeOf(bytes().optional())).toMatchObject({ scalar: 'bytes' });
    expect(nodeOf(hint(namedString('v1.Inner').optional(), { goType: 'v1.Outer' }))).toMatchObject({
      goType: 'v1.Outer',
    });
  });
});

describe('the checked flag', () => {
  test('is false for a struct without rules', () => {
    const plain = objectFromZod(struct('Thing', { name: z.string(), parts: z.record(z.string(), z.string()) }));
    expect(plain.checked).toBe(false);
    expect(objectFromZod(struct('Thing', { name: z.string().min(1) })).checked).toBe(true);
    expect(objectFromZod(struct('Thing', { size: z.enum(['s']) })).checked).toBe(true);
    expect(objectFromZod(struct('Thing', { parts: z.array(z.string().min(1)) })).checked).toBe(true);
  });

  test('is always true for a document, whose schema also validates types and presence', () => {
    expect(objectFromZod(z.object({ name: z.string() })).checked).toBe(true);
  });
});
