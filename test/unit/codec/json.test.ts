/**
 * JSON codec: the reference server's error messages, parsing without loss, and the encoded text.
 */

import { describe, expect, test } from 'vitest';
import { cbor } from '../../../src/codec/cbor/index.js';
import type { EncodingSteps } from '../../../src/codec/codec.js';
import { bodySummary, jsonBody, jsonCodec } from '../../../src/codec/json.js';
import { encodeCached, encodeDocument, encodeJson, indentJson } from '../../../src/codec/json-encoder.js';
import { protobuf } from '../../../src/codec/protobuf/index.js';
import { yaml } from '../../../src/codec/yaml.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { BodyError } from '../../../src/protocol/body.js';
import { JsonSyntaxError, parseJson } from '../../../src/text/json/parse-json.js';
import { resultOf } from '../../../src/util/clock.js';
import { deepFreeze, NumberText } from '../../../src/util/json.js';
import { liveHeap } from '../../fixtures/live-heap.js';
import fc from '../../property/seeded.js';

const value = (text: string): unknown => parseJson(text).value;

describe('JSON syntax errors', () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['   ', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['{"a":1,', 'unexpected end of JSON input'],
    ['[1', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['x', `invalid character 'x' looking for beginning of value`],
    ['[,]', `invalid character ',' looking for beginning of value`],
    ['[1,]', `invalid character ']' looking for beginning of value`],
    ['{bad', `invalid character 'b' looking for beginning of object key string`],
    ['{"a":1,}', `invalid character '}' looking for beginning of object key string`],
    ['{"a"}', `invalid character '}' after object key`],
    ['{"a" "b"}', `invalid character '"' after object key`],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['{"a":1]', `invalid character ']' after object key:value pair`],
    ['[1 2]', `invalid character '2' after array element`],
    ['[1}', `invalid character '}' after array element`],
    ['{} {}', `invalid character '{' after top-level value`],
    ['1x', `invalid character 'x' after top-level value`],
    ['01', `invalid character '1' after top-level value`],
    ['not json', `invalid character 'o' in literal null (expecting 'u')`],
    ['tru', `invalid character ' ' in literal true (expecting 'e')`],
    ['falsy', `invalid character 'y' in literal false (expecting 'e')`],
    ['"a\nb"', `invalid character '\\n' in string literal`],
    ['"a\u0001b"', `invalid character '\\x01' in string literal`],
    ['"a\\nb\tc"', `invalid character '\\t' in string literal`],
    ['"\\x"', `invalid character 'x' in string escape code`],
    ['"\\', `invalid character ' ' in string escape code`],
    ['"\\u12g4"', `invalid character 'g' in \\u hexadecimal character escape`],
    ['"\\u12', `invalid character ' ' in \\u hexadecimal character escape`],
    ['-', `invalid character ' ' in numeric literal`],
    ['-x', `invalid character 'x' in numeric literal`],
    ['1.', `invalid character ' ' after decimal point in numeric literal`],
    ['[1.]', `invalid character ']' after decimal point in numeric literal`],
    ['1e', `invalid character ' ' in exponent of numeric literal`],
    ['[1e+]', `invalid character ']' in exponent of numeric literal`],
    [`'a'`, `invalid character '\\'' looking for beginning of value`],
    ['"a""', `invalid character '"' after top-level value`],
    ['\\', `invalid character '\\\\' looking for beginning of value`],
    // The reference scanner reads bytes and names the first byte of a character: é is c3 a9, the byte order mark ef bb bf.
    ['é', `invalid character 'Ã' looking for beginning of value`],
    ['\ufeff{}', `invalid character 'ï' looking for beginning of value`],
    ['[1\u{1f600}', `invalid character 'ð' after array element`],
    ['1e999', 'json: cannot unmarshal number 1e999 into Go value of type float64'],
  ])('rejects %j with: %s', (text, message) => {
    expect(() => parseJson(text)).toThrow(new JsonSyntaxError(message));
  });
});

