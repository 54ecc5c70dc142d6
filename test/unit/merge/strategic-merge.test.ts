/**
 * Strategic merge: tables of document, patch and result for every directive and rule, the failures by code and text,
 * and the promises about the arguments. The responses of the server are tested in test/unit/server/strategic-patch.test.ts.
 */
import { describe, expect, it, test } from 'vitest';
import { applyStrategicMerge } from '../../../src/merge/strategic-merge.js';
import { StatusError } from '../../../src/meta/errors.js';
import {
  applyMapList,
  hint,
  int32,
  list as listOf,
  map,
  mapList,
  objectNode,
  optional,
  pointer,
  rawExtension,
  string,
  struct,
} from '../../../src/schema/declare.js';
import type { ObjectNode } from '../../../src/schema/schema-node.js';
import { deepFreeze, isRecord } from '../../../src/util/json.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

const env = () => struct('EnvVar', { name: string(), value: optional(string()), more: pointer(labelled()) });
const labelled = () => struct('Labelled', { labels: optional(map(string())) });
const item = () =>
  struct('Item', {
    name: string(),
    image: optional(string()),
    env: optional(mapList(env(), 'name')),
    args: optional(listOf(string())),
  });

const schema: ObjectNode = objectNode('Thing', {
  tags: optional(hint(listOf(string()), { patchStrategy: 'merge' })),
  items: optional(mapList(item(), 'name')),
  ports: optional(mapList(struct('Port', { port: int32(), note: optional(string()) }), 'port')),
  volumes: optional(hint(mapList(item(), 'name'), { patchStrategy: 'merge,retainKeys' })),
  whole: optional(applyMapList(item(), 'name')),
  words: optional(listOf(string())),
  keyless: optional(hint(listOf(item()), { patchStrategy: 'merge' })),
  nested: optional(hint(listOf(listOf(string())), { patchStrategy: 'merge' })),
  labels: optional(map(string())),
  byName: optional(map(labelled())),
  inner: pointer(labelled()),
  union: hint(pointer(struct('Union', { type: optional(string()), a: optional(string()) })), {
    patchStrategy: 'retainKeys',
  }),
  selector: hint(pointer(labelled()), { patchStrategy: 'replace' }),
  raw: pointer(rawExtension()),
  count: optional(int32()),
  limit: pointer(int32()),
});

/** Parses JSON, because `__proto__` in an object literal would not be a key. */
const json = (text: string): unknown => JSON.parse(text);

function merge(document: unknown, patch: unknown): ReturnType<typeof applyStrategicMerge> {
  if (!isRecord(document)) throw new Error('a document is an object');
  return applyStrategicMerge(schema, deepFreeze(document), deepFreeze(patch));
}

const merged = (document: string, patch: string): unknown => merge(json(document), json(patch)).document;

type Case = readonly [name: string, document: string, patch: string, result: string];

/** Names as a list of items: `[a b]`. */
const list = (names: string): string => JSON.stringify(names.split(' ').map((name) => ({ name })));

