/**
 * Histories of writes: the managers after each write, and conflicts. The expected results come from the library that
 * the reference server uses.
 */
import { describe, it } from 'vitest';
import { type History, replayHistory } from './history.js';
import { any, keyed, map, number, set, string, struct } from './nodes.js';

describe('ownership', () => {
  const histories: readonly History[] = [
    {
      name: 'gives changed fields to the updater and requires force to apply over them',
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
          verb: 'update',
          by: 'e',
          document: '{"d":{"x":"2","y":"1"}}',
          object: '{"d":{"x":"2","y":"1"}}',
          managers: { 'Apply a': '{"f:d":{"f:y":{}}}', 'Update e': '{"f:d":{"f:x":{}}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"d":{"x":"1","y":"1"}}',
          error: 'Apply failed with 1 conflict: conflict with "e" using v1: .d.x',
        },
        {
          verb: 'force',
          by: 'a',
          document: '{"d":{"x":"1","y":"1"}}',
          object: '{"d":{"x":"1","y":"1"}}',
          managers: { 'Apply a': '{"f:d":{"f:x":{},"f:y":{}}}' },
        },
      ],
    },
    {
      name: 'gives added fields and their parents to the updater and takes removed fields from it',
      schema: struct({ kind: string, s: struct({ d: map(string) }) }),
      steps: [
        {
          verb: 'update',
          by: 'e',
          document: '{"s":{"d":{"x":"1"}}}',
          object: '{"s":{"d":{"x":"1"}}}',
          managers: { 'Update e': '{"f:s":{".":{},"f:d":{".":{},"f:x":{}}}}' },
        },
        {
          verb: 'update',
          by: 'f',
          document: '{"s":{"d":{"x":"1","y":"2"}}}',
          object: '{"s":{"d":{"x":"1","y":"2"}}}',
          managers: {
            'Update e': '{"f:s":{".":{},"f:d":{".":{},"f:x":{}}}}',
            'Update f': '{"f:s":{"f:d":{"f:y":{}}}}',
          },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"s":{"d":{"y":"2"}}}',
          object: '{"s":{"d":{"y":"2"}}}',
          managers: { 'Update e': '{"f:s":{".":{},"f:d":{}}}', 'Update f': '{"f:s":{"f:d":{"f:y":{}}}}' },
        },
        { verb: 'update', by: 'e', document: '{}', object: '{}', managers: {} },
      ],
    },
    {
      name: 'reports conflicts with several managers about several fields',
      schema: struct({ kind: string, n: number, d: map(string), l: keyed(['k'], { k: number, v: string }) }),
      steps: [
        {
          verb: 'apply',
          by: 'b',
          document: '{"n":1,"d":{"x":"1"},"l":[{"k":1,"v":"x"}]}',
          object: '{"d":{"x":"1"},"l":[{"k":1,"v":"x"}],"n":1}',
          managers: { 'Apply b': '{"f:d":{"f:x":{}},"f:l":{"k:{\\"k\\":1}":{".":{},"f:k":{},"f:v":{}}},"f:n":{}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"n":1}',
          object: '{"d":{"x":"1"},"l":[{"k":1,"v":"x"}],"n":1}',
          managers: {
            'Apply a': '{"f:n":{}}',
            'Apply b': '{"f:d":{"f:x":{}},"f:l":{"k:{\\"k\\":1}":{".":{},"f:k":{},"f:v":{}}},"f:n":{}}',
          },
        },
        {
          verb: 'update',
          by: 'c',
          document: '{"n":1,"d":{"x":"1","z":"1"},"l":[{"k":1,"v":"x"},{"k":1000000,"v":"x"}]}',
          object: '{"d":{"x":"1","z":"1"},"l":[{"k":1,"v":"x"},{"k":1000000,"v":"x"}],"n":1}',
          managers: {
            'Apply a': '{"f:n":{}}',
            'Apply b': '{"f:d":{"f:x":{}},"f:l":{"k:{\\"k\\":1}":{".":{},"f:k":{},"f:v":{}}},"f:n":{}}',
            'Update c': '{"f:d":{"f:z":{}},"f:l":{"k:{\\"k\\":1000000}":{".":{},"f:k":{},"f:v":{}}}}',
          },
        },
        {
          verb: 'apply',
          by: 'd',
          document: '{"n":2,"d":{"x":"2","z":"2"},"l":[{"k":1,"v":"y"},{"k":1000000,"v":"y"}]}',
          error:
            'Apply failed with 6 conflicts: conflicts with "a":\n- .n\nconflicts with "b":\n- .n\n- .d.x\n- .l[k=1].v\nconflicts with "c" using v1:\n- .d.z\n- .l[k=1e+06].v',
        },
        {
          verb: 'apply',
          by: 'd',
          document: '{"n":1,"l":[{"k":1000000,"v":"y"}]}',
          error: 'Apply failed with 1 conflict: conflict with "c" using v1: .l[k=1e+06].v',
        },
      ],
    },
    {
      name: 'reports a conflict of an applier with an update under the same name',
      schema: struct({ kind: string, n: number }),
      steps: [
        { verb: 'update', by: 'a', document: '{"n":1}', object: '{"n":1}', managers: { 'Update a': '{"f:n":{}}' } },
        {
          verb: 'apply',
          by: 'a',
          document: '{"n":2}',
          error: 'Apply failed with 1 conflict: conflict with "a" using v1: .n',
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"n":1}',
          object: '{"n":1}',
          managers: { 'Apply a': '{"f:n":{}}', 'Update a': '{"f:n":{}}' },
        },
      ],
    },
    {
      name: 'gives explicit nulls to the applier',
      schema: struct({ kind: string, a: string, m: map(string) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"a":null,"m":null}',
          object: '{"a":null,"m":null}',
          managers: { 'Apply a': '{"f:a":{},"f:m":{}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"a":"x","m":{"y":"1"}}',
          error: 'Apply failed with 1 conflict: conflict with "a": .a',
        },
        {
          verb: 'force',
          by: 'b',
          document: '{"a":"x","m":{"y":"1"}}',
          object: '{"a":"x","m":{"y":"1"}}',
          managers: { 'Apply a': '{"f:m":{}}', 'Apply b': '{"f:a":{},"f:m":{"f:y":{}}}' },
        },
      ],
    },
    {
      name: 'accepts a changed order of list items without a conflict',
      schema: struct({ kind: string, l: set(string) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":["x","y","z"]}',
          object: '{"l":["x","y","z"]}',
          managers: { 'Apply a': '{"f:l":{"v:\\"x\\"":{},"v:\\"y\\"":{},"v:\\"z\\"":{}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"l":["z","x"]}',
          object: '{"l":["y","z","x"]}',
          managers: {
            'Apply a': '{"f:l":{"v:\\"x\\"":{},"v:\\"y\\"":{},"v:\\"z\\"":{}}}',
            'Apply b': '{"f:l":{"v:\\"x\\"":{},"v:\\"z\\"":{}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":["x","y","z"]}',
          object: '{"l":["x","y","z"]}',
          managers: {
            'Apply a': '{"f:l":{"v:\\"x\\"":{},"v:\\"y\\"":{},"v:\\"z\\"":{}}}',
            'Apply b': '{"f:l":{"v:\\"x\\"":{},"v:\\"z\\"":{}}}',
          },
        },
      ],
    },
    {
      name: 'merges duplicate items that an update left',
      schema: struct({ kind: string, l: keyed(['k'], { k: string, v: string }) }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{"k":"1","v":"x"}]}',
          object: '{"l":[{"k":"1","v":"x"}]}',
          managers: { 'Apply a': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:v":{}}}}' },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"l":[{"k":"1","v":"x"},{"k":"1","v":"y"}]}',
          object: '{"l":[{"k":"1","v":"x"},{"k":"1","v":"y"}]}',
          managers: { 'Update e': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"l":[{"k":"2"}]}',
          object: '{"l":[{"k":"1","v":"x"},{"k":"1","v":"y"},{"k":"2"}]}',
          managers: {
            'Apply b': '{"f:l":{"k:{\\"k\\":\\"2\\"}":{".":{},"f:k":{}}}}',
            'Update e': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{}}}',
          },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{"l":[{"k":"1","v":"z"}]}',
          error: 'Apply failed with 1 conflict: conflict with "e" using v1: .l[k="1"]',
        },
        {
          verb: 'force',
          by: 'a',
          document: '{"l":[{"k":"1","v":"z"}]}',
          object: '{"l":[{"k":"1","v":"z"},{"k":"2"}]}',
          managers: {
            'Apply a': '{"f:l":{"k:{\\"k\\":\\"1\\"}":{".":{},"f:k":{},"f:v":{}}}}',
            'Apply b': '{"f:l":{"k:{\\"k\\":\\"2\\"}":{".":{},"f:k":{}}}}',
          },
        },
      ],
    },
    {
      name: 'tracks untyped values whose type changes',
      schema: struct({ kind: string, u: any }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"u":{"x":{"y":1}}}',
          object: '{"u":{"x":{"y":1}}}',
          managers: { 'Apply a': '{"f:u":{"f:x":{".":{},"f:y":{}}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"u":{"x":2}}',
          error: 'Apply failed with 1 conflict: conflict with "a": .u.x',
        },
        {
          verb: 'force',
          by: 'b',
          document: '{"u":{"x":2}}',
          object: '{"u":{"x":2}}',
          managers: { 'Apply b': '{"f:u":{"f:x":{}}}' },
        },
        { verb: 'force', by: 'a', document: '{"u":[1]}', object: '{"u":[1]}', managers: { 'Apply a': '{"f:u":{}}' } },
        { verb: 'apply', by: 'b', document: '{}', object: '{"u":[1]}', managers: { 'Apply a': '{"f:u":{}}' } },
      ],
    },
    {
      name: 'rejects a configuration that does not match the schema',
      schema: struct({ kind: string, l: set(string), n: number }),
      steps: [
        { verb: 'apply', by: 'a', document: '{"n":1}', object: '{"n":1}', managers: { 'Apply a': '{"f:n":{}}' } },
        { verb: 'force', by: 'a', document: '{"l":["x","x"],"n":2}', error: '.l: duplicate entries for key [="x"]' },
      ],
    },
    {
      name: 'writes reset fields without owning them',
      schema: struct({ kind: string, s: struct({ a: string }), t: map(string) }),
      reset: '{"f:s":{}}',
      steps: [
        {
          verb: 'apply',
          by: 'a',
          document: '{"s":{"a":"x"},"t":{"y":"1"}}',
          object: '{"s":{"a":"x"},"t":{"y":"1"}}',
          managers: { 'Apply a': '{"f:t":{"f:y":{}}}' },
        },
        {
          verb: 'apply',
          by: 'b',
          document: '{"s":{"a":"z"},"t":{}}',
          object: '{"s":{"a":"z"},"t":{"y":"1"}}',
          managers: { 'Apply a': '{"f:t":{"f:y":{}}}', 'Apply b': '{"f:t":{}}' },
        },
        {
          verb: 'update',
          by: 'e',
          document: '{"s":{"a":"w"},"t":{"y":"2"}}',
          object: '{"s":{"a":"w"},"t":{"y":"2"}}',
          managers: { 'Apply b': '{"f:t":{}}', 'Update e': '{"f:t":{"f:y":{}}}' },
        },
        {
          verb: 'apply',
          by: 'a',
          document: '{}',
          object: '{"s":{"a":"w"},"t":{"y":"2"}}',
          managers: { 'Apply b': '{"f:t":{}}', 'Update e': '{"f:t":{"f:y":{}}}' },
        },
      ],
    },
    {
      name: 'reports conflicts with managers of another version',
      schema: struct({ kind: string, n: number }),
      steps: [
        {
          verb: 'apply',
          by: 'a',
          version: 'v2',
          document: '{"n":1}',
          object: '{"n":1}',
          managers: { 'Apply a': '{"f:n":{}}' },
        },
        {
          verb: 'update',
          by: 'e',
          version: 'v2',
          document: '{"n":2}',
          object: '{"n":2}',
          managers: { 'Update e': '{"f:n":{}}' },
        },
        { verb: 'update', by: 'f', document: '{"n":3}', object: '{"n":3}', managers: { 'Update f': '{"f:n":{}}' } },
        {
          verb: 'apply',
          by: 'a',
          version: 'v2',
          document: '{"n":1}',
          error: 'Apply failed with 1 conflict: conflict with "f" using v1: .n',
        },
        { verb: 'force', by: 'a', document: '{"n":1}', object: '{"n":1}', managers: { 'Apply a': '{"f:n":{}}' } },
        { verb: 'apply', by: 'a', version: 'v2', document: '{}', object: '{}', managers: {} },
      ],
    },
  ];

  it.each(histories.map((history) => [history.name, history] as const))('%s', (_name, history) =>
    replayHistory(history),
  );
});
