/** Decoding of documents: types, presence, defaults, order and findings. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  anything,
  boolean,
  bytes,
  defaulted,
  int32,
  int64,
  intOrString,
  list,
  map,
  microTime,
  namedString,
  number,
  objectNode,
  optional,
  pointer,
  quantity,
  rawExtension,
  type Shape,
  string,
  struct,
  time,
} from '../../../src/schema/declare.js';
import { decode } from '../../../src/schema/decode.js';
import { DecodeError } from '../../../src/schema/decode-scalar.js';
import { objectFromZod } from '../../../src/schema/from-zod.js';
import type { ObjectNode } from '../../../src/schema/schema-node.js';
import { parseJson } from '../../../src/text/json/parse-json.js';
import { NumberText } from '../../../src/util/json.js';

/** The value that a struct with these fields decodes to. */
function decoded(shape: Shape, value: unknown): Record<string, unknown> {
  return decode(objectNode('Thing', shape), { value }).value;
}

/** The same of a document. */
function decodedDocument(shape: z.ZodRawShape, value: unknown): Record<string, unknown> {
  return decode(objectFromZod(shape, 'Thing'), { value }).value;
}

/** A document whose unknown fields are preserved. */
function looseDocument(shape: z.ZodRawShape): ObjectNode {
  return { ...objectFromZod(shape, 'Thing'), preserveUnknown: true };
}

describe('presence in a struct', () => {
  test('sets a required field that was not sent', () => {
    const inner = struct('Inner', { count: int32(), note: optional(string()) });
    const shape = {
      text: string(),
      on: boolean(),
      list: list(string()),
      map: map(string()),
      inner,
    };
    expect(decoded(shape, {})).toEqual({ text: '', on: false, list: null, map: null, inner: { count: 0 } });
  });

  test('omits an optional field that is empty', () => {
    const shape = {
      text: optional(string()),
      count: optional(int32()),
      on: optional(boolean()),
      list: optional(list(string())),
      map: optional(map(string())),
    };
    expect(decoded(shape, { text: '', count: 0, on: false, list: [], map: {} })).toEqual({});
    const full = { text: 'x', count: 1, on: true, list: [''], map: { k: '' } };
    expect(decoded(shape, full)).toEqual(full);
  });

  test('keeps a pointer field that was sent, empty or not', () => {
    const shape = { text: pointer(string()), count: pointer(int32()), inner: pointer(struct('Inner', {})) };
    expect(decoded(shape, { text: '', count: 0, inner: {} })).toEqual({ text: '', count: 0, inner: {} });
    expect(decoded(shape, {})).toEqual({});
  });

  test('treats null as absent', () => {
    const shape = { text: string(), given: pointer(string()), list: optional(list(string())) };
    expect(decoded(shape, { text: null, given: null, list: null })).toEqual({ text: '' });
  });

  test('replaces null inside a list or a map by the zero value of its type', () => {
    const shape = {
      list: list(string()),
      map: map(int32()),
      things: list(struct('T', { a: string() })),
    };
    expect(decoded(shape, { list: [null], map: { k: null }, things: [null] })).toEqual({
      list: [''],
      map: { k: 0 },
      things: [{ a: '' }],
    });
  });

  test('treats undefined as an absent key in objects and maps', () => {
    const shape = { text: optional(string()), map: map(string()) };
    expect(decoded(shape, { text: undefined, map: { k: undefined, l: 'x' } })).toEqual({ map: { l: 'x' } });
  });
});

describe('presence in a document', () => {
  test('stores the document as sent, including empty values', () => {
    const shape = { text: z.string().optional(), list: z.array(z.string()).optional(), inner: z.object({}).optional() };
    const sent = { text: '', list: [], inner: {} };
    expect(decodedDocument(shape, sent)).toEqual(sent);
    expect(decodedDocument(shape, {})).toEqual({});
  });

  test('drops null unless it is allowed', () => {
    const shape = { plain: z.string().optional(), nullable: z.string().nullable().optional() };
    expect(decodedDocument(shape, { plain: null, nullable: null })).toEqual({ nullable: null });
  });

  test('keeps a value of the wrong type for validation', () => {
    const shape = { count: z.number(), inner: z.object({ a: z.string() }), list: z.array(z.string()) };
    const sent = { count: 'three', inner: 5, list: { not: 'a list' } };
    expect(decodedDocument(shape, sent)).toEqual(sent);
  });
});

