/**
 * Histories of applies: the fields that are removed when an applier gives them up. The expected results come from the
 * library that the reference server uses.
 */
import { describe, expect, it } from 'vitest';
import { type Manager, managerKey, readFieldsV1 } from '../../../../src/merge/apply/managers.js';
import { applyIntent, IncompatibleVersionError, type Versions } from '../../../../src/merge/apply/ownership.js';
import { type History, replayHistory } from './history.js';
import { atomicMap, keyed, list, map, number, open, orElse, set, string, struct } from './nodes.js';

describe('pruning', () => {
  const histories: readonly History[] = [
    {
      name: 'keeps a value of two appliers until both give it up',
      schema: struct({ kind: string, d: map(string) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"d":{"x":"1","y":"1"}}',
          object: '{"d":{"x":"1","y":"1"}}',
          managers: { 'Apply a': '{"f:d":{"f:x":{},"f:y":{}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"d":{"y":"1"}}',
          object: '{"d":{"x":"1","y":"1"}}',
          managers: { 'Apply a': '{"f:d":{"f:x":{},"f:y":{}}}', 'Apply b': '{"f:d":{"f:y":{}}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"d":{"x":"1"}}',
          object: '{"d":{"x":"1","y":"1"}}',
          managers: { 'Apply a': '{"f:d":{"f:x":{}}}', 'Apply b': '{"f:d":{"f:y":{}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"d":{}}',
          object: '{"d":{"x":"1"}}',
          managers: { 'Apply a': '{"f:d":{"f:x":{}}}', 'Apply b': '{"f:d":{}}' },
        },
      ],
    },
    {
      name: 'removes an item that its only applier omits, with the fields that others added to it',
      schema: struct({ kind: string, l: keyed(['k'], { k: string, v: string, w: string }) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{"k":"1","v":"x"},{"k":"2"}]}',
          object: '{"l":[{"k":"1","v":"x"},{"k":"2"}]}',
          managers: {
            'Apply a':
              '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:v":{}},"k:{\\"k\\":\\"2\\"}":{".":{},"f:k":{}}}}',
          },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"l":[{"k":"1","v":"x","w":"y"},{"k":"2"}]}',
          object: '{"l":[{"k":"1","v":"x","w":"y"},{"k":"2"}]}',
          managers: {
            'Apply a':
              '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:v":{}},"k:{\\"k\\":\\"2\\"}":{".":{},"f:k":{}}}}',
            'Update e': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{"f:w":{}}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{"k":"2"}]}',
          object: '{"l":[{"k":"2"}]}',
          managers: { 'Apply a': '{"f:l":{"k:{\\"k\\":\\"2\\"}":{".":{},"f:k":{}}}}' },
        },
      ],
    },
    {
      name: `an item stays for another applier, without what was the first one's`,
      schema: struct({ kind: string, l: keyed(['k'], { k: string, v: string, w: string }) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{"k":"1","v":"x"}]}',
          object: '{"l":[{"k":"1","v":"x"}]}',
          managers: { 'Apply a': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:v":{}}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"l":[{"k":"1","w":"y"}]}',
          object: '{"l":[{"k":"1","v":"x","w":"y"}]}',
          managers: {
            'Apply a': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:v":{}}}}',
            'Apply b': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:w":{}}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[]}',
          object: '{"l":[{"k":"1","w":"y"}]}',
          managers: { 'Apply b': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:w":{}}}}' },
        },
      ],
    },
    {
      name: 'removes a struct with its last field and keeps a key that another manager owns',
      schema: struct({ kind: string, s: struct({ t: struct({ a: string, b: string }) }), m: map(map(string)) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"s":{"t":{"a":"x"}},"m":{"k":{"x":"1"}}}',
          object: '{"m":{"k":{"x":"1"}},"s":{"t":{"a":"x"}}}',
          managers: { 'Apply a': '{"f:m":{"f:k":{".":{},"f:x":{}}},"f:s":{"f:t":{"f:a":{}}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"m":{"k":{}}}',
          object: '{"m":{"k":{"x":"1"}},"s":{"t":{"a":"x"}}}',
          managers: {
            'Apply a': '{"f:m":{"f:k":{".":{},"f:x":{}}},"f:s":{"f:t":{"f:a":{}}}}',
            'Apply b': '{"f:m":{"f:k":{}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{}',
          object: '{"m":{"k":null}}',
          managers: { 'Apply b': '{"f:m":{"f:k":{}}}' },
        },
      ],
    },
    {
      name: 'keeps fields without an owner',
      schema: struct({ kind: string, s: struct({ a: string, b: string }) }),
      steps: [
        {
          verb: 'update',
          by: 'e',
          document: '{"s":{"a":"x","b":"y"}}',
          object: '{"s":{"a":"x","b":"y"}}',
          managers: { 'Update e': '{"f:s":{".":{},"f:a":{},"f:b":{}}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"s":{"a":"x"}}',
          object: '{"s":{"a":"x","b":"y"}}',
          managers: { 'Apply a': '{"f:s":{"f:a":{}}}', 'Update e': '{"f:s":{".":{},"f:a":{},"f:b":{}}}' },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"s":{"a":"z"}}',
          object: '{"s":{"a":"z"}}',
          managers: { 'Update e': '{"f:s":{".":{},"f:a":{}}}' },
        },
        {
          verb: 'force',
          by: 'a',
          document: '{"s":{"a":"x"}}',
          object: '{"s":{"a":"x"}}',
          managers: { 'Apply a': '{"f:s":{"f:a":{}}}', 'Update e': '{"f:s":{}}' },
        },
        { verb: 'apply', by: 'a', document: '{}', object: '{"s":null}', managers: { 'Update e': '{"f:s":{}}' } },
      ],
    },
    {
      name: 'sets a list to null when its item loses all fields, also if another manager owned the item',
      schema: struct({ kind: string, l: keyed(['k'], { k: orElse(number, 10), v: string }) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{"k":10,"v":"x"},{"k":2}]}',
          object: '{"l":[{"k":10,"v":"x"},{"k":2}]}',
          managers: {
            'Apply a': '{"f:l":{"k:{\\"k\\":2}":{".":{},"f:k":{}},"k:{\\"k\\":10}":{".":{},"f:k":{},"f:v":{}}}}',
          },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"l":[{}]}',
          object: '{"l":[{"k":10,"v":"x"},{"k":2}]}',
          managers: {
            'Apply a': '{"f:l":{"k:{\\"k\\":2}":{".":{},"f:k":{}},"k:{\\"k\\":10}":{".":{},"f:k":{},"f:v":{}}}}',
            'Apply b': '{"f:l":{"k:{\\"k\\":10}":{}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{}]}',
          object: '{"l":null}',
          managers: { 'Apply a': '{"f:l":{"k:{\\"k\\":10}":{}}}' },
        },
      ],
    },
    {
      name: 'removes an empty map that an applier owns and keeps an empty list',
      schema: struct({ kind: string, l: set(string), m: map(string) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[],"m":{}}',
          object: '{"l":[],"m":{}}',
          managers: { 'Apply a': '{"f:m":{}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"l":["x"],"m":{"y":"1"}}',
          object: '{"l":["x"],"m":{"y":"1"}}',
          managers: { 'Apply a': '{"f:m":{}}', 'Apply b': '{"f:l":{"v:\\"x\\"":{}},"f:m":{"f:y":{}}}' },
        },
        { verb: 'apply', by: 'b', document: '{}', object: '{"m":null}', managers: { 'Apply a': '{"f:m":{}}' } },
        { verb: 'apply', by: 'a', document: '{}', object: '{}', managers: {} },
      ],
    },
    {
      name: 'removes atomic fields as a whole',
      schema: struct({ kind: string, m: atomicMap(string), l: list(string) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"m":{"x":"1"},"l":["y"]}',
          object: '{"l":["y"],"m":{"x":"1"}}',
          managers: { 'Apply a': '{"f:l":{},"f:m":{}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"m":{"x":"1","z":"1"}}',
          error: 'Apply failed with 1 conflict: conflict with "a": .m',
        },
        {
          verb: 'force',
          by: 'b',
          document: '{"m":{"x":"1","z":"1"},"l":["y"]}',
          object: '{"l":["y"],"m":{"x":"1","z":"1"}}',
          managers: { 'Apply a': '{"f:l":{}}', 'Apply b': '{"f:l":{},"f:m":{}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{}',
          object: '{"l":["y"],"m":{"x":"1","z":"1"}}',
          managers: { 'Apply b': '{"f:l":{},"f:m":{}}' },
        },
        { verb: 'apply', by: 'b', document: '{}', object: '{}', managers: {} },
      ],
    },
    {
      name: 'removes fields that the schema does not name',
      schema: open({ kind: string, a: string }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"z":{"x":1},"y":[1]}',
          object: '{"y":[1],"z":{"x":1}}',
          managers: { 'Apply a': '{"f:y":{},"f:z":{".":{},"f:x":{}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"z":{"w":2}}',
          object: '{"y":[1],"z":{"w":2,"x":1}}',
          managers: { 'Apply a': '{"f:y":{},"f:z":{".":{},"f:x":{}}}', 'Apply b': '{"f:z":{".":{},"f:w":{}}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"a":""}',
          object: '{"a":"","z":{"w":2}}',
          managers: { 'Apply a': '{"f:a":{}}', 'Apply b': '{"f:z":{".":{},"f:w":{}}}' },
        },
      ],
    },
    {
      name: 'removes an item that is applied again when its fields are owned in another version',
      schema: struct({ kind: string, l: keyed(['k'], { k: orElse(string, 'x'), m: map(string) }) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          version: 'v2',
          document: '{"l":[{}]}',
          object: '{"l":[{}]}',
          managers: { 'Apply a': '{"f:l":{"k:{\\"k\\":\\"x\\"}":{}}}' },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"l":[{"m":{"y":"1"}}]}',
          object: '{"l":[{"m":{"y":"1"}}]}',
          managers: {
            'Apply a': '{"f:l":{"k:{\\"k\\":\\"x\\"}":{}}}',
            'Update e': '{"f:l":{"k:{\\"k\\":\\"x\\"}":{"f:m":{".":{},"f:y":{}}}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          version: 'v2',
          document: '{"l":[{}]}',
          object: '{"l":null}',
          managers: { 'Apply a': '{"f:l":{"k:{\\"k\\":\\"x\\"}":{}}}' },
        },
      ],
    },
    {
      name: 'handles a field set from before the map became atomic',
      schema: struct({ kind: string, m: map(atomicMap(string)) }),
      steps: [
        {
          verb: 'claim',
          by: 'a',
          document: '{"f:m":{"f:x":{"f:y":{}}}}',
          object: '{}',
          managers: { 'Apply a': '{"f:m":{"f:x":{"f:y":{}}}}' },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"m":{"x":{"y":"1"}}}',
          object: '{"m":{"x":{"y":"1"}}}',
          managers: { 'Update e': '{"f:m":{".":{},"f:x":{}}}' },
        },
        {
          verb: 'claim',
          by: 'a',
          document: '{"f:m":{"f:x":{"f:y":{}}}}',
          object: '{"m":{"x":{"y":"1"}}}',
          managers: { 'Apply a': '{"f:m":{"f:x":{"f:y":{}}}}', 'Update e': '{"f:m":{".":{},"f:x":{}}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"m":{}}',
          object: '{"m":{"x":{"y":"1"}}}',
          managers: { 'Apply a': '{"f:m":{}}', 'Update e': '{"f:m":{".":{},"f:x":{}}}' },
        },
      ],
    },
  ];

  it.each(histories.map((history) => [history.name, history] as const))('%s', (_name, history) =>
    replayHistory(history),
  );
});

