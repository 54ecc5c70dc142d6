/**
 * Merge patch: tables of document, patch and result, the failures by code and text, and the promises about the
 * document. Recorded responses are compared in recorded.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { PatchDecodeOptions } from '../../../src/merge/merge-patch.js';
import { applyMergePatch, sortKeys } from '../../../src/merge/merge-patch.js';
import { StatusError } from '../../../src/meta/errors.js';
import { deepFreeze, isRecord } from '../../../src/util/json.js';

function merged(document: unknown, patch: unknown, options?: PatchDecodeOptions): unknown {
  if (!isRecord(document)) throw new Error('a document is an object');
  return applyMergePatch(deepFreeze(document), deepFreeze(patch), options);
}

/** Parses JSON, because `__proto__` in an object literal would not be a key. */
const json = (text: string): unknown => JSON.parse(text);

describe('applyMergePatch', () => {
  const cases: readonly (readonly [name: string, document: string, patch: string, result: string])[] = [
    // The examples of RFC 7386, as far as the document is an object.
    ['a changed key', '{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['a new key', '{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['a deleted key', '{"a":"b"}', '{"a":null}', '{}'],
    ['one deleted key of two', '{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['a scalar over an array', '{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['an array over a scalar', '{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['a nested change', '{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['an array over an array', '{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['a null in the document', '{"e":null}', '{"a":1}', '{"a":1,"e":null}'],
    ['an object over an array', '{"a":[1]}', '{"a":{"b":1,"c":null}}', '{"a":{"b":1}}'],
    ['nested nulls of a new key', '{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    // Where the server differs from the RFC.
    ['an empty patch', '{"a":1}', '{}', '{"a":1}'],
    ['a missing key deleted', '{"a":1}', '{"b":null}', '{"a":1}'],
    ['a change inside a null', '{"a":null}', '{"a":{"b":1,"c":null}}', '{"a":{"b":1}}'],
    ['nulls as elements of a new array', '{}', '{"a":[1,null,[null]]}', '{"a":[1,null,[null]]}'],
    ['nulls inside elements of a new array', '{}', '{"a":[{"b":null,"c":1}]}', '{"a":[{"c":1}]}'],
    ['nulls inside elements over an array', '{"a":[]}', '{"a":[{"b":null}]}', '{"a":[{}]}'],
    ['nulls inside elements over an object', '{"a":{}}', '{"a":[{"b":null}]}', '{"a":[{"b":null}]}'],
  ];

  it.each(cases)('applies a merge patch: %s', (_name, document, patch, result) => {
    expect(merged(json(document), json(patch))).toEqual(json(result));
  });
});

describe('applyMergePatch errors', () => {
  const target = 'into Go value of type map[string]interface {}';
  const cases: readonly (readonly [body: string, checked: string])[] = [
    ['[]', `error decoding patch: json: cannot unmarshal array ${target}`],
    ['"str"', `error decoding patch: json: cannot unmarshal string ${target}`],
    ['5', `error decoding patch: json: cannot unmarshal number ${target}`],
    ['true', `error decoding patch: json: cannot unmarshal bool ${target}`],
    ['null', 'Invalid JSON Patch'],
  ];

  it.each(cases)('rejects the patch %s', (body, message) => {
    for (const options of [undefined, { fieldValidation: 'Warn' }, { fieldValidation: 'Strict' }] as const) {
      const error = failureOf(() => merged({}, json(body), options));
      expect([error.code, error.reason, error.message]).toEqual([400, 'BadRequest', message]);
    }
  });

  it.each(['null', '5', '"str"', 'true'])('rejects the patch %s also when fieldValidation is Ignore', (body) => {
    const error = failureOf(() => merged({}, json(body), { fieldValidation: 'Ignore' }));
    expect([error.code, error.message]).toEqual([400, 'Invalid JSON Patch']);
  });

  it('replaces the document by an array when fieldValidation is Ignore', () => {
    const result = merged({ a: 1 }, [null, { b: null, c: 1 }], { fieldValidation: 'Ignore' });
    expect(result).toEqual([null, { c: 1 }]);
  });
});

describe('sharing and order', () => {
  it('shares unopened parts', () => {
    const document = { a: { b: { c: 1 }, d: {} }, e: { f: {} } };
    const result = merged(document, { a: { b: { c: 2 } } }) as typeof document;
    expect(result.a.b).toEqual({ c: 2 });
    expect(result.a.d).toBe(document.a.d);
    expect(result.e).toBe(document.e);
    expect(document.a.b.c).toBe(1);
  });

  it('sorts the keys of opened objects only', () => {
    const document = { z: { y: 1, x: 1 }, b: { n: 1, m: { l: 1, k: 1 } } };
    expect(JSON.stringify(merged(document, { b: { a: { q: 1, p: 1 } } }))).toBe(
      '{"b":{"a":{"p":1,"q":1},"m":{"l":1,"k":1},"n":1},"z":{"y":1,"x":1}}',
    );
  });

  it('returns a record whose keys are already sorted', () => {
    const record = { A: 1, a: 2, b: 3 };
    expect(sortKeys(record)).toBe(record);
    expect(Object.keys(sortKeys({ b: 1, a: 1, A: 1 }))).toEqual(['A', 'a', 'b']);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('treats %s as an ordinary key', (key) => {
    const document = json(`{"z":1,"${key}":{"a":1}}`);
    const text = (patch: string, start = document) => JSON.stringify(merged(start, json(patch)));
    expect(text('{"b":2}')).toContain(`"${key}":{"a":1}`);
    expect(text(`{"${key}":{"polluted":1}}`)).toContain(`"${key}":{"a":1,"polluted":1}`);
    expect(text(`{"${key}":{"polluted":1}}`, {})).toBe(`{"${key}":{"polluted":1}}`);
    expect(text(`{"n":{"${key}":{"polluted":1,"x":null}}}`, {})).toBe(`{"n":{"${key}":{"polluted":1}}}`);
    expect(text(`{"${key}":null}`)).toBe('{"z":1}');
    expect(text(`{"${key}":null}`, {})).toBe('{}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

function failureOf(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (StatusError.is(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