describe('maps', () => {
  const cases: readonly Case[] = [
    ['a new field', '{}', '{"count":1}', '{"count":1}'],
    ['a changed field', '{"count":1}', '{"count":2}', '{"count":2}'],
    ['null deletes', '{"count":1,"labels":{"a":"b"}}', '{"count":null,"labels":{"a":null}}', '{"labels":{}}'],
    ['null for a missing field', '{}', '{"count":null}', '{}'],
    [
      'maps merge',
      '{"labels":{"a":"1","b":"2"}}',
      '{"labels":{"b":"3","c":"4"}}',
      '{"labels":{"a":"1","b":"3","c":"4"}}',
    ],
    [
      'structs merge',
      '{"inner":{"labels":{"a":"1"}}}',
      '{"inner":{"labels":{"b":"2"}}}',
      '{"inner":{"labels":{"a":"1","b":"2"}}}',
    ],
    ['nulls inside a new value', '{}', '{"inner":{"labels":{"a":null,"b":"1"}}}', '{"inner":{"labels":{"b":"1"}}}'],
    ['nulls inside a new list', '{}', '{"items":[{"name":"a","image":null},null]}', '{"items":[{"name":"a"},null]}'],
    ['a map over a null', '{"items":null}', '{"items":[{"name":"a","image":null}]}', '{"items":[{"name":"a"}]}'],
    [
      'a value of another type',
      '{"inner":{}}',
      '{"inner":[{"a":null,"$retainKeys":[]}]}',
      '{"inner":[{"$retainKeys":[]}]}',
    ],
    ['an unknown field', '{}', '{"foo":{"bar":[1]}}', '{"foo":{"bar":[1]}}'],
    [
      'a field with the replace strategy',
      '{"selector":{"labels":{"a":"1"}}}',
      '{"selector":{"x":null}}',
      '{"selector":{"x":null}}',
    ],
  ];
  it.each(cases)('merges a map: %s', (_name, document, patch, result) => {
    expect(merged(document, patch)).toEqual(json(result));
  });
});

describe('$patch in a map', () => {
  const cases: readonly Case[] = [
    ['replace', '{"labels":{"a":"1"}}', '{"labels":{"$patch":"replace","b":"2"}}', '{"labels":{"b":"2"}}'],
    [
      'replace keeps nulls',
      '{"labels":{"a":"1"}}',
      '{"labels":{"$patch":"replace","b":null}}',
      '{"labels":{"b":null}}',
    ],
    ['delete leaves an empty map', '{"labels":{"a":"1"}}', '{"labels":{"$patch":"delete","b":"2"}}', '{"labels":{}}'],
    ['replace at the root', '{"count":1,"labels":{}}', '{"$patch":"replace","count":2}', '{"count":2}'],
    ['delete at the root', '{"count":1}', '{"$patch":"delete"}', '{}'],
    ['in a missing map', '{}', '{"labels":{"$patch":"replace","a":"1"}}', '{}'],
    ['deep in a missing map', '{}', '{"inner":{"labels":{"$patch":"delete"}}}', '{"inner":{}}'],
    ['in a missing list', '{}', '{"items":[{"$patch":"replace"},{"name":"a"}]}', '{"items":[{"name":"a"}]}'],
  ];
  it.each(cases)('applies $patch: %s', (_name, document, patch, result) => {
    expect(merged(document, patch)).toEqual(json(result));
  });
});

describe('$retainKeys', () => {
  const cases: readonly Case[] = [
    [
      'removes other keys',
      '{"union":{"type":"A","a":"x"}}',
      '{"union":{"$retainKeys":["type"],"type":"B"}}',
      '{"union":{"type":"B"}}',
    ],
    ['without other fields', '{"union":{"type":"A","a":"x"}}', '{"union":{"$retainKeys":[]}}', '{"union":{}}'],
    [
      'without the keys that are null',
      '{"union":{"type":"A","a":"x"}}',
      '{"union":{"$retainKeys":["a"],"type":null}}',
      '{"union":{"a":"x"}}',
    ],
    [
      'in a map without a union',
      '{"labels":{"a":"1","b":"2"}}',
      '{"labels":{"$retainKeys":["b"]}}',
      '{"labels":{"b":"2"}}',
    ],
    [
      'in an item',
      '{"volumes":[{"name":"v","image":"x"}]}',
      '{"volumes":[{"name":"v","$retainKeys":["name","args"],"args":["y"]}]}',
      '{"volumes":[{"name":"v","args":["y"]}]}',
    ],
    [
      'together with other directives',
      '{"tags":["a","b"],"count":1}',
      '{"$retainKeys":["tags"],"$deleteFromPrimitiveList/tags":["a"],"$setElementOrder/tags":["b"]}',
      '{"tags":["b"]}',
    ],
  ];
  it.each(cases)('applies $retainKeys: %s', (_name, document, patch, result) => {
    expect(merged(document, patch)).toEqual(json(result));
  });
});