describe('a failed conversion while pruning', () => {
  it.each([
    ['v1', 'a,b,c', ': failed to convert merged object to last applied version'],
    ['v2', 'a,b,c', ': failed add back owned items: failed to convert merged object at version v2'],
    ['v2', 'c', ': failed add back owned items: failed to convert pruned object at version v2'],
    ['v1', 'a,c', ': failed add back dangling items: failed to convert pruned object to last applied version'],
    ['v2', 'a,c', ''],
  ])('to %s of an object with the fields "%s" is reported with its step', (version, fields, step) => {
    const schema = struct({ a: string, b: string, c: string });
    const versions: Versions = {
      filter: (set) => set,
      convert(object, apiVersion) {
        const names = Object.keys(object.value ?? {}).sort();
        if (object.apiVersion !== apiVersion && apiVersion === version && String(names) === fields) {
          throw new IncompatibleVersionError('a field is missing');
        }
        return { ...object, apiVersion };
      },
    };
    const by = { manager: 'm', operation: 'Apply', subresource: '' } as const;
    const last: Manager = { ...by, apiVersion: 'v1', fields: readFieldsV1({ 'f:a': {}, 'f:b': {} }) };
    const apply = () =>
      applyIntent(
        {
          live: { apiVersion: 'v2', schema, value: { a: '1', b: '1' } },
          intent: { a: '1', c: '1' },
          managers: new Map([[managerKey(last), last]]),
          by: { ...by, apiVersion: 'v2' },
          force: false,
          now: '2026-01-01T00:00:00Z',
        },
        versions,
      );
    expect(apply).toThrow(new IncompatibleVersionError(`failed to prune fields${step}: a field is missing`));
  });
});