describe('JSON parsing', () => {
  test('parses any document like JSON.parse', () => {
    const documents = fc.oneof(
      fc.json(),
      fc.jsonValue().map((any) => JSON.stringify(any, null, 1)),
    );
    fc.assert(
      fc.property(documents, (text) => {
        expect(rounded(value(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('rejects any text exactly when JSON.parse rejects it', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\n"',
      '"',
      '1',
      '-0.5e3',
      'null',
      'true',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        // JSON.parse returns Infinity for a number that is too large; parseJson rejects it.
        fc.pre(!/e\d{3}/.test(text));
        expect(accepts(parseJson, text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 1000 },
    );
  });

  test('keeps the earlier values of a repeated key in order', () => {
    const { value: parsed, duplicates } = parseJson('{"a":1,"b":{"c":1,"c":[2],"c":3},"a":null,"a":4}');
    const root = parsed as { b: object };
    expect(parsed).toEqual({ a: 4, b: { c: 3 } });
    expect(duplicates?.get(root)).toEqual(new Map([['a', [1, null]]]));
    expect(duplicates?.get(root.b)).toEqual(new Map([['c', [1, [2]]]]));
    expect(duplicates?.size).toBe(2);
  });

  test('reports no duplicates for a document without repeated keys', () => {
    expect(parseJson('[{"a":1},{"a":1}]')).not.toHaveProperty('duplicates');
  });

  test('parses __proto__ as an ordinary key, repeated or not', () => {
    const { value: parsed, duplicates } = parseJson('{"__proto__":{"x":1},"constructor":2,"__proto__":3}');
    expect(Object.entries(parsed as object)).toEqual([
      ['__proto__', 3],
      ['constructor', 2],
    ]);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect([...(duplicates?.values() ?? [])]).toEqual([new Map([['__proto__', [{ x: 1 }]]])]);
  });

  test('parses integers beyond the safe integers as bigint', () => {
    expect(value('[9007199254740991,9007199254740992,-9223372036854775808,18446744073709551616]')).toEqual([
      9007199254740991,
      9007199254740992n,
      -9223372036854775808n,
      18446744073709551616n,
    ]);
    expect(value('[1.5,1e20,0,-0.25,100000000000000000000.5]')).toEqual([1.5, 1e20, 0, -0.25, 1e20]);
  });

  test('keeps the spelling of numbers inside a document with keepSpelling', () => {
    const spelt = (text: string) => parseJson(text, { keepSpelling: true }).value;
    expect(spelt('[3.0,1e3,-0,1.5,0.50]')).toEqual([
      new NumberText('3.0'),
      new NumberText('1e3'),
      -0,
      1.5,
      new NumberText('0.50'),
    ]);
    expect(spelt('3.0')).toBe(3);
    expect(value('[3.0]')).toEqual([3]);
    expect(jsonBody('{"a":3.0}').read().value).toEqual({ a: new NumberText('3.0') });
  });

  test('combines surrogate pairs and replaces lone surrogates', () => {
    expect(value('"\\ud83d\\ude00"')).toBe('\u{1f600}');
    expect(value('"\\uD83Dx\\ude00"')).toBe('\ufffdx\ufffd');
    expect(value('"\\ud83d\\ud83d\\ude00"')).toBe('\ufffd\u{1f600}');
    expect(value('"\\ud83d\\n"')).toBe('\ufffd\n');
  });

  test('parses ten thousand levels and rejects one more', () => {
    expect(() => parseJson('['.repeat(10_000) + ']'.repeat(10_000))).not.toThrow();
    expect(() => parseJson('{"a":'.repeat(10_001))).toThrow(`invalid character '{' exceeded max depth`);
    expect(() => parseJson('['.repeat(10_001))).toThrow(`invalid character '[' exceeded max depth`);
  });
});

describe('JSON request body', () => {
  test('parses a body once when it is read', () => {
    const body = jsonBody('{"a":1}');
    expect(body.read().value).toEqual({ a: 1 });
    expect(body.read()).toBe(body.read());
  });

  test('throws the plain syntax error for an empty body', () => {
    expect(() => jsonBody('').read()).toThrow(new BodyError('unexpected end of JSON input'));
  });

  test('rejects a byte order mark', () => {
    const body = jsonCodec.body(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), kubernetesDialect);
    expect(() => body.read()).toThrow(BodyError);
  });

  test.each([
    ['', '<empty>'],
    ['   ', '202020'],
    ['{"apiVersion":', '{"apiVersion":'],
    ['{"apiVersion":5,"kind":"ConfigMap"}', '{"apiVersion":5,"kind":"Config ...'],
    ['[]', '5b5d'],
    [`x${'y'.repeat(40)}`, `78${'79'.repeat(29)} ...`],
    // The limit counts bytes, and a truncated character shows as one replacement character per byte.
    [`{"a":"${'x'.repeat(22)}€`, `{"a":"${'x'.repeat(22)}\ufffd\ufffd ...`],
    [`{"a":"${'é'.repeat(12)}`, `{"a":"${'é'.repeat(12)}`],
  ])('summarizes %j as %j', (text, summary) => {
    expect(bodySummary(text)).toBe(summary);
  });

  test('returns the JSON media types', () => {
    expect(jsonCodec.mediaType(kubernetesDialect)).toBe('application/json');
    expect(jsonCodec.stream?.mediaType(kubernetesDialect)).toBe('application/json;stream=watch');
  });
});

describe('JSON encoding', () => {
  test('encodes compact text without undefined keys and with HTML characters escaped', () => {
    expect(encodeJson({ a: '<b>&', c: undefined, '\u2028': ['\u2029', null, true] })).toBe(
      '{"a":"\\u003cb\\u003e\\u0026","\\u2028":["\\u2029",null,true]}',
    );
  });

  test('encodes bigints as integers at any depth', () => {
    expect(encodeJson({ a: [1n, { b: -9223372036854775808n, c: undefined }], d: '<', e: [] })).toBe(
      '{"a":[1,{"b":-9223372036854775808}],"d":"\\u003c","e":[]}',
    );
    expect(encodeJson([undefined, 2n])).toBe('[null,2]');
  });

  test('encodes a lone surrogate as the replacement character', () => {
    expect(encodeJson('\ud800x\\ud800')).toBe('"\\ufffdx\\\\ud800"');
  });

  test('encodes values nested deeper than the stack', () => {
    const text = `${'{"a":['.repeat(5000)}1${']}'.repeat(5000)}`;
    expect(encodeJson(value(text))).toBe(text);
  });

  test('parses any encoded document to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (any) => {
        expect(rounded(value(encodeJson(any)))).toEqual(JSON.parse(JSON.stringify(any)));
      }),
    );
  });

  test('encodes a frozen object once', () => {
    let reads = 0;
    const object = Object.freeze({
      get name() {
        reads++;
        return 'a';
      },
    });
    expect(encodeCached(object)).toBe('{"name":"a"}');
    expect(encodeCached(object)).toBe('{"name":"a"}');
    expect(reads).toBe(1);
  });

  test('encodes an object that is not frozen each time', () => {
    const object = { name: 'a' };
    encodeCached(object);
    object.name = 'b';
    expect(encodeCached(object)).toBe('{"name":"b"}');
  });

  test('encodes a table like its rows, with and without objects', () => {
    const object = deepFreeze({ kind: 'A', data: { a: 'b' } });
    const table = {
      kind: 'Table',
      columnDefinitions: null,
      rows: [
        { cells: ['a', 1], object },
        { cells: [], conditions: [{ type: 'Completed' }], object },
        { cells: ['b'], object: null },
      ],
    };
    const compact = { dialect: kubernetesDialect, pretty: false };
    expect(jsonCodec.encode(table as never, compact)).toBe(`${JSON.stringify(table)}\n`);
    expect(resultOf(jsonCodec.encodeSteps?.(table as never, compact) as never)).toEqual([`${JSON.stringify(table)}\n`]);
    const custom = { items: [deepFreeze({ cells: [1], object: { a: 1 }, spec: {} })], rows: [{}] };
    expect(resultOf(encodeDocument(custom)).join('')).toBe(JSON.stringify(custom));
  });

  test.each([
    ['JSON', jsonCodec, false],
    ['indented JSON', jsonCodec, true],
    ['YAML', yaml, false],
    ['CBOR', cbor, false],
    ['Protobuf', protobuf, false],
  ])('encodes a long list in steps: %s', (_name, codec, pretty) => {
    const options = { dialect: kubernetesDialect, pretty };
    const item = (name: string) => deepFreeze({ metadata: { name }, data: { a: '<b> '.repeat(2 ** 15) } });
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [item('a'), item('b'), item('c')] };
    const steps = codec.encodeSteps?.(list, options) as EncodingSteps;
    for (let count = 0; count < 3; count++) expect(steps.next()).toEqual({ done: false, value: undefined });
    const result = resultOf(steps);
    expect(Array.isArray(result) ? result.join('') : result).toEqual(codec.encode(list, options));
  });

  test('encodes a table with more escaped characters than one regular expression can replace', () => {
    const object = deepFreeze({ data: '<'.repeat(1e6) });
    const pieces = resultOf(encodeDocument({ rows: Array.from({ length: 70 }, () => ({ cells: [], object })) }));
    expect(pieces).toHaveLength(72);
    expect(pieces[1]?.length).toBeGreaterThan(6e6);
  });

  test('indents like JSON.stringify, also with special strings', () => {
    const object = deepFreeze({ a: [], b: {}, c: [1, { d: '{"x":[1,\\"' }], e: null });
    expect(indentJson(encodeJson(object))).toBe(JSON.stringify(object, null, 2));
    fc.assert(
      fc.property(fc.jsonValue(), (any) => {
        expect(indentJson(JSON.stringify(any))).toBe(JSON.stringify(any, null, 2));
      }),
    );
  });
});

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Converts bigints to the numbers that JSON.parse returns. */
function rounded(any: unknown): unknown {
  if (typeof any === 'bigint') return Number(any);
  if (Array.isArray(any)) return any.map(rounded);
  if (typeof any !== 'object' || any === null) return any;
  return Object.fromEntries(Object.entries(any).map(([key, inner]) => [key, rounded(inner)]));
}

test('a value does not keep the rest of its body in memory', () => {
  const before = liveHeap();
  const kept: unknown[] = [];
  for (let at = 0; at < 6; at++) {
    const values = {
      'a key that is long': `a value that is long ${at}`,
      escaped: 'a value with \n an escape',
      size: 1,
    };
    const body = jsonBody(JSON.stringify(values) + ' '.repeat(1e6));
    expect(body.read().value).toEqual(values);
    kept.push(body.read().value);
  }
  expect(liveHeap() - before).toBeLessThan(3e6);
  expect(kept).toHaveLength(6);
});