describe('lists with a merge key', () => {
  const cases: readonly (readonly [name: string, live: string, patch: string, result: string])[] = [
    [
      'an item changes in its place',
      '[{"name":"a","image":"1"},{"name":"b"}]',
      '[{"name":"b","image":"2"}]',
      '[{"name":"a","image":"1"},{"name":"b","image":"2"}]',
    ],
    ['a field of an item is deleted', '[{"name":"a","image":"1"}]', '[{"name":"a","image":null}]', '[{"name":"a"}]'],
    ['new items come first', list('a b'), list('x'), list('x a b')],
    ['a patch in another order', list('a b c'), list('c x a'), list('b c x a')],
    ['a new item after a known one', list('a b c'), list('b x'), list('a b x c')],
    [
      'a repeated item',
      list('a'),
      '[{"name":"x","image":"1"},{"name":"x","image":"2"}]',
      '[{"name":"x","image":"2"},{"name":"a"}]',
    ],
    ['nothing', list('a b'), '[]', list('a b')],
    [
      'a nested list',
      '[{"name":"a","env":[{"name":"E","value":"1"}]}]',
      '[{"name":"a","env":[{"name":"F"}]}]',
      '[{"name":"a","env":[{"name":"F"},{"name":"E","value":"1"}]}]',
    ],
    ['delete', list('a b c'), '[{"name":"b","$patch":"delete","image":"x"}]', list('a c')],
    ['delete a missing item', list('a'), '[{"name":"x","$patch":"delete"}]', list('a')],
    ['delete every match', list('a b a'), '[{"name":"a","$patch":"delete"}]', list('b')],
    [
      'delete and change',
      list('a b'),
      '[{"name":"a","$patch":"delete"},{"name":"b","image":"1"}]',
      '[{"name":"b","image":"1"}]',
    ],
    ['delete and add again', list('a b'), '[{"name":"a","$patch":"delete"},{"name":"a"}]', list('a b')],
    ['replace', list('a b'), '[{"$patch":"replace"},{"name":"y"},{"name":"x"}]', list('y x')],
    ['replace by an empty list', list('a b'), '[{"$patch":"replace"}]', '[]'],
    ['replace after the items', list('a'), '[{"name":"x"},{"$patch":"replace","name":"z"}]', list('x')],
    ['a null key', list('a'), '[{"name":null,"image":"1"}]', '[{"name":null,"image":"1"},{"name":"a"}]'],
    [
      'nulls inside a new item stay',
      list('a'),
      '[{"name":"b","image":null}]',
      '[{"name":"b","image":null},{"name":"a"}]',
    ],
    [
      'a directive inside a new item stays',
      list('a'),
      '[{"name":"b","env":{"$patch":"delete"}}]',
      '[{"name":"b","env":{"$patch":"delete"}},{"name":"a"}]',
    ],
    [
      'a nested list that does not merge',
      '[{"name":"a","args":["1","2"]}]',
      '[{"name":"a","args":["3"]}]',
      '[{"name":"a","args":["3"]}]',
    ],
  ];
  it.each(cases)('merges a list by key: %s', (_name, live, patch, result) => {
    expect(merged(`{"items":${live}}`, `{"items":${patch}}`)).toEqual(json(`{"items":${result}}`));
  });

  test('distinguishes numeric keys from their texts', () => {
    const live = '{"ports":[{"port":80},{"port":53}]}';
    expect(merged(live, '{"ports":[{"port":53,"note":"x"}]}')).toEqual({
      ports: [{ port: 80 }, { port: 53, note: 'x' }],
    });
    expect(merged(live, '{"ports":[{"port":"53"}]}')).toEqual({ ports: [{ port: '53' }, { port: 80 }, { port: 53 }] });
  });

  test('replaces lists that only apply merges', () => {
    expect(merged(`{"whole":${list('a b')}}`, `{"whole":${list('x')}}`)).toEqual({ whole: [{ name: 'x' }] });
  });
});

