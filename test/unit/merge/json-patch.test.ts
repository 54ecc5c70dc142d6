/**
 * JSON Patch: tables of operations and results, the failures by code and text, the promises about the document, and
 * the public suite of json-patch vectors. Recorded responses are compared in recorded.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { applyJsonPatch, MAX_COPIED_BYTES, parseJsonPatch } from '../../../src/merge/json-patch.js';
import { StatusError } from '../../../src/meta/errors.js';
import { deepFreeze } from '../../../src/util/json.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { readVectors } from '../../vectors/read.js';

const GENERIC = 'the server rejected our request due to an error in our request';

function patched(document: unknown, patch: unknown): unknown {
  return applyJsonPatch(deepFreeze(document), parseJsonPatch(deepFreeze(patch)));
}

function failureOf(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (StatusError.is(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** Parses JSON, because `__proto__` in an object literal would not be a key. */
const json = (text: string): unknown => JSON.parse(text);

describe('applyJsonPatch', () => {
  const cases: readonly (readonly [name: string, document: string, patch: string, result: string])[] = [
    ['no operations', '{"a":1}', '[]', '{"a":1}'],
    ['null as a patch', '{"a":1}', 'null', '{"a":1}'],
    ['add over a key', '{"a":1}', '[{"op":"add","path":"/a","value":2}]', '{"a":2}'],
    ['add without a value', '{}', '[{"op":"add","path":"/a"}]', '{"a":null}'],
    ['add under the empty key', '{}', '[{"op":"add","path":"/","value":1}]', '{"":1}'],
    ['replace a missing key', '{}', '[{"op":"replace","path":"/a","value":1}]', '{"a":1}'],
    ['replace without a value', '{"a":1}', '[{"op":"replace","path":"/a"}]', '{"a":null}'],
    ['replace the root', '{"a":1}', '[{"op":"replace","path":"","value":{"b":2}}]', '{"b":2}'],
    ['replace the root by an array', '{"a":1}', '[{"op":"replace","path":"","value":[]}]', '[]'],
    ['replace the root by null: no effect', '{"a":1}', '[{"op":"replace","path":"","value":null}]', '{"a":1}'],
    ['replace the root by a scalar: no effect', '{"a":1}', '[{"op":"replace","path":"","value":"x"}]', '{"a":1}'],
    ['change a replaced root', '{}', '[{"op":"replace","path":"","value":[1]},{"op":"remove","path":"/0"}]', '[]'],
    ['drop what precedes the first slash', '{"a":{}}', '[{"op":"add","path":"a/b","value":1}]', '{"a":{},"b":1}'],
    ['unescape', '{}', '[{"op":"add","path":"/a~1b~0c~01","value":1}]', '{"a/b~c~1":1}'],
    ['keep percent signs', '{}', '[{"op":"add","path":"/a%20b","value":1}]', '{"a%20b":1}'],
    ['insert', '{"l":[1,2]}', '[{"op":"add","path":"/l/1","value":9}]', '{"l":[1,9,2]}'],
    ['insert at the end', '{"l":[1,2]}', '[{"op":"add","path":"/l/2","value":9}]', '{"l":[1,2,9]}'],
    ['append', '{"l":[1,2]}', '[{"op":"add","path":"/l/-","value":9}]', '{"l":[1,2,9]}'],
    ['insert at -1: append', '{"l":[1,2]}', '[{"op":"add","path":"/l/-1","value":9}]', '{"l":[1,2,9]}'],
    ['insert at -3 of two: prepend', '{"l":[1,2]}', '[{"op":"add","path":"/l/-3","value":9}]', '{"l":[9,1,2]}'],
    ['leading zeros and plus signs', '{"l":[1,2]}', '[{"op":"replace","path":"/l/+01","value":9}]', '{"l":[1,9]}'],
    ['replace from the end', '{"l":[1,2]}', '[{"op":"replace","path":"/l/-2","value":9}]', '{"l":[9,2]}'],
    ['remove from the end', '{"l":[1,2]}', '[{"op":"remove","path":"/l/-1"}]', '{"l":[1]}'],
    ['walk from the end', '{"l":[{},{}]}', '[{"op":"add","path":"/l/-1/a","value":1}]', '{"l":[{},{"a":1}]}'],
    ['remove a null', '{"a":null}', '[{"op":"remove","path":"/a"}]', '{}'],
    ['move a null', '{"a":null}', '[{"op":"move","from":"/a","path":"/b"}]', '{"b":null}'],
    ['move onto itself', '{"a":{"b":1}}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":{"b":1}}'],
    ['move over another', '{"a":1,"b":{"c":2}}', '[{"op":"move","from":"/a","path":"/b"}]', '{"b":1}'],
    ['move within an array', '{"l":[1,2,3]}', '[{"op":"move","from":"/l/0","path":"/l/2"}]', '{"l":[2,3,1]}'],
    ['copy a missing key: null', '{}', '[{"op":"copy","from":"/a","path":"/b"}]', '{"b":null}'],
    ['copy into an array', '{"a":1,"l":[]}', '[{"op":"copy","from":"/a","path":"/l/-"}]', '{"a":1,"l":[1]}'],
    ['test a missing key against null', '{}', '[{"op":"test","path":"/a","value":null}]', '{}'],
    ['test a null against null', '{"a":null}', '[{"op":"test","path":"/a","value":null}]', '{"a":null}'],
    [
      'test an object with another key order',
      '{"a":{"b":1,"c":2}}',
      '[{"op":"test","path":"/a","value":{"c":2,"b":1}}]',
      '{"a":{"b":1,"c":2}}',
    ],
    ['test the root', '{"a":1}', '[{"op":"test","path":"","value":{"a":1}}]', '{"a":1}'],
    [
      'test an object with special keys',
      '{"a":{"hasOwnProperty":1}}',
      '[{"op":"test","path":"/a","value":{"hasOwnProperty":1}}]',
      '{"a":{"hasOwnProperty":1}}',
    ],
  ];

  it.each(cases)('applies a JSON patch: %s', (_name, document, patch, result) => {
    expect(patched(json(document), json(patch))).toEqual(json(result));
  });

  it('changes a copy and its original independently', () => {
    const change = (path: string) => ({ op: 'replace', path, value: 2 });
    const copy = { op: 'copy', from: '/a', path: '/c' };
    const document = { a: { b: { d: 1 } } };
    expect(patched(document, [copy, change('/c/b/d')])).toEqual({ a: { b: { d: 1 } }, c: { b: { d: 2 } } });
    expect(patched(document, [copy, change('/a/b/d')])).toEqual({ a: { b: { d: 2 } }, c: { b: { d: 1 } } });
    expect(patched(document, [change('/a/b/d'), copy, { op: 'remove', path: '/c/b/d' }])).toEqual({
      a: { b: { d: 2 } },
      c: { b: {} },
    });
  });

  it('accepts integers beyond the precision of a double', () => {
    const patch = [
      { op: 'test', path: '/n', value: 9007199254740993n },
      { op: 'copy', from: '/n', path: '/m' },
      { op: 'move', from: '/n', path: '/m' },
    ];
    expect(patched({ n: 9007199254740993n }, patch)).toEqual({ m: 9007199254740993n });
  });
});

