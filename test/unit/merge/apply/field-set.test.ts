/**
 * Field sets: parsing, set operations, operations with a schema, printing. The expected results come from the library
 * that the reference server uses; sets are compared as text, because the order matters.
 */
import { describe, expect, it } from 'vitest';
import {
  difference,
  type FieldSet,
  intersection,
  printPaths,
  recursiveDifference,
  sameSet,
  union,
} from '../../../../src/merge/apply/field-set.js';
import { FieldsError, readFieldsV1 } from '../../../../src/merge/apply/managers.js';
import { ensureNamedFieldsAreMembers, truncateAtAtomics } from '../../../../src/merge/apply/schema-sets.js';
import type { SchemaNode } from '../../../../src/schema/schema-node.js';
import { deepFreeze } from '../../../../src/util/json.js';
import { any, atomicAny, atomicMap, atomicStruct, keyed, list, map, open, scalar, string, struct } from './nodes.js';

const read = (text: string): FieldSet => deepFreeze(readFieldsV1(JSON.parse(text)));

describe('readFieldsV1', () => {
  const cases: readonly (readonly [name: string, text: string, set: string])[] = [
    [
      'siblings in canonical order',
      '{"i:10":{},"i:9":{},"v:true":{},"v:\\"a\\"":{},"v:10":{},"v:9":{},"v:null":{},"v:false":{},"k:{\\"a\\":2}":{},"k:{\\"a\\":10}":{},"k:{\\"a\\":\\"1\\"}":{},"f:b":{},"f:a":{"f:x":{},".":{}}}',
      '{"f:a":{".":{},"f:x":{}},"f:b":{},"k:{\\"a\\":2}":{},"k:{\\"a\\":10}":{},"k:{\\"a\\":\\"1\\"}":{},"v:9":{},"v:10":{},"v:\\"a\\"":{},"v:false":{},"v:true":{},"v:null":{},"i:9":{},"i:10":{}}',
    ],
    ['keys in the order of their names', '{"k:{\\"b\\":1,\\"a\\":2}":{}}', '{"k:{\\"a\\":2,\\"b\\":1}":{}}'],
    [
      'fewer keys first',
      '{"k:{\\"a\\":1,\\"b\\":1}":{},"k:{\\"a\\":1}":{},"k:{}":{}}',
      '{"k:{}":{},"k:{\\"a\\":1}":{},"k:{\\"a\\":1,\\"b\\":1}":{}}',
    ],
    ['numbers in one form', '{"v:1.0":{},"v:1e2":{},"k:{\\"a\\":2.0}":{}}', '{"k:{\\"a\\":2}":{},"v:1":{},"v:100":{}}'],
    ['path elements of an unknown type, which are dropped', '{"x:a":{"f:b":{}},"f:c":{"y:1":{}}}', '{"f:c":{}}'],
    ['the root, which is not a path element', '{".":{},"f:a":{}}', '{"f:a":{}}'],
    ['null as an empty map', '{"f:a":null}', '{"f:a":{}}'],
    [
      'a repeated path element',
      '{"k:{\\"a\\":1,\\"b\\":2}":{"f:x":{}},"k:{\\"b\\":2,\\"a\\":1}":{}}',
      '{"k:{\\"a\\":1,\\"b\\":2}":{".":{},"f:x":{}}}',
    ],
    [
      'a repeated path element with different members',
      '{"v:1":{".":{},"f:x":{}},"v:1.0":{"f:y":{}}}',
      '{"v:1":{".":{},"f:y":{}}}',
    ],
  ];

  it.each(cases)('reads %s', (_name, text, set) => {
    expect(JSON.stringify(read(text))).toBe(set);
  });
});

describe('readFieldsV1 errors', () => {
  const cases = [
    '{"":{}}',
    '{"f":{}}',
    '{"fa":{}}',
    '{"k:1":{}}',
    '{"k:[]":{}}',
    '{"v:":{}}',
    '{"v:x":{}}',
    '{"i:x":{}}',
    '{"i:1.0":{}}',
    '{"f:a":1}',
    '{"f:a":[]}',
    '{"f:a":{"f:b":"x"}}',
  ];

  it.each(cases)('rejects %s', (text) => {
    expect(() => read(text)).toThrow(FieldsError);
  });
});