describe('defaults', () => {
  const shape = { size: z.string().default('m'), parts: z.array(z.string()).default(['a']) };

  test('applies defaults to absent and null fields', () => {
    expect(decodedDocument(shape, {})).toEqual({ size: 'm', parts: ['a'] });
    expect(decodedDocument(shape, { size: null, parts: null })).toEqual({ size: 'm', parts: ['a'] });
    expect(decodedDocument(shape, { size: 's', parts: [] })).toEqual({ size: 's', parts: [] });
  });

  test('applies a default to an empty struct field that would be omitted on the wire', () => {
    expect(decoded({ type: defaulted(namedString('T'), 'Opaque') }, { type: '' })).toEqual({
      type: 'Opaque',
    });
  });

  test('copies defaults for each object', () => {
    const first = decodedDocument(shape, {});
    (first['parts'] as string[]).push('b');
    expect(decodedDocument(shape, {})).toEqual({ size: 'm', parts: ['a'] });
  });

  test('applies defaults inside an object only if the object is present', () => {
    const nested = { spec: z.object({ size: z.string().default('m') }).optional() };
    expect(decodedDocument(nested, {})).toEqual({});
    expect(decodedDocument(nested, { spec: {} })).toEqual({ spec: { size: 'm' } });
  });

  test('includes the defaults of its fields in the default of an object', () => {
    const nested = { spec: z.object({ size: z.string().default('m') }).default({ size: 'l' }) };
    expect(decodedDocument(nested, {})).toEqual({ spec: { size: 'l' } });
  });
});

describe('order', () => {
  test('orders fields as in the schema and sorts map keys', () => {
    const value = decoded({ b: string(), a: string(), map: map(string()) }, { a: '1', map: { z: '', y: '' }, b: '2' });
    expect(Object.keys(value)).toEqual(['b', 'a', 'map']);
    expect(Object.keys(value['map'] as object)).toEqual(['y', 'z']);
  });

  test('puts unknown fields of a loose document after the known ones', () => {
    const node = looseDocument({ known: z.string() });
    expect(Object.keys(decode(node, { value: { z: 1, known: '', a: 2 } }).value)).toEqual(['known', 'z', 'a']);
  });
});