describe('lists of scalars', () => {
  const cases: readonly Case[] = [
    ['new ones come first', '{"tags":["a","b"]}', '{"tags":["c"]}', '{"tags":["c","a","b"]}'],
    ['repeated values', '{"tags":["a","b"]}', '{"tags":["b","b"]}', '{"tags":["a","b"]}'],
    ['another order', '{"tags":["a","b","c"]}', '{"tags":["c","a"]}', '{"tags":["b","c","a"]}'],
    ['a list that does not merge its values', '{"words":["a"]}', '{"words":["b","b"]}', '{"words":["b","b"]}'],
    ['deleted values', '{"tags":["a","b","c"]}', '{"$deleteFromPrimitiveList/tags":["c","x","a"]}', '{"tags":["b"]}'],
    [
      'deleted values of a list that does not merge',
      '{"words":["a","b"]}',
      '{"$deleteFromPrimitiveList/words":["a"]}',
      '{"words":["b"]}',
    ],
    [
      'a deletion from a missing list',
      '{}',
      '{"$deleteFromPrimitiveList/tags":["a"],"$deleteFromPrimitiveList/foo":["a"]}',
      '{}',
    ],
    ['a deletion that is not a list', '{"tags":["a"]}', '{"$deleteFromPrimitiveList/tags":"a"}', '{"tags":["a"]}'],
    ['a deletion that is null', '{"tags":["a"]}', '{"$deleteFromPrimitiveList/tags":null}', '{}'],
    ['a deletion of a scalar', '{"count":1}', '{"$deleteFromPrimitiveList/count":2}', '{"count":2}'],
    ['an empty deletion', '{"tags":["a"]}', '{"$deleteFromPrimitiveList/":["a"]}', '{"tags":["a"]}'],
    [
      'a deletion from a list of objects',
      `{"items":${list('a')}}`,
      '{"$deleteFromPrimitiveList/items":[{"name":"a","image":"1"}]}',
      '{"items":[{"name":"a","image":"1"}]}',
    ],
  ];
  it.each(cases)('merges a list of scalars: %s', (_name, document, patch, result) => {
    expect(merged(document, patch)).toEqual(json(result));
  });
});