describe('applyJsonPatch errors', () => {
  const cases: readonly (readonly [name: string, document: string, patch: string])[] = [
    ['an unknown operation', '{}', '[{"op":"upsert","path":"/a","value":1}]'],
    ['an operation in capitals', '{}', '[{"op":"ADD","path":"/a","value":1}]'],
    ['an inherited name as operation', '{}', '[{"op":"toString","path":"/a","value":1}]'],
    ['a missing operation', '{}', '[{"path":"/a","value":1}]'],
    ['a null in the list', '{}', '[null]'],
    ['a missing path', '{}', '[{"op":"add","value":1}]'],
    ['a null path', '{}', '[{"op":"add","path":null,"value":1}]'],
    ['a path without any slash', '{"a":1}', '[{"op":"remove","path":"a"}]'],
    ['copy without from', '{"a":1}', '[{"op":"copy","path":"/a"}]'],
    ['copy from a name without slash', '{"a":1}', '[{"op":"copy","from":"a","path":"/b"}]'],
    ['copy from the root', '{"a":1}', '[{"op":"copy","from":"","path":"/b"}]'],
    ['copy to the root', '{"a":{}}', '[{"op":"copy","from":"/a","path":""}]'],
    ['copy from a missing index', '{"l":[1]}', '[{"op":"copy","from":"/l/1","path":"/b"}]'],
    ['copy into a missing object', '{"a":1}', '[{"op":"copy","from":"/a","path":"/b/c"}]'],
    ['move without from', '{"a":1}', '[{"op":"move","path":"/a"}]'],
    ['move from a missing key', '{}', '[{"op":"move","from":"/a","path":"/b"}]'],
    ['move into itself', '{"a":{}}', '[{"op":"move","from":"/a","path":"/a/b"}]'],
    ['move from the root', '{"a":1}', '[{"op":"move","from":"","path":"/b"}]'],
    ['add at the root', '{}', '[{"op":"add","path":"","value":{}}]'],
    ['add into a missing object', '{}', '[{"op":"add","path":"/a/b","value":1}]'],
    ['add into a null', '{"a":null}', '[{"op":"add","path":"/a/b","value":1}]'],
    ['add into a scalar', '{"a":"x"}', '[{"op":"add","path":"/a/b","value":1}]'],
    ['add beyond the end', '{"l":[1]}', '[{"op":"add","path":"/l/2","value":1}]'],
    ['add before the start', '{"l":[1]}', '[{"op":"add","path":"/l/-3","value":1}]'],
    ['add at an invalid index', '{"l":[1]}', '[{"op":"add","path":"/l/1e0","value":1}]'],
    ['add at an empty index', '{"l":[1]}', '[{"op":"add","path":"/l/","value":1}]'],
    ['add at the length of an array', '{"l":[1]}', '[{"op":"add","path":"/l/length","value":1}]'],
    ['replace beyond the end', '{"l":[1]}', '[{"op":"replace","path":"/l/1","value":1}]'],
    ['replace at the index -', '{"l":[1]}', '[{"op":"replace","path":"/l/-","value":1}]'],
    ['replace in a missing object', '{}', '[{"op":"replace","path":"/a/b","value":1}]'],
    ['replace the root without a value', '{}', '[{"op":"replace","path":""}]'],
    ['remove a missing key', '{}', '[{"op":"remove","path":"/a"}]'],
    ['remove an inherited name', '{}', '[{"op":"remove","path":"/toString"}]'],
    ['remove a missing index', '{"l":[1]}', '[{"op":"remove","path":"/l/1"}]'],
    ['remove the index -', '{"l":[1]}', '[{"op":"remove","path":"/l/-"}]'],
    ['remove the root', '{}', '[{"op":"remove","path":""}]'],
    ['test a missing key against a value', '{}', '[{"op":"test","path":"/a","value":""}]'],
    ['test a missing index against null', '{"l":[1]}', '[{"op":"test","path":"/l/1","value":null}]'],
    ['test without a value', '{"a":1}', '[{"op":"test","path":"/a"}]'],
    ['test a number against its text', '{"a":1}', '[{"op":"test","path":"/a","value":"1"}]'],
    ['test against an inherited name', '{"a":{}}', '[{"op":"test","path":"/a","value":{"toString":null}}]'],
    ['test the root', '{"a":1}', '[{"op":"test","path":"","value":{}}]'],
  ];

  it.each(cases)('fails with the generic 422 error: %s', (_name, document, patch) => {
    const error = failureOf(() => patched(json(document), json(patch)));
    expect([error.code, error.reason, error.message, error.status.details]).toEqual([422, 'Invalid', GENERIC, {}]);
  });

  it('fails if the copied bytes exceed the limit', () => {
    const size = MAX_COPIED_BYTES / 2;
    const copies = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'copy', from: '/a', path: '/c' },
    ];
    expect(Object.keys(patched({ a: 'x'.repeat(size - 2) }, copies) as object)).toEqual(['a', 'b', 'c']);
    expect(failureOf(() => patched({ a: 'x'.repeat(size - 1) }, copies)).code).toBe(422);
  });

  it('does not measure a copied value beyond the limit', () => {
    const big = '\u00e9'.repeat(1_000_000);
    const document = { a: Array.from({ length: 300 }, () => big) };
    const spent = cpuTimer();
    expect(failureOf(() => patched(document, [{ op: 'copy', from: '/a', path: '/b' }])).code).toBe(422);
    expect(spent()).toBeLessThan(1000);
  });

  it('counts copied bytes in the encoding of the server', () => {
    // {"<":[1,null]} is written with an escape of six bytes: 2 braces, 8 for the key, a colon, 8 for the list.
    const one = 19;
    const room = 'x'.repeat(MAX_COPIED_BYTES - one - 2);
    const copies = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'copy', from: '/big', path: '/c' },
    ];
    const a = { '<': [1, null] };
    expect(() => patched({ a, big: room }, copies)).not.toThrow();
    expect(failureOf(() => patched({ a, big: `${room}x` }, copies)).code).toBe(422);
  });
});

