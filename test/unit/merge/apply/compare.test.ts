/**
 * Comparison of two objects: tables of schema, objects and the three field sets. The expected results come from the
 * library that the reference server uses.
 */
import { describe, expect, it, vi } from 'vitest';
import { compare, NO_CHANGE } from '../../../../src/merge/apply/compare.js';
import { deepFreeze } from '../../../../src/util/json.js';
import { any, atomicAny, atomicMap, keyed, list, map, open, orElse, set, string, struct } from './nodes.js';

const json = (text: string): unknown => deepFreeze(JSON.parse(text));

describe('compare', () => {
  const cases = [
    {
      name: 'equal objects',
      schema: struct({ a: string }),
      before: '{"a":"x"}',
      after: '{"a":"x"}',
      added: '{}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'another value',
      schema: struct({ a: string }),
      before: '{"a":"x"}',
      after: '{"a":"y"}',
      added: '{}',
      modified: '{"f:a":{}}',
      removed: '{}',
    },
    {
      name: 'a new struct, which is added itself',
      schema: struct({ a: struct({ b: struct({ c: string }) }) }),
      before: '{}',
      after: '{"a":{"b":{"c":"x"}}}',
      added: '{"f:a":{".":{},"f:b":{".":{},"f:c":{}}}}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'a removed struct',
      schema: struct({ a: struct({ b: string }) }),
      before: '{"a":{"b":"x"}}',
      after: '{}',
      added: '{}',
      modified: '{}',
      removed: '{"f:a":{".":{},"f:b":{}}}',
    },
    {
      name: 'members that are added, changed and removed',
      schema: struct({ a: map(string) }),
      before: '{"a":{"x":"1","y":"1"}}',
      after: '{"a":{"y":"2","z":"1"}}',
      added: '{"f:a":{"f:z":{}}}',
      modified: '{"f:a":{"f:y":{}}}',
      removed: '{"f:a":{"f:x":{}}}',
    },
    {
      name: 'an empty value and null',
      schema: struct({ a: map(string), b: set(string), c: struct({}) }),
      before: '{"a":{},"b":[],"c":null}',
      after: '{"a":null,"b":null,"c":{}}',
      added: '{}',
      modified: '{"f:a":{},"f:b":{},"f:c":{}}',
      removed: '{}',
    },
    {
      name: 'an empty value that gets members',
      schema: struct({ a: map(string), b: set(string) }),
      before: '{"a":{},"b":null}',
      after: '{"a":{"x":"1"},"b":["y"]}',
      added: '{"f:a":{"f:x":{}},"f:b":{"v:\\"y\\"":{}}}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'a value that becomes null',
      schema: struct({ a: map(string), b: set(string) }),
      before: '{"a":{"x":"1"},"b":["y"]}',
      after: '{"a":null,"b":null}',
      added: '{}',
      modified: '{}',
      removed: '{"f:a":{"f:x":{}},"f:b":{"v:\\"y\\"":{}}}',
    },
    {
      name: 'a null that appears',
      schema: struct({ a: string, b: map(string) }),
      before: '{}',
      after: '{"a":null,"b":null}',
      added: '{"f:a":{},"f:b":{}}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'atomic values',
      schema: struct({ a: list(string), b: atomicMap(string) }),
      before: '{"a":["x"],"b":{"y":"1"}}',
      after: '{"a":["x","y"],"b":{}}',
      added: '{}',
      modified: '{"f:a":{},"f:b":{}}',
      removed: '{}',
    },
    {
      name: 'items in another order',
      schema: struct({ a: set(string), b: keyed(['k'], { k: string }) }),
      before: '{"a":["x","y"],"b":[{"k":"1"},{"k":"2"}]}',
      after: '{"a":["y","x"],"b":[{"k":"2"},{"k":"1"}]}',
      added: '{}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'items that are added, changed and removed',
      schema: struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
      before: '{"a":[{"k":"1","b":"x"},{"k":"2"}]}',
      after: '{"a":[{"k":"3"},{"k":"1","b":"y","m":{"z":""}}]}',
      added: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{"f:m":{".":{},"f:z":{}}},"k:{\\"k\\":\\"3\\"}":{".":{},"f:k":{}}}}',
      modified: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{"f:b":{}}}}',
      removed: '{"f:a":{"k:{\\"k\\":\\"2\\"}":{".":{},"f:k":{}}}}',
    },
    {
      name: 'items whose key has a default',
      schema: struct({ a: keyed(['k'], { k: orElse(string, 'x'), b: string }) }),
      before: '{"a":[{"b":"1"}]}',
      after: '{"a":[{"k":"x","b":"1"}]}',
      added: '{"f:a":{"k:{\\"k\\":\\"x\\"}":{"f:k":{}}}}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'duplicates that appear',
      schema: struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
      before: '{"a":[{"k":"1","b":"x"}]}',
      after: '{"a":[{"k":"1","b":"x"},{"k":"1"}]}',
      added: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{}}}',
      modified: '{}',
      removed: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:b":{},"f:k":{}}}}',
    },
    {
      name: 'duplicates that disappear',
      schema: struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
      before: '{"a":[{"k":"1","b":"x"},{"k":"1"}]}',
      after: '{"a":[{"k":"1","b":"x"}]}',
      added: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:b":{},"f:k":{}}}}',
      modified: '{}',
      removed: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{}}}',
    },
    {
      name: 'duplicates that are added and removed completely',
      schema: struct({ a: set(string), b: set(string) }),
      before: '{"a":["x","x","z"],"b":["z"]}',
      after: '{"a":["z"],"b":["x","x","z"]}',
      added: '{"f:b":{"v:\\"x\\"":{}}}',
      modified: '{}',
      removed: '{"f:a":{"v:\\"x\\"":{}}}',
    },
    {
      name: 'duplicates that change',
      schema: struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
      before: '{"a":[{"k":"1","b":"x"},{"k":"1"}]}',
      after: '{"a":[{"k":"1"},{"k":"1","b":"x"}]}',
      added: '{}',
      modified: '{"f:a":{"k:{\\"k\\":\\"1\\"}":{}}}',
      removed: '{}',
    },
    {
      name: 'duplicates that stay',
      schema: struct({ a: keyed(['k'], { k: string, b: string, m: map(string) }) }),
      before: '{"a":[{"k":"1","b":"x"},{"k":"1"},{"k":"2"}]}',
      after: '{"a":[{"k":"2"},{"k":"1","b":"x"},{"k":"1"}]}',
      added: '{}',
      modified: '{}',
      removed: '{}',
    },
    {
      name: 'untyped maps with changed members',
      schema: struct({ a: any }),
      before: '{"a":{"x":{"y":1},"z":[1]}}',
      after: '{"a":{"x":{"w":{}},"z":[2]}}',
      added: '{"f:a":{"f:x":{"f:w":{}}}}',
      modified: '{"f:a":{"f:z":{}}}',
      removed: '{"f:a":{"f:x":{"f:y":{}}}}',
    },
    {
      name: 'an untyped map that becomes a scalar',
      schema: struct({ a: any }),
      before: '{"a":{"x":{"y":1}}}',
      after: '{"a":1}',
      added: '{}',
      modified: '{"f:a":{}}',
      removed: '{"f:a":{"f:x":{".":{},"f:y":{}}}}',
    },
    {
      name: 'an untyped list that becomes a map',
      schema: struct({ a: any }),
      before: '{"a":[1]}',
      after: '{"a":{"x":{"y":1}}}',
      added: '{"f:a":{"f:x":{".":{},"f:y":{}}}}',
      modified: '{"f:a":{}}',
      removed: '{}',
    },
    {
      name: 'an untyped empty map that becomes a list',
      schema: struct({ a: any }),
      before: '{"a":{}}',
      after: '{"a":[]}',
      added: '{}',
      modified: '{"f:a":{}}',
      removed: '{}',
    },
    {
      name: 'an untyped map that becomes null',
      schema: struct({ a: any }),
      before: '{"a":{"x":1}}',
      after: '{"a":null}',
      added: '{}',
      modified: '{}',
      removed: '{"f:a":{"f:x":{}}}',
    },
    {
      name: 'an untyped null that becomes a scalar',
      schema: struct({ a: any }),
      before: '{"a":null}',
      after: '{"a":"x"}',
      added: '{}',
      modified: '{"f:a":{}}',
      removed: '{}',
    },
    {
      name: 'an untyped empty map that becomes null',
      schema: struct({ a: any }),
      before: '{"a":{}}',
      after: '{"a":null}',
      added: '{}',
      modified: '{"f:a":{}}',
      removed: '{}',
    },
    {
      name: 'an untyped atomic value',
      schema: struct({ a: atomicAny }),
      before: '{"a":{"x":1}}',
      after: '{"a":{"x":1,"y":2}}',
      added: '{}',
      modified: '{"f:a":{}}',
      removed: '{}',
    },
    {
      name: 'fields that the schema does not name',
      schema: open({ a: string }),
      before: '{"z":{"x":1}}',
      after: '{"z":{"y":1},"a":""}',
      added: '{"f:a":{},"f:z":{"f:y":{}}}',
      modified: '{}',
      removed: '{"f:z":{"f:x":{}}}',
    },
  ];

  it.each(cases.map((row) => [row.name, row] as const))(
    'compares %s',
    (_name, { schema, before, after, ...expected }) => {
      const { added, modified, removed } = compare(schema, json(before), json(after));
      const actual = {
        added: JSON.stringify(added),
        modified: JSON.stringify(modified),
        removed: JSON.stringify(removed),
      };
      expect({ name: expected.name, ...actual }).toEqual(expected);
    },
  );

  it('returns at once if nothing has changed', () => {
    const state = json('{"a":{"b":"x"}}');
    expect(compare(struct({ a: struct({ b: string }) }), state, state)).toBe(NO_CHANGE);
  });
});

it('does not index lists that are equal', () => {
  const items = Array.from({ length: 1000 }, (_, index) => `item-${index}`);
  const schema = struct({ items: set(string) });
  // The first comparison prepares the schema.
  compare(schema, { items: ['a'] }, { items: ['b'] });
  const writes = vi.spyOn(Map.prototype, 'set');
  try {
    expect(compare(schema, { items }, { items: [...items] })).toBe(NO_CHANGE);
    expect(writes.mock.calls.length).toBeLessThan(10);
  } finally {
    writes.mockRestore();
  }
});