describe('$setElementOrder', () => {
  /** Live, order, patch (empty: none), result; all names. */
  const cases: readonly (readonly [live: string, order: string, patch: string, result: string])[] = [
    ['a b c', 'c a b', '', 'c a b'],
    ['a b c', 'c a', '', 'b c a'],
    ['a b', 'b ghost', '', 'a b'],
    ['a b', 'x a', 'x', 'x a b'],
    ['a b c', 'a x', 'a x', 'a x b c'],
    ['', 'b a', 'b a', 'b a'],
    // A deleted item leaves a position in which one new item counts as live.
    ['1 2 4', '2 3', '-1 3', '2 4 3'],
    ['1 2 4', '2 3', '3', '1 2 3 4'],
    ['1 2 3', '1 3', '-2', '1 3'],
    // An empty order: the server's sort determines the position of new items.
    ['a b', '', 'x', 'a b x'],
    ['a b', '', 'x y', 'a b y x'],
  ];
  const names = (text: string) => text.split(' ').filter((name) => name !== '');

  it.each(cases)('orders objects: %s in the order %s with %s', (live, order, patch, result) => {
    const items = (text: string) =>
      names(text).map((name) => (name.startsWith('-') ? { name: name.slice(1), $patch: 'delete' } : { name }));
    const document = live === '' ? {} : { items: items(live) };
    const body = { ...(patch === '' ? {} : { items: items(patch) }), '$setElementOrder/items': items(order) };
    expect(merge(document, body).document).toEqual({ items: items(result) });
  });

  it.each(cases.filter(([, , patch]) => !patch.startsWith('-')))(
    'orders scalars: %s in the order %s with %s',
    (live, order, patch, result) => {
      const document = live === '' ? {} : { tags: names(live) };
      const body = { ...(patch === '' ? {} : { tags: names(patch) }), '$setElementOrder/tags': names(order) };
      expect(merge(document, body).document).toEqual({ tags: names(result) });
    },
  );

  const more: readonly Case[] = [
    ['an order without a list', '{}', '{"$setElementOrder/items":[{"name":"a"}]}', '{}'],
    [
      'a replaced list',
      `{"items":${list('a b')}}`,
      '{"items":[{"$patch":"replace"},{"name":"x"}],"$setElementOrder/items":[{"name":"x"}]}',
      `{"items":${list('x')}}`,
    ],
    [
      'an order of a list that does not merge',
      '{"words":["a","b"]}',
      '{"words":["c","d"],"$setElementOrder/words":["c","d"]}',
      '{"words":["c","d"]}',
    ],
    [
      'directives in a new list',
      '{}',
      '{"items":[{"name":"a","$patch":"delete"},{"name":"b"}],"$setElementOrder/items":[{"name":"b"}]}',
      '{"items":[{"name":"b"},{"name":"a","$patch":"delete"}]}',
    ],
    [
      'an order with a deletion',
      '{"tags":["c","a"]}',
      '{"$setElementOrder/tags":["d","c","a"],"tags":["d"],"$deleteFromPrimitiveList/tags":["a"]}',
      '{"tags":["d","c"]}',
    ],
    ['a pointer field that is not a list', '{}', '{"$setElementOrder/limit":[]}', '{}'],
    ['a name in another case', '{}', '{"$setElementOrder/ITEMS":[]}', '{}'],
  ];
  it.each(more)('orders a list or not: %s', (_name, document, patch, result) => {
    expect(merged(document, patch)).toEqual(json(result));
  });

  test('puts new items last in lists longer than the insertion sort limit', () => {
    const numbers = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const { document } = merge({ tags: ['a', 'b'] }, { tags: numbers, '$setElementOrder/tags': [] });
    expect(document).toEqual({ tags: ['a', 'b', ...numbers] });
  });
});