describe('parseJsonPatch', () => {
  const strict = 'error decoding patch: json: cannot unmarshal';
  const shapes: readonly (readonly [body: string, checked: string, ignored: string])[] = [
    [
      '{}',
      `${strict} object into Go value of type []handlers.jsonPatchOp`,
      'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    ],
    [
      '"str"',
      `${strict} string into Go value of type []handlers.jsonPatchOp`,
      'json: cannot unmarshal string into Go value of type jsonpatch.Patch',
    ],
    [
      'true',
      `${strict} bool into Go value of type []handlers.jsonPatchOp`,
      'json: cannot unmarshal bool into Go value of type jsonpatch.Patch',
    ],
    [
      '["a"]',
      `${strict} string into Go value of type handlers.jsonPatchOp`,
      'json: cannot unmarshal string into Go value of type jsonpatch.Operation',
    ],
    [
      '[{}, [], 1]',
      `${strict} array into Go value of type handlers.jsonPatchOp`,
      'json: cannot unmarshal array into Go value of type jsonpatch.Operation',
    ],
    ['[{"op":1}]', `${strict} number into Go struct field jsonPatchOp.op of type string`, GENERIC],
    ['[{"path":{},"op":1}]', `${strict} object into Go struct field jsonPatchOp.path of type string`, GENERIC],
    [
      '[{"op":"nonsense"},{"from":[]}]',
      `${strict} array into Go struct field jsonPatchOp.from of type string`,
      GENERIC,
    ],
  ];

  it.each(shapes)('rejects %s because of its type', (body, checked, ignored) => {
    const error = failureOf(() => parseJsonPatch(json(body)));
    expect([error.code, error.message]).toEqual([400, checked]);
    expect(failureOf(() => parseJsonPatch(json(body), { fieldValidation: 'Strict' })).message).toBe(checked);
    expect(failureOf(() => parseJsonPatch(json(body), { fieldValidation: 'Ignore' })).message).toBe(ignored);
  });

  it('accepts at most 10000 operations', () => {
    const error = failureOf(() => parseJsonPatch(Array(10_001).fill({})));
    expect([error.code, error.message]).toEqual([
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ]);
    expect(failureOf(() => parseJsonPatch(Array(10_000).fill({}))).code).toBe(422);
    const harmless = { op: 'test', path: '/a', value: null };
    expect(parseJsonPatch(Array(10_000).fill(harmless)).operations).toHaveLength(10_000);
  });

  it('returns unknown fields as findings unless fieldValidation is Ignore', () => {
    const body = json(
      '[{"op":"remove","path":"/a"},{"op":"remove","path":"/b","Op":"x","e\\"f":1,"value":{"free":1}}]',
    );
    const findings = ['json patch unknown field "[1].Op"', 'json patch unknown field "[1].e\\"f"'];
    expect(parseJsonPatch(body).findings).toEqual(findings);
    expect(parseJsonPatch(body, { fieldValidation: 'Strict' }).findings).toEqual(findings);
    expect(parseJsonPatch(body, { fieldValidation: 'Ignore' }).findings).toEqual([]);
  });

  it('returns at most 100 findings', () => {
    expect(parseJsonPatch(Array(200).fill({ op: 'remove', path: '/a', x: 1 })).findings).toHaveLength(100);
  });
});

describe('sharing and safety', () => {
  it('shares unopened parts of the document and of the patch', () => {
    const document = { a: { b: [1], c: { deep: {} } }, d: { e: {} } };
    const value = { given: {} };
    const result = patched(document, [{ op: 'add', path: '/a/b/-', value }]) as typeof document;
    expect(result.a.b).toEqual([1, value]);
    expect(result.a.c).toBe(document.a.c);
    expect(result.d).toBe(document.d);
    expect(result.a.b[1]).toBe(value);
  });

  it('changes neither the document nor the patch', () => {
    const document = { a: { b: [1, 2] } };
    const patch = [
      { op: 'replace', path: '/a', value: { b: [3] } },
      { op: 'add', path: '/a/b/-', value: 4 },
      { op: 'remove', path: '/a/b/0' },
    ];
    expect(patched(document, patch)).toEqual({ a: { b: [4] } });
    expect(document).toEqual({ a: { b: [1, 2] } });
    expect(patch[0]).toEqual({ op: 'replace', path: '/a', value: { b: [3] } });
  });

  it('sorts the keys of opened objects only', () => {
    const document = { z: { y: 1, x: 1 }, b: { n: 1, m: { l: 1, k: 1 } }, t: { v: 1, u: 1 } };
    const patch = [
      { op: 'test', path: '/t/v', value: 1 },
      { op: 'add', path: '/b/a', value: { q: 1, p: 1 } },
    ];
    expect(JSON.stringify(patched(document, patch))).toBe(
      '{"b":{"a":{"q":1,"p":1},"m":{"l":1,"k":1},"n":1},"t":{"u":1,"v":1},"z":{"y":1,"x":1}}',
    );
    expect(JSON.stringify(patched(document, []))).toBe(
      '{"b":{"n":1,"m":{"l":1,"k":1}},"t":{"v":1,"u":1},"z":{"y":1,"x":1}}',
    );
  });

  it.each(['__proto__', 'constructor', 'prototype'])('treats %s as an ordinary key', (key) => {
    const document = json(`{"data":{"${key}":{"a":1},"b":2}}`);
    const text = (patch: unknown) => JSON.stringify(patched(document, patch));
    const at = (more: string) => `/data/${key}${more}`;
    expect(text([{ op: 'add', path: '/data/c', value: 3 }])).toContain(`"${key}":{"a":1}`);
    expect(text([{ op: 'add', path: at('/c'), value: 3 }])).toContain(`"${key}":{"a":1,"c":3}`);
    expect(text([{ op: 'replace', path: at(''), value: 3 }])).toContain(`"${key}":3`);
    expect(text([{ op: 'remove', path: at('') }])).toBe('{"data":{"b":2}}');
    expect(text([{ op: 'add', path: `/${key}`, value: { polluted: 1 } }])).toContain(`"${key}":{"polluted":1}`);
    expect(text([{ op: 'copy', from: at(''), path: `/${key}` }])).toContain(`"${key}":{"a":1}`);
    expect(text([{ op: 'move', from: at(''), path: `/${key}` }])).toContain(`"${key}":{"a":1}`);
    expect(text([{ op: 'test', path: at(''), value: { a: 1 } }])).toContain(`"${key}":{"a":1}`);
    expect(failureOf(() => patched({}, [{ op: 'add', path: `/${key}/polluted`, value: 1 }])).code).toBe(422);
    expect(failureOf(() => patched({}, [{ op: 'remove', path: `/${key}` }])).code).toBe(422);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reaches no prototype through constructor.prototype', () => {
    const patch = [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }];
    expect(failureOf(() => patched({}, patch)).code).toBe(422);
    expect(patched(json('{"constructor":{"prototype":{}}}'), patch)).toEqual(
      json('{"constructor":{"prototype":{"polluted":1}}}'),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

/** A case of the public suite json-patch-tests. */
interface Vector {
  readonly doc: unknown;
  readonly patch: readonly unknown[];
  readonly expected?: unknown;
  readonly fails?: boolean;
}

/** Deviations of the server from the RFC: the result or failure, and the reason. */
const DEVIATIONS: Readonly<Record<string, { readonly result?: unknown; readonly why: string }>> = {
  'tests 11': { why: 'add at the root fails' },
  'tests 12': { why: 'add at the root fails' },
  'tests 19': { result: { bar: [1, 2, '5'] }, why: 'negative indexes count from the end' },
  'tests 63': { why: 'add at the root fails' },
  'tests 77': { result: [1, null], why: 'add without a value adds null' },
  'tests 78': { result: [null], why: 'replace without a value puts null' },
  'tests 82': { result: { foo: null }, why: 'copy from a missing key copies null' },
  'tests 87': { result: ['foo', 'bar'], why: 'leading zeros are accepted' },
  'tests 88': { result: ['foo', 'bar'], why: 'leading zeros are accepted' },
};

/** Vectors that the suite disables and that do not concern a server: duplicate keys, scalars as documents. */
const OUT_OF_SCOPE: ReadonlySet<string> = new Set(['spec_tests 13', 'tests 10', 'tests 85']);

describe('the public json-patch suite', () => {
  const suite = readVectors('json-patch') as Record<string, Vector[]>;
  const vectors = Object.entries(suite).flatMap(([file, list]) =>
    list.map((vector, index) => ({ id: `${file} ${index}`, vector, patch: JSON.stringify(vector.patch) })),
  );
  const inScope = vectors.filter(({ id }) => !OUT_OF_SCOPE.has(id));
  const conforming = inScope.filter(({ id }) => !Object.hasOwn(DEVIATIONS, id));

  it('has 112 cases with named deviations', () => {
    expect(vectors.length).toBe(112);
    expect(inScope.length - conforming.length).toBe(Object.keys(DEVIATIONS).length);
  });

  it.each(conforming)('passes case $id: $patch', ({ vector }) => {
    if (vector.fails === true) {
      expect(failureOf(() => patched(vector.doc, vector.patch)).code).toBe(422);
    } else {
      // A vector without a result only requires that the patch applies.
      const result = patched(vector.doc, vector.patch);
      expect(result).toEqual(vector.expected ?? vector.doc);
    }
  });

  const deviating = inScope.flatMap(({ id, vector }) => {
    const departure = DEVIATIONS[id];
    return departure === undefined ? [] : [{ id, vector, ...departure }];
  });

  it.each(deviating)('deviates from the RFC in case $id: $why', ({ vector, result }) => {
    if (result === undefined) expect(failureOf(() => patched(vector.doc, vector.patch)).code).toBe(422);
    else expect(patched(vector.doc, vector.patch)).toEqual(result);
  });
});
