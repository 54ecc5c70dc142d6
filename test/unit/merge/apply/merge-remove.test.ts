/**
 * Merging a configuration into an object, and removing fields: tables of schema, documents and result. The expected
 * results come from the library that the reference server uses.
 */
import { describe, expect, it } from 'vitest';
import { readFieldsV1 } from '../../../../src/merge/apply/managers.js';
import { merge } from '../../../../src/merge/apply/merge.js';
import { removeFields } from '../../../../src/merge/apply/remove-fields.js';
import type { SchemaNode } from '../../../../src/schema/schema-node.js';
import { deepFreeze } from '../../../../src/util/json.js';
import { any, atomicMap, keyed, list, map, number, orElse, set, string, struct } from './nodes.js';

const json = (text: string): unknown => deepFreeze(JSON.parse(text));

describe('merge', () => {
  const cases: readonly (readonly [name: string, schema: SchemaNode, live: string, applied: string, result: string])[] =
    [
      [
        'keeps omitted fields',
        struct({ a: string, b: map(string) }),
        '{"a":"x","b":{"y":"1"}}',
        '{"b":{"z":"2"}}',
        '{"a":"x","b":{"y":"1","z":"2"}}',
      ],
      [
        'sets scalars and atomic values to an applied null',
        struct({ a: string, b: list(string), c: atomicMap(string) }),
        '{"a":"x","b":["y"],"c":{"z":""}}',
        '{"a":null,"b":null,"c":null}',
        '{"a":null,"b":null,"c":null}',
      ],
      [
        'keeps maps and sets despite an applied null',
        struct({ a: map(string), b: set(string), c: any }),
        '{"a":{"x":"1"},"b":["y"],"c":{"z":1}}',
        '{"a":null,"b":null,"c":null}',
        '{"a":{"x":"1"},"b":["y"],"c":{"z":1}}',
      ],
      [
        'sets an untyped scalar or list to an applied null',
        struct({ a: any, b: any }),
        '{"a":1,"b":[1]}',
        '{"a":null,"b":null}',
        '{"a":null,"b":null}',
      ],
      [
        'takes empty values and nulls as applied',
        struct({ a: map(string), b: set(string), c: map(string) }),
        '{"a":{},"b":null,"c":null}',
        '{"a":null,"b":[],"c":{}}',
        '{"a":null,"b":[],"c":{}}',
      ],
      [
        'keeps members despite an applied empty value, except of atomic lists',
        struct({ a: map(string), b: set(string), c: list(string) }),
        '{"a":{"x":"1"},"b":["y"],"c":["z"]}',
        '{"a":{},"b":[],"c":[]}',
        '{"a":{"x":"1"},"b":["y"],"c":[]}',
      ],
      [
        'replaces an untyped map by a scalar and a list by a map',
        struct({ a: any, b: any }),
        '{"a":{"x":1},"b":[1]}',
        '{"a":1,"b":{"y":1}}',
        '{"a":1,"b":{"y":1}}',
      ],
      [
        'keeps other items near their old position',
        struct({ a: set(string) }),
        '{"a":["a","b","c","d"]}',
        '{"a":["d","b","x"]}',
        '{"a":["a","c","d","b","x"]}',
      ],
      [
        'uses the order of applied items',
        struct({ a: set(string) }),
        '{"a":["a","b","c"]}',
        '{"a":["c","a"]}',
        '{"a":["b","c","a"]}',
      ],
      [
        'inserts new items at their applied position',
        struct({ a: set(string) }),
        '{"a":["a","b","c"]}',
        '{"a":["x","b","y","c","z"]}',
        '{"a":["a","x","b","y","c","z"]}',
      ],
      [
        'appends new items to other items',
        struct({ a: set(string) }),
        '{"a":["a","b"]}',
        '{"a":["x","y"]}',
        '{"a":["a","b","x","y"]}',
      ],
      [
        'accepts a reversed order with new items',
        struct({ a: set(number) }),
        '{"a":[1,2,3,4,5]}',
        '{"a":[5,9,3,8,1]}',
        '{"a":[2,4,5,9,3,8,1]}',
      ],
      [
        'merges items with the same key',
        struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
        '{"a":[{"k":"1","b":"x","m":{"y":"1"}},{"k":"2"}]}',
        '{"a":[{"k":"1","m":{"z":"2"}}]}',
        '{"a":[{"b":"x","k":"1","m":{"y":"1","z":"2"}},{"k":"2"}]}',
      ],
      [
        'replaces duplicates by the applied item',
        struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
        '{"a":[{"k":"1","b":"x"},{"k":"2"},{"k":"1","m":{"y":"1"}}]}',
        '{"a":[{"k":"1"}]}',
        '{"a":[{"k":"1"},{"k":"2"}]}',
      ],
      [
        'keeps duplicates of other items',
        struct({ a: set(string) }),
        '{"a":["x","y","x","z","y"]}',
        '{"a":["z","y"]}',
        '{"a":["x","x","z","y"]}',
      ],
      [
        'replaces duplicates in reversed order',
        struct({ a: set(string) }),
        '{"a":["x","y","x","y"]}',
        '{"a":["y","x"]}',
        '{"a":["y","x"]}',
      ],
      [
        'finds an item by the default of its key',
        struct({ a: keyed(['k'], { k: orElse(string, 'x'), b: string }) }),
        '{"a":[{"b":"1"}]}',
        '{"a":[{"k":"x"}]}',
        '{"a":[{"b":"1","k":"x"}]}',
      ],
    ];

  it.each(cases)('%s when it merges', (_name, schema, live, applied, result) => {
    expect(merge(schema, json(live), json(applied))).toEqual(json(result));
  });

  it('returns the live object if nothing changes', () => {
    const live = json('{"a":{"b":"x"},"c":["y","z"]}');
    expect(merge(struct({ a: map(string), c: set(string) }), live, json('{"a":{"b":"x"},"c":["y","z"]}'))).toBe(live);
  });
});