describe('applyStrategicMerge errors', () => {
  const items = `{"items":${list('a')}}`;
  const cases: readonly (readonly [document: string, patch: string, code: number, message: string])[] = [
    // The shape of the body and of directives: 400.
    ['{}', '[]', 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['{}', '"x"', 400, 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
    ['{}', 'true', 400, 'json: cannot unmarshal bool into Go value of type map[string]interface {}'],
    ['{"union":{}}', '{"union":{"$retainKeys":"type"}}', 400, 'invalid patch format of retainKeys'],
    ['{"union":{}}', '{"union":{"$retainKeys":null}}', 400, 'invalid patch format of retainKeys'],
    ['{"union":{}}', '{"union":{"$retainKeys":[1],"type":"A"}}', 400, 'invalid patch format of retainKeys'],
    ['{}', '{"$setElementOrder":[]}', 400, 'invalid patch format of setElementOrder list'],
    ['{}', '{"$deleteFromPrimitiveListOf/tags":[]}', 400, 'invalid patch format of primitive list'],
    // Directives that do not exist: 500.
    ['{"labels":{}}', '{"labels":{"$patch":"merge"}}', 500, 'unknown patch type: merge in map: map[$patch:merge]'],
    ['{"labels":{}}', '{"labels":{"$patch":1}}', 500, 'unknown patch type: %!s(int64=1) in map: map[$patch:1]'],
    ['{}', '{"$patch":null}', 500, 'unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]'],
    [items, '{"items":[{"$patch":"x","name":"a"}]}', 500, 'unknown patch type: x in map: map[$patch:x name:a]'],
    [items, '{"items":[{"$patch":"merge"}]}', 500, 'merging lists cannot yet be specified in the patch'],
    // Items.
    [items, '{"items":[{"image":"x"}]}', 500, 'map: map[image:x] does not contain declared merge key: name'],
    [
      items,
      '{"items":[{"$patch":"delete"}]}',
      500,
      'map: map[$patch:delete] does not contain declared merge key: name',
    ],
    [items, '{"items":["x"]}', 500, 'list element types are not identical: [[map[name:a]] [x]]'],
    [
      items,
      '{"items":[{"name":"a"},null]}',
      500,
      'list element types are not identical: [[map[name:a]] [map[name:a] <nil>]]',
    ],
    ['{"tags":["a"]}', '{"tags":[1]}', 500, 'list element types are not identical: [[a] [1]]'],
    ['{"items":[]}', '{"items":["x"]}', 500, 'expected a map[string]interface {}, but received a string'],
    ['{"items":[]}', '{"items":[null]}', 500, 'This request caused apiserver to panic. Look in the logs for details.'],
    ['{"items":[]}', '{"items":[["x"]]}', 422, 'the server rejected our request due to an error in our request'],
    ['{"nested":[]}', '{"nested":[["x"]]}', 500, 'unexpected slice of slice'],
    [`{"keyless":${list('a')}}`, '{"keyless":[{"name":"b"}]}', 500, 'cannot merge lists without merge key for struct'],
    // Orders.
    ['{}', '{"$setElementOrder/items":{}}', 500, 'expected a []interface {}, but received a map[string]interface {}'],
    ['{"items":null}', '{"$setElementOrder/items":[]}', 500, 'expected a []interface {}, but received a %!s(<nil>)'],
    [items, '{"items":1,"$setElementOrder/items":[]}', 500, 'expected a []interface {}, but received a int64'],
    ['{"items":[]}', '{"$setElementOrder/items":[]}', 500, 'no elements in any of the given slices'],
    [items, '{"$setElementOrder/items":["a"]}', 500, 'value for key 0 is not a map'],
    [
      items,
      '{"$setElementOrder/items":[{"image":"x"}]}',
      500,
      'map: map[image:x] does not contain declared merge key: name',
    ],
    [
      items,
      '{"items":[{"name":"b"}],"$setElementOrder/items":["b"]}',
      500,
      'expected a map[string]interface {}, but received a string',
    ],
    [
      items,
      '{"items":["b"],"$setElementOrder/items":[{"name":"b"}]}',
      500,
      'expected a map[string]interface {}, but received a string',
    ],
    [
      '{"tags":["a"]}',
      '{"tags":["b","a"],"$setElementOrder/tags":["a","b"]}',
      500,
      "The order in patch list:\n[b a]\n doesn't match $setElementOrder list:\n[a b]\n",
    ],
    [
      items,
      '{"items":[{"name":"b","image":"x"}],"$setElementOrder/items":[{"name":"a"}]}',
      500,
      "The order in patch list:\n[map[image:x name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      '{"whole":[{"name":"a"}]}',
      '{"$setElementOrder/whole":[{"name":"a"}]}',
      500,
      'This request caused apiserver to panic. Look in the logs for details.',
    ],
    [
      '{"whole":[{"name":"a"}]}',
      '{"whole":[{"name":"a"}],"$setElementOrder/whole":[{"name":"a"}]}',
      500,
      'This request caused apiserver to panic. Look in the logs for details.',
    ],
    ['{}', '{"$setElementOrder/nope":[]}', 500, 'unable to find api field in struct Thing for the json field "nope"'],
    ['{}', '{"$setElementOrder/count":[]}', 500, 'expected slice or array type, but got: struct'],
    // Fields whose type has no fields.
    [
      '{"byName":{"a":{}}}',
      '{"byName":{"a":{}}}',
      500,
      'merging an object in json but data type is not struct, instead is: map',
    ],
    [
      '{"raw":{"a":{}}}',
      '{"raw":{"a":{}}}',
      500,
      'unable to find api field in struct RawExtension for the json field "a"',
    ],
  ];
  it.each(cases)('rejects for the document %s the patch %s', (document, patch, code, message) => {
    const failure = failureOf(() => merged(document, patch));
    expect(failure.status).toMatchObject({ code, message });
  });

  test('fails without a reason and details in most cases', () => {
    const { status } = failureOf(() => merged('{}', '{"$patch":"x"}'));
    expect(Object.keys(status)).toEqual(['kind', 'apiVersion', 'metadata', 'status', 'message', 'code']);
  });
});

function failureOf(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (StatusError.is(error)) return error;
    throw error;
  }
  throw new Error('expected a StatusError');
}

describe('the rest of the patch', () => {
  test.each([
    [
      'removes directives',
      '{"labels":{"$patch":"replace","a":"1"},"union":{"$retainKeys":[]}}',
      '{"labels":{"a":"1"},"union":{}}',
    ],
    ['removes ordered lists', '{"tags":["b"],"$setElementOrder/tags":["b","a"],"count":1}', '{"count":1}'],
    [
      'removes nulls of new values',
      '{"inner":{"labels":{"a":null}},"count":null}',
      '{"inner":{"labels":{}},"count":null}',
    ],
    [
      'does not remove deletions',
      '{"items":[{"name":"a","$patch":"delete"}]}',
      '{"items":[{"name":"a","$patch":"delete"}]}',
    ],
  ])('%s from the rest of the patch', (_name, patch, leftover) => {
    const live = { labels: { b: '2' }, union: { type: 'A' }, tags: ['a'], items: [{ name: 'a' }] };
    expect(merge(live, json(patch)).leftover).toEqual(json(leftover));
  });
});

describe('arguments', () => {
  test('accepts null as a patch without fields', () => {
    expect(merge({ count: 1 }, null)).toEqual({ document: { count: 1 }, leftover: {} });
  });

  test('shares unopened parts of the document', () => {
    const live = deepFreeze({ items: [{ name: 'a', env: [{ name: 'E' }] }, { name: 'b' }], inner: { labels: {} } });
    const { document } = merge(live, { items: [{ name: 'b', image: 'x' }] });
    expect(document['inner']).toBe(live.inner);
    expect((document['items'] as unknown[])[0]).toBe(live.items[0]);
  });

  test('treats names of JavaScript properties as plain keys', () => {
    const patch = '{"labels":{"__proto__":"x","constructor":"y","toString":null}}';
    expect(JSON.stringify(merged('{"labels":{"a":"1"}}', patch))).toBe(
      '{"labels":{"a":"1","__proto__":"x","constructor":"y"}}',
    );
    const deletion = merged('{"labels":{"__proto__":"x","a":"1"}}', '{"labels":{"__proto__":null}}');
    expect(JSON.stringify(deletion)).toBe('{"labels":{"a":"1"}}');
    const unknown = merged('{}', '{"__proto__":{"polluted":true},"constructor":{"a":1}}');
    expect(Object.keys(unknown as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(failureOf(() => merged('{"raw":{"__proto__":{}}}', '{"raw":{"__proto__":{}}}')).message).toBe(
      'unable to find api field in struct RawExtension for the json field "__proto__"',
    );
    expect(failureOf(() => merged('{"items":[{"name":"a"}]}', '{"items":[{"__proto__":{"name":"a"}}]}')).message).toBe(
      'map: map[__proto__:map[name:a]] does not contain declared merge key: name',
    );
  });

  test('merges long lists in linear time', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => ({ name: `n${index}` }));
    const patch = { items: [...names].reverse(), '$setElementOrder/items': [...names].reverse() };
    const spentMs = cpuTimer();
    const { document } = merge({ items: names }, patch);
    expect(spentMs()).toBeLessThan(3_000);
    expect((document['items'] as { name: string }[])[0]?.name).toBe('n19999');
  });
});