describe('set operations', () => {
  const cases = [
    {
      name: 'a path and a path below it',
      left: '{"f:a":{}}',
      right: '{"f:a":{"f:b":{}}}',
      union: '{"f:a":{".":{},"f:b":{}}}',
      intersection: '{}',
      difference: '{"f:a":{}}',
      withBelow: '{"f:a":{}}',
      same: false,
    },
    {
      name: 'a path and a path above it',
      left: '{"f:a":{"f:b":{}}}',
      right: '{"f:a":{}}',
      union: '{"f:a":{".":{},"f:b":{}}}',
      intersection: '{}',
      difference: '{"f:a":{"f:b":{}}}',
      withBelow: '{}',
      same: false,
    },
    {
      name: 'members with other members below them',
      left: '{"f:a":{".":{},"f:b":{},"f:c":{}}}',
      right: '{"f:a":{".":{},"f:c":{},"f:d":{}}}',
      union: '{"f:a":{".":{},"f:b":{},"f:c":{},"f:d":{}}}',
      intersection: '{"f:a":{".":{},"f:c":{}}}',
      difference: '{"f:a":{"f:b":{}}}',
      withBelow: '{}',
      same: false,
    },
    {
      name: 'equal sets',
      left: '{"f:a":{".":{},"f:b":{}},"v:1":{}}',
      right: '{"f:a":{".":{},"f:b":{}},"v:1":{}}',
      union: '{"f:a":{".":{},"f:b":{}},"v:1":{}}',
      intersection: '{"f:a":{".":{},"f:b":{}},"v:1":{}}',
      difference: '{}',
      withBelow: '{}',
      same: true,
    },
    {
      name: 'an empty set with another set',
      left: '{}',
      right: '{"f:a":{}}',
      union: '{"f:a":{}}',
      intersection: '{}',
      difference: '{}',
      withBelow: '{}',
      same: false,
    },
    {
      name: 'a set with an empty set',
      left: '{"f:a":{}}',
      right: '{}',
      union: '{"f:a":{}}',
      intersection: '{}',
      difference: '{"f:a":{}}',
      withBelow: '{"f:a":{}}',
      same: false,
    },
    {
      name: 'items of all kinds',
      left: '{"f:l":{"k:{\\"k\\":1}":{".":{},"f:k":{}},"v:2":{},"v:10":{},"i:1":{}}}',
      right: '{"f:l":{"k:{\\"k\\":1}":{"f:k":{}},"v:2":{},"v:\\"2\\"":{},"i:1":{},"i:0":{}}}',
      union: '{"f:l":{"k:{\\"k\\":1}":{".":{},"f:k":{}},"v:2":{},"v:10":{},"v:\\"2\\"":{},"i:0":{},"i:1":{}}}',
      intersection: '{"f:l":{"k:{\\"k\\":1}":{"f:k":{}},"v:2":{},"i:1":{}}}',
      difference: '{"f:l":{"k:{\\"k\\":1}":{},"v:10":{}}}',
      withBelow: '{"f:l":{"k:{\\"k\\":1}":{},"v:10":{}}}',
      same: false,
    },
    {
      name: 'deeply nested paths',
      left: '{"f:a":{"f:b":{"f:c":{".":{},"f:d":{}},"f:e":{}}},"f:z":{}}',
      right: '{"f:a":{"f:b":{"f:c":{}}},"f:z":{"f:y":{}}}',
      union: '{"f:a":{"f:b":{"f:c":{".":{},"f:d":{}},"f:e":{}}},"f:z":{".":{},"f:y":{}}}',
      intersection: '{"f:a":{"f:b":{"f:c":{}}}}',
      difference: '{"f:a":{"f:b":{"f:c":{"f:d":{}},"f:e":{}}},"f:z":{}}',
      withBelow: '{"f:a":{"f:b":{"f:e":{}}},"f:z":{}}',
      same: false,
    },
    {
      name: 'disjoint sets',
      left: '{"f:b":{}}',
      right: '{"f:a":{},"f:c":{}}',
      union: '{"f:a":{},"f:b":{},"f:c":{}}',
      intersection: '{}',
      difference: '{"f:b":{}}',
      withBelow: '{"f:b":{}}',
      same: false,
    },
  ];

  it.each(cases.map((row) => [row.name, row] as const))('combines %s', (_name, { left, right, ...expected }) => {
    const [one, other] = [read(left), read(right)];
    const actual = {
      union: JSON.stringify(union(one, other)),
      intersection: JSON.stringify(intersection(one, other)),
      difference: JSON.stringify(difference(one, other)),
      withBelow: JSON.stringify(recursiveDifference(one, other)),
      same: sameSet(one, other),
    };
    expect({ name: expected.name, ...actual }).toEqual(expected);
  });

  it('returns an operand that needs no change', () => {
    const [one, other] = [read('{"f:a":{"f:b":{},"f:c":{}}}'), read('{"f:a":{"f:b":{}}}')];
    expect(union(one, other)).toBe(one);
    expect(difference(one, read('{"f:z":{}}'))).toBe(one);
    expect(recursiveDifference(one, read('{"f:a":{"f:z":{}}}'))).toBe(one);
    expect(intersection(one, one)).toBe(one);
  });
});

type Case = readonly [name: string, schema: SchemaNode, set: string, expected: string];