describe('removeFields', () => {
  const cases: readonly (readonly [name: string, schema: SchemaNode, live: string, fields: string, result: string])[] =
    [
      ['a field', struct({ a: string, b: string }), '{"a":"x","b":"y"}', '{"f:a":{}}', '{"b":"y"}'],
      [
        'the last member of a map, which becomes null',
        struct({ a: map(string), b: string }),
        '{"a":{"x":"1"},"b":"y"}',
        '{"f:a":{"f:x":{}}}',
        '{"a":null,"b":"y"}',
      ],
      [
        'the last item of a list, which becomes null',
        struct({ a: set(string), b: string }),
        '{"a":["x"],"b":"y"}',
        '{"f:a":{"v:\\"x\\"":{}}}',
        '{"a":null,"b":"y"}',
      ],
      [
        'a missing member of an empty map or list, which becomes null',
        struct({ a: map(string), b: set(string) }),
        '{"a":{},"b":[]}',
        '{"f:a":{"f:x":{}},"f:b":{"v:\\"x\\"":{}}}',
        '{"a":null,"b":null}',
      ],
      [
        'a whole atomic value for a path below it',
        struct({ a: atomicMap(string), b: list(string), c: string }),
        '{"a":{"x":"1"},"b":["y"],"c":"z"}',
        '{"f:a":{"f:x":{}},"f:b":{"v:\\"y\\"":{}},"f:c":{"f:d":{}}}',
        '{"a":null,"b":null,"c":"z"}',
      ],
      [
        'an item with all its fields',
        struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
        '{"a":[{"k":"1","b":"x"},{"k":"2","b":"y"}]}',
        '{"f:a":{"k:{\\"k\\":\\"1\\"}":{}}}',
        '{"a":[{"b":"y","k":"2"}]}',
      ],
      [
        'fields of items',
        struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
        '{"a":[{"k":"1","b":"x"},{"k":"2","b":"y"}]}',
        '{"f:a":{"k:{\\"k\\":\\"1\\"}":{"f:b":{}},"k:{\\"k\\":\\"2\\"}":{"f:b":{},"f:k":{}}}}',
        '{"a":[{"k":"1"},null]}',
      ],
      [
        'every duplicate of an item',
        struct({ a: set(string) }),
        '{"a":["x","y","x"]}',
        '{"f:a":{"v:\\"x\\"":{}}}',
        '{"a":["y"]}',
      ],
      [
        'fields and items of an untyped value',
        struct({ a: any }),
        '{"a":{"x":{"y":1,"z":2},"w":[1]}}',
        '{"f:a":{"f:x":{"f:y":{}},"f:w":{"i:0":{}}}}',
        '{"a":{"w":null,"x":{"z":2}}}',
      ],
      [
        'nothing for a missing field',
        struct({ a: map(string) }),
        '{"a":{"x":"1"}}',
        '{"f:a":{"f:y":{}},"f:z":{}}',
        '{"a":{"x":"1"}}',
      ],
    ];

  it.each(cases)('removes %s', (_name, schema, live, fields, result) => {
    expect(removeFields(schema, json(live), readFieldsV1(json(fields)))).toEqual(json(result));
  });
});
