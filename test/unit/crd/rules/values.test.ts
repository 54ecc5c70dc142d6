/** JSON values as CEL values, converted by the schema. */
import { describe, expect, test } from 'vitest';
import { CelDuration, CelList, CelMap, CelTimestamp, type CelValue } from '../../../../src/cel/values.js';
import { celReaderOf } from '../../../../src/crd/rules/read-values.js';
import { structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import type { JSONSchemaProps } from '../../../../src/schema/json-schema.js';

const read = (schema: JSONSchemaProps, value: unknown, isRoot = false): CelValue =>
  celReaderOf(structuralSchemaOf(schema, orchDialect), isRoot)(value);

const object = (properties: Record<string, JSONSchemaProps>): JSONSchemaProps => ({ type: 'object', properties });
const list = (items: JSONSchemaProps, listType?: string): JSONSchemaProps => ({
  type: 'array',
  items,
  ...(listType === undefined ? {} : { 'x-orch-list-type': listType }),
});

function asMap(value: CelValue): CelMap {
  expect(value).toBeInstanceOf(CelMap);
  return value as CelMap;
}

function asList(value: CelValue): CelList {
  expect(value).toBeInstanceOf(CelList);
  return value as CelList;
}

describe('scalars', () => {
  test('converts whole numbers to ints or doubles by the schema', () => {
    expect(read({ type: 'integer' }, 3)).toBe(3n);
    expect(read({ type: 'integer' }, 9_007_199_254_740_993n)).toBe(9_007_199_254_740_993n);
    expect(read({ type: 'number' }, 3)).toBe(3);
    expect(read({ 'x-orch-int-or-string': true }, 3)).toBe(3n);
    expect(read({ 'x-orch-int-or-string': true }, '3%')).toBe('3%');
  });

  test('converts formats to timestamps, durations and bytes', () => {
    expect(read({ type: 'string', format: 'date-time' }, '1970-01-01T02:00:01.5+02:00')).toEqual(
      new CelTimestamp(1_500_000_000n, 7200),
    );
    expect(read({ type: 'string', format: 'date' }, '1970-01-02')).toEqual(new CelTimestamp(86_400_000_000_000n));
    expect(read({ type: 'string', format: 'duration' }, '2 hours')).toEqual(new CelDuration(7_200_000_000_000n));
    expect(read({ type: 'string', format: 'byte' }, 'YWJj')).toMatchObject({ bytes: Uint8Array.of(97, 98, 99) });
    expect(read({ type: 'string', format: 'uuid' }, 'x')).toBe('x');
  });

  test.each<[JSONSchemaProps, unknown, string]>([
    [{ type: 'string' }, null, 'invalid data, got null for schema with nullable=false'],
    [{ type: 'integer' }, 'x', 'invalid data, expected int, got string'],
    [{ type: 'string' }, [], 'invalid data, expected string, got []interface {}'],
    [{ type: 'boolean' }, 1, 'invalid data, expected bool, got int64'],
    [{ type: 'object' }, 1, 'invalid data, expected a map for the provided schema with type=object'],
  ])('rejects for the schema %j the value %j', (schema, value, message) => {
    expect(() => read(schema, value)).toThrow(message);
  });

  test('accepts null only where it is nullable', () => {
    expect(read({ type: 'string', nullable: true }, null)).toBeNull();
  });
});

describe('objects', () => {
  const schema = object({ 'a-b': { type: 'integer' }, n: { type: 'string', nullable: true } });

  test('escapes field names and omits null and unknown fields', () => {
    const seen = asMap(read(schema, { 'a-b': 1, n: null, other: 2 }));
    expect(seen.get('a__dash__b')).toBe(1n);
    expect(seen.get('n')).toBeUndefined();
    expect(seen.get('other')).toBeUndefined();
    expect(seen.get('constructor')).toBeUndefined();
    expect(seen.size).toBe(3);
  });

  test('treats a property named __proto__ as data', () => {
    const properties = JSON.parse('{"__proto__": {"type": "integer"}}') as Record<string, JSONSchemaProps>;
    const seen = asMap(read(object(properties), JSON.parse('{"__proto__": 5}')));
    expect(seen.get('__underscores__proto__underscores__')).toBe(5n);
    expect(asMap(read(object(properties), {})).get('__underscores__proto__underscores__')).toBeUndefined();
  });

  test('exposes only the names in the metadata of a whole resource', () => {
    const seen = asMap(read(object({}), { kind: 'K', metadata: { name: 'n', labels: { a: 'b' } } }, true));
    expect(seen.get('kind')).toBe('K');
    const metadata = asMap(seen.get('metadata') ?? null);
    expect(metadata.get('name')).toBe('n');
    expect(metadata.get('labels')).toBeUndefined();
  });

  test('keeps the keys of maps unescaped', () => {
    const seen = asMap(read({ type: 'object', additionalProperties: { type: 'integer' } }, { 'a-b': 1 }));
    expect([...seen.keys()]).toEqual(['a-b']);
    expect(seen.get('a-b')).toBe(1n);
    expect(seen.get('toString')).toBeUndefined();
  });
});

describe('lists', () => {
  const values = (seen: CelValue) => Array.from({ length: asList(seen).size }, (_, index) => asList(seen).at(index));

  test('compares sets in any order and adds values once', () => {
    const left = asList(read(list({ type: 'string' }, 'set'), ['a', 'b']));
    const right = asList(read(list({ type: 'string' }, 'set'), ['b', 'a']));
    expect(left.equals?.(right)).toBe(true);
    expect(values(left.concat?.(right) ?? null)).toEqual(['a', 'b']);
  });

  test('replaces items of map lists with the same key on concatenation', () => {
    const schema: JSONSchemaProps = {
      ...list(object({ k: { type: 'string' }, v: { type: 'integer' } }), 'map'),
      'x-orch-list-map-keys': ['k'],
    };
    const left = asList(
      read(schema, [
        { k: 'x', v: 1 },
        { k: 'y', v: 2 },
      ]),
    );
    const right = asList(
      read(schema, [
        { k: 'y', v: 3 },
        { k: 'z', v: 4 },
      ]),
    );
    const both = left.concat?.(right) ?? null;
    expect(values(both).map((item) => asMap(item).get('v'))).toEqual([1n, 3n, 4n]);
    const turned = asList(
      read(schema, [
        { k: 'y', v: 2 },
        { k: 'x', v: 1 },
      ]),
    );
    expect(left.equals?.(turned)).toBe(true);
    expect(left.equals?.(right)).toBe(false);
  });

  test('compares atomic lists in order', () => {
    const [left, right] = [
      ['a', 'b'],
      ['b', 'a'],
    ].map((value) => asList(read(list({ type: 'string' }), value)));
    expect(left?.equals?.(right ?? null)).toBe(false);
    expect(left?.equals?.(left)).toBe(true);
  });
});