describe('ensureNamedFieldsAreMembers', () => {
  const cases: readonly Case[] = [
    [
      'fields named in the schema, but not keys and items',
      struct({
        a: struct({ b: string }),
        m: map(struct({ c: string })),
        l: keyed(['k'], { k: string, x: struct({ y: string }) }),
      }),
      '{"f:a":{"f:b":{}},"f:l":{"k:{\\"k\\":\\"1\\"}":{"f:x":{"f:y":{}}}},"f:m":{"f:z":{"f:c":{}}}}',
      '{"f:a":{".":{},"f:b":{}},"f:l":{".":{},"k:{\\"k\\":\\"1\\"}":{"f:x":{".":{},"f:y":{}}}},"f:m":{".":{},"f:z":{"f:c":{}}}}',
    ],
    [
      'no fields below a value without a schema',
      struct({ a: any }),
      '{"f:a":{"f:b":{"f:c":{}}}}',
      '{"f:a":{".":{},"f:b":{"f:c":{}}}}',
    ],
    ['no fields that the schema does not name', open({ a: string }), '{"f:b":{"f:c":{}}}', '{"f:b":{"f:c":{}}}'],
  ];

  it.each(cases)('adds %s', (_name, schema, set, expected) => {
    expect(JSON.stringify(ensureNamedFieldsAreMembers(schema, read(set)))).toBe(expected);
  });
});

describe('truncateAtAtomics', () => {
  const cases: readonly Case[] = [
    ['an atomic map', struct({ a: atomicMap(string) }), '{"f:a":{".":{},"f:x":{}}}', '{"f:a":{}}'],
    ['an atomic list', struct({ a: list(string) }), '{"f:a":{"v:1":{}}}', '{"f:a":{}}'],
    [
      'an atomic struct below a map key',
      struct({ a: map(atomicStruct({ b: string })) }),
      '{"f:a":{"f:x":{"f:b":{}},"f:y":{}}}',
      '{"f:a":{"f:x":{},"f:y":{}}}',
    ],
    [
      'an atomic map in an item',
      struct({ a: keyed(['k'], { k: string, b: atomicMap(string) }) }),
      '{"f:a":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:b":{"f:x":{}},"f:k":{}}}}',
      '{"f:a":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:b":{},"f:k":{}}}}',
    ],
    [
      'an untyped atomic value',
      struct({ a: atomicAny, b: any }),
      '{"f:a":{"f:x":{}},"f:b":{"f:x":{"f:y":{}}}}',
      '{"f:a":{},"f:b":{"f:x":{"f:y":{}}}}',
    ],
    [
      'no map of untyped values',
      struct({ a: atomicMap(scalar), b: atomicMap(any) }),
      '{"f:a":{"f:x":{"f:y":{}}},"f:b":{"f:x":{}}}',
      '{"f:a":{"f:x":{"f:y":{}}},"f:b":{"f:x":{}}}',
    ],
    [
      'no field without an atomic type',
      struct({ a: atomicMap(string), b: map(string) }),
      '{"f:a":{},"f:b":{"f:x":{}},"f:z":{"f:y":{}}}',
      '{"f:a":{},"f:b":{"f:x":{}},"f:z":{"f:y":{}}}',
    ],
  ];

  it.each(cases)('truncates at %s', (_name, schema, set, expected) => {
    expect(JSON.stringify(truncateAtAtomics(schema, read(set)))).toBe(expected);
  });
});

describe('printPaths', () => {
  const cases: readonly (readonly [set: string, paths: readonly string[]])[] = [
    ['{"f:a":{".":{},"f:b":{"f:c":{}}},"f:d":{}}', ['.a', '.d', '.a.b.c']],
    [
      '{"f:l":{"k:{\\"a\\":1,\\"b\\":\\"x\\"}":{".":{},"f:a":{}},"v:\\"y\\"":{},"i:3":{}}}',
      ['.l[a=1,b="x"]', '.l[="y"]', '.l[3]', '.l[a=1,b="x"].a'],
    ],
    [
      '{"f:l":{"k:{\\"a\\":1000000}":{},"k:{\\"a\\":999999}":{},"v:123456789012":{},"v:1e-07":{},"v:1.5":{},"v:true":{},"v:null":{}}}',
      ['.l[a=999999]', '.l[a=1e+06]', '.l[=1e-07]', '.l[=1.5]', '.l[=1.23456789012e+11]', '.l[=true]', '.l[=null]'],
    ],
    [
      '{"f:l":{"v:\\"\\\\u003c\\\\n\\\\\\"\\"":{},"v:\\"é\\"":{}},"f:a.b":{},"f:":{}}',
      ['.', '.a.b', '.l[="<\\n\\""]', '.l[="é"]'],
    ],
  ];

  it.each(cases)('prints the paths of %s', (set, paths) => {
    expect(printPaths(read(set), { left: Number.POSITIVE_INFINITY })).toEqual(paths);
  });
});