describe('types', () => {
  const spec = {
    spec: struct('ThingSpec', { count: int32(), total: int64(), names: list(string()), when: pointer(time()) }),
  };

  test.each([
    [
      'text for a number',
      { spec: { count: 'x' } },
      'json: cannot unmarshal string into Go struct field ThingSpec.spec.count of type int32',
    ],
    [
      'an object for a list',
      { spec: { names: {} } },
      'json: cannot unmarshal object into Go struct field ThingSpec.spec.names of type []string',
    ],
    [
      'a number in a list of text',
      { spec: { names: [5] } },
      'json: cannot unmarshal number into Go struct field ThingSpec.spec.names of type string',
    ],
    [
      'a list for an object',
      { spec: [] },
      'json: cannot unmarshal array into Go struct field Thing.spec of type v1.ThingSpec',
    ],
    [
      'a boolean for an object',
      { spec: true },
      'json: cannot unmarshal bool into Go struct field Thing.spec of type v1.ThingSpec',
    ],
    [
      'a fraction for an integer',
      { spec: { count: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.count of type int32',
    ],
    [
      'an integer beyond 32 bits',
      { spec: { count: 2 ** 31 } },
      'json: cannot unmarshal number 2147483648 into Go struct field ThingSpec.spec.count of type int32',
    ],
    [
      'an integer beyond 64 bits',
      { spec: { total: 2n ** 63n } },
      'json: cannot unmarshal number 9223372036854775808 into Go struct field ThingSpec.spec.total of type int64',
    ],
    [
      'a number for a time',
      { spec: { when: 5 } },
      'json: cannot unmarshal number into Go struct field ThingSpec.spec.when of type string',
    ],
    ['a list for the whole document', [], 'json: cannot unmarshal array into Go value of type v1.Thing'],
  ])('rejects %s with the message of the decoder', (_what, value, message) => {
    expect(() => decoded(spec, value)).toThrow(expect.objectContaining({ name: 'DecodeError', message }));
  });

  test.each([
    ['an integer', { n: int32() }, 'int32'],
    ['a large integer', { n: int64() }, 'int64'],
    ['an integer or text', { n: intOrString() }, 'int32'],
  ])('requires that %s is written without a point or an exponent', (_what, shape, goType) => {
    for (const text of ['3.0', '4e0']) {
      expect(() => decoded(shape, { n: new NumberText(text) })).toThrow(
        `json: cannot unmarshal number ${text} into Go struct field Thing.n of type ${goType}`,
      );
    }
  });

  test('ignores the spelling of numbers except for integers and quantities', () => {
    const shape = { free: rawExtension(), real: number(), amount: quantity() };
    const value = new NumberText('1e3');
    expect(decoded(shape, { free: [value], real: value, amount: value })).toEqual({
      free: [1000],
      real: 1000,
      amount: '1e3',
    });
  });

  test('accepts the smallest and the largest 32-bit integers', () => {
    expect(decoded({ low: int32(), high: int32() }, { low: -(2 ** 31), high: 2 ** 31 - 1 })).toEqual({
      low: -2147483648,
      high: 2147483647,
    });
  });

  test('keeps an integer beyond the precision of a double exact', () => {
    expect(decoded({ total: int64() }, { total: 2n ** 62n })).toEqual({ total: 4611686018427387904n });
  });

  test('stores bytes in canonical base64', () => {
    expect(decoded({ data: bytes() }, { data: 'YWJj\nZA==' })).toEqual({ data: 'YWJjZA==' });
    expect(() => decoded({ data: bytes() }, { data: 'not base64' })).toThrow('illegal base64 data at input byte 3');
    expect(() => decoded({ data: bytes() }, { data: 'YQ==YQ==' })).toThrow('illegal base64 data at input byte 4');
  });

  test('accepts bytes as a list of numbers', () => {
    expect(decoded({ data: bytes() }, { data: [97, 98, 255] })).toEqual({ data: 'YWL/' });
    expect(decoded({ data: bytes() }, { data: [null, 97] })).toEqual({ data: 'AGE=' });
  });

  test.each([
    [300, 'number 300'],
    [-1, 'number -1'],
    [1.5, 'number 1.5'],
    ['x', 'string'],
    [true, 'bool'],
    [[1], 'array'],
    [new NumberText('1.0'), 'number 1.0'],
  ])('rejects %j in a list of bytes', (element, what) => {
    expect(() => decoded({ data: bytes() }, { data: [97, element] })).toThrow(
      new RegExp(`json: cannot unmarshal ${what} into Go struct field .* of type uint8`),
    );
  });

  test('stores times in UTC and whole seconds, and micro times with six digits', () => {
    const shape = { at: time(), exactly: microTime() };
    expect(decoded(shape, { at: '2030-01-01T02:00:00.9+02:00', exactly: '2030-01-01T00:00:00.123456Z' })).toEqual({
      at: '2030-01-01T00:00:00Z',
      exactly: '2030-01-01T00:00:00.123456Z',
    });
  });
});

describe('the decoded object', () => {
  test('decodes to an object that shares nothing with the document', () => {
    const sent = { list: ['a'], any: { deep: [1] } };
    const value = decoded({ list: list(string()), any: anything() }, sent);
    sent.list.push('b');
    sent.any.deep.push(2);
    expect(value).toEqual({ list: ['a'], any: { deep: [1] } });
  });

  test('rejects a document that is not a plain object', () => {
    const sent: unknown = Object.create({ text: 'inherited' });
    expect(() => decoded({ text: optional(string()) }, sent)).toThrow(DecodeError);
    const bare: unknown = Object.assign(Object.create(null), { text: 'own' });
    expect(decoded({ text: optional(string()) }, bare)).toEqual({ text: 'own' });
  });

  test('accepts a key named __proto__', () => {
    const { texts } = decoded({ texts: map(string()) }, { texts: JSON.parse('{"__proto__":"x"}') });
    expect(Object.entries(texts as object)).toEqual([['__proto__', 'x']]);
    expect(Object.getPrototypeOf(texts)).toBe(Object.prototype);
  });
});

describe('findings', () => {
  const schema = objectNode('Thing', {
    name: optional(string()),
    spec: optional(
      struct('Spec', {
        a: optional(string()),
        list: optional(list(struct('Item', { x: optional(string()) }))),
      }),
    ),
    labels: optional(map(string())),
  });
  const findings = (text: string) => decode(schema, parseJson(text)).findings;

  test('returns no findings for a document without unknown and duplicate fields', () => {
    expect(findings('{"name":"a","spec":{"a":"b","list":[{"x":"y"}]},"labels":{"anything":"goes"}}')).toEqual([]);
  });

  test('reports unknown fields by their path', () => {
    expect(findings('{"nme":"a","spec":{"b":1,"list":[{"x":"","y":2}]}}')).toEqual([
      'unknown field "nme"',
      'unknown field "spec.b"',
      'unknown field "spec.list[0].y"',
    ]);
  });

  test('reports duplicate fields by their path', () => {
    expect(findings('{"name":"a","name":"b","labels":{"k":"1","k":"2"}}')).toEqual([
      'duplicate field "name"',
      'duplicate field "labels.k"',
    ]);
  });

  test('reports findings in document order', () => {
    expect(findings('{"z":1,"labels":{"k":"1","k":"2"},"a":2,"spec":{"q":1}}')).toEqual([
      'unknown field "z"',
      'duplicate field "labels.k"',
      'unknown field "a"',
      'unknown field "spec.q"',
    ]);
  });

  test('reports each finding once', () => {
    expect(findings('{"name":"a","name":"b","name":"c"}')).toEqual(['duplicate field "name"']);
    // The second value is reported before the fields inside it.
    expect(findings('{"spec":{"a":"x"},"spec":{"c":1},"spec":{"b":1}}')).toEqual([
      'duplicate field "spec"',
      'unknown field "spec.c"',
      'unknown field "spec.b"',
    ]);
  });

  test('reports findings in every value of a repeated field', () => {
    expect(findings('{"spec":{"b":1},"spec":{"a":"x"}}')).toEqual(['unknown field "spec.b"', 'duplicate field "spec"']);
  });

  test('reports at most one hundred findings', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, 1]));
    expect(findings(JSON.stringify(many))).toHaveLength(100);
  });

  test('returns no findings for fields that a loose document preserves', () => {
    const loose = looseDocument({ known: z.string() });
    expect(decode(loose, { value: { known: '', more: { and: 'more' } } }).findings).toEqual([]);
  });

  test('keeps the last of repeated scalars and merges repeated objects', () => {
    const { value } = decode(schema, parseJson('{"name":"a","name":"b","labels":{"k":"1"},"labels":{"l":"2"}}'));
    expect(value).toEqual({ name: 'b', labels: { k: '1', l: '2' } });
  });
});

describe('the order of fields in the document', () => {
  const shape = {
    first: string(),
    second: optional(int32()),
    third: struct('Third', { a: optional(string()), b: boolean() }),
    fourth: optional(list(string())),
    fifth: list(string()),
  };

  test('returns the same result and order for any order of fields in the document', () => {
    const given = { second: 2, third: { a: 'x' }, fourth: ['y'] };
    const turned = { fourth: ['y'], third: { a: 'x' }, second: 2 };
    const expected = '{"first":"","second":2,"third":{"a":"x","b":false},"fourth":["y"],"fifth":null}';
    expect([JSON.stringify(decoded(shape, given)), JSON.stringify(decoded(shape, turned))]).toEqual([
      expected,
      expected,
    ]);
  });

  test('reports the first of two errors in document order', () => {
    const [given, turned] = [
      { second: 'x', fourth: 1 },
      { fourth: 1, second: 'x' },
    ];
    expect(() => decoded(shape, given)).toThrow('Thing.second');
    expect(() => decoded(shape, turned)).toThrow('Thing.fourth');
  });

  test('treats properties that are not enumerable as absent', () => {
    for (const given of [
      { first: 'a', third: {} },
      { third: {}, first: 'a' },
    ]) {
      Object.defineProperty(given, 'second', { value: 2, enumerable: false });
      expect(decoded(shape, given)).toEqual({ first: 'a', third: { b: false }, fifth: null });
    }
  });
});

describe('several errors', () => {
  const nested = {
    map: optional(map(int32())),
    amount: optional(quantity()),
    last: optional(string()),
  };

  test('reports an error in a map in document order', () => {
    expect(() => decoded(nested, { map: { b: 'x', a: true } })).toThrow('cannot unmarshal string');
  });

  test('reports an error of a type with its own decoder first', () => {
    expect(() => decoded(nested, { last: 5, amount: 'much' })).toThrow('quantities must match the regular expression');
    expect(() => decoded(nested, { last: 5, amount: '1' })).toThrow('Thing.last');
  });
});
