/**
 * YAML decoding: YAML 1.1 values as JSON, error messages, duplicate keys, and hostile input. The expected values and
 * messages come from the reference server's decoder.
 */

import { describe, expect, test } from 'vitest';
import { yamlBody, yamlDocumentBody } from '../../../src/codec/yaml.js';
import { parseJson } from '../../../src/text/json/parse-json.js';
import { setOwn } from '../../../src/util/json.js';
import { liveHeap } from '../../fixtures/live-heap.js';
import fc from '../../property/seeded.js';
import { rejectionMessage } from './rejection-message.js';

const value = (text: string): unknown => yamlBody(text).read().value;
const repeated = (text: string): readonly string[] => yamlBody(text).repeatedKeys();

/** The error message without its common prefix. */
const fault = (text: string): string => rejectionMessage(text).replace('error converting YAML to JSON: yaml: ', '');

describe('YAML 1.1 scalars', () => {
  test.each<[string, unknown]>([
    ['', null],
    ['~', null],
    ['null', null],
    ['Null', null],
    ['nULL', 'nULL'],
    ['true', true],
    ['TRUE', true],
    ['tRUE', 'tRUE'],
    ['yes', true],
    ['On', true],
    ['y', true],
    ['Y', true],
    ['off', false],
    ['NO', false],
    ['n', false],
    ['5', 5],
    ['+5', 5],
    ['-5', -5],
    ['-0', 0],
    ['1_000', 1000],
    ['017', 15],
    ['0o17', 15],
    ['08', 8],
    ['0x1F', 31],
    ['0b11', 3],
    ['-0b11', -3],
    ['0b12', '0b12'],
    ['0x', '0x'],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551615', 18446744073709551615n],
    ['18446744073709551616', 18446744073709552000],
    ['0x8000000000000000', 9223372036854775808n],
    ['1.5', 1.5],
    ['1.', 1],
    ['.5', 0.5],
    ['-.5e3', -500],
    ['1e3', 1000],
    ['1_0.5', 10.5],
    ['1e400', '1e400'],
    ['1:30', '1:30'],
    ['1.2.3', '1.2.3'],
    ['2001-01-01', '2001-01-01'],
    ['2001-12-14T21:59:43.10-05:00', '2001-12-14T21:59:43.10-05:00'],
    ['_1', '_1'],
    ['"5"', '5'],
    ["'yes'", 'yes'],
    ["'it''s'", "it's"],
    ['"a\\tb\\x41\\u00e9\\U0001F600\\e\\0\\N"', 'a\tbAé😀\x1b\0\u0085'],
    ['a # comment', 'a'],
    ['a#b', 'a#b'],
    ['a b  c', 'a b  c'],
    ['http://x:80/y', 'http://x:80/y'],
    ['!!str 5', '5'],
    ['!!int "5"', 5],
    ['!!float 5', 5],
    ['!!bool yes', true],
    ['!!null ""', null],
    ['!!str', ''],
    ['!!binary aGk=', 'hi'],
    ['!!binary /w==', '\ufffd'],
    ['!!timestamp 2001-1-1', '2001-1-1'],
    ['! 5', '5'],
    ['!mine 5', '5'],
    ['!!map [1]', [1]],
  ])('decodes the scalar %s', (text, expected) => {
    expect(value(`a: ${text}`)).toEqual({ a: expected });
  });

  test.each<[string, string]>([
    ['|\n  x\n  y\n', 'x\ny\n'],
    ['|-\n  x\n  y\n', 'x\ny'],
    ['|+\n  x\n\n\n', 'x\n\n\n'],
    ['|\n  x', 'x'],
    ['|2\n    x\n   y\n', '  x\n y\n'],
    ['>\n  x\n  y\n\n  z\n   more\n  w\n', 'x y\nz\n more\nw\n'],
    ['>-\n  x\n  y\n', 'x y'],
    ['x\n  y\n\n  z', 'x y\nz'],
    ['"x\n  y\n\n  z"', 'x y\nz'],
    ['"x\\\n   y"', 'xy'],
    ['"x\ny"', 'x y'],
    ['|\r\n  x\r\n  y\r\n', 'x\ny\n'],
  ])('decodes the multi-line scalar %j', (text, expected) => {
    expect(value(`a: ${text}`)).toEqual({ a: expected });
  });
});

describe('YAML collections', () => {
  test.each<[string, unknown]>([
    ['', null],
    ['# nothing\n', null],
    ['---\n', null],
    ['null', null],
    ['{}', {}],
    ['a:\n- 1\n-\n- - 2\n  - b: 3\n    c: 4\n', { a: [1, null, [2, { b: 3, c: 4 }]] }],
    ['a: [1, [], {b: c, d}, e: f]', { a: [1, [], { b: 'c', d: null }, { e: 'f' }] }],
    ['a: {\nb: 1\n}\n', { a: { b: 1 } }],
    ['? a\n: b\n? c\n', { a: 'b', c: null }],
    ['{"a":1,\t"b":[\t]}', { a: 1, b: [] }],
    ['a: 1\n---\n]', { a: 1 }],
    ['a: 1\n...\nx: @', { a: 1 }],
    ['{"a":1} and more', { a: 1 }],
    ['\ufeffa: 1', { a: 1 }],
    ['%YAML 1.1\n---\na: 1', { a: 1 }],
    ['%TAG !e! tag:yaml.org,2002:\n---\na: !e!int "5"', { a: 5 }],
    ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
    ['a: &x 1\nb: &x 2\nc: *x', { a: 1, b: 2, c: 2 }],
    ['a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
    ['a: &x {b: 1}\nd:\n  b: 3\n  <<: *x', { a: { b: 1 }, d: { b: 1 } }],
    ['d:\n  <<: [{a: 1}, {a: 2, b: 3}]', { d: { a: 1, b: 3 } }],
    ['"<<": {a: 1}', { '<<': { a: 1 } }],
  ])('decodes the document %j', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  test.each<[string, string]>([
    ['true', 'true'],
    ['yes', 'true'],
    ['5', '5'],
    ['0x10', '16'],
    ['1.5', '1.5'],
    ['1.0', '1'],
    ['1e10', '1e+10'],
    ['1000000.5', '1.0000005e+06'],
    ['0.00001', '1e-05'],
    ['3.14159265358979', '3.1415927'],
    ['-.inf', '-.inf'],
    ['.nan', '.nan'],
  ])('converts the key %s to the string %s', (key, expected) => {
    expect(value(`${key}: x`)).toEqual({ [expected]: 'x' });
  });

  test('decodes __proto__ as an ordinary key', () => {
    const expected = {};
    setOwn(expected, '__proto__', { a: 1 });
    const read = value('__proto__: {a: 1}');
    expect(Object.keys(read as object)).toEqual(['__proto__']);
    expect(JSON.stringify(read)).toBe(JSON.stringify(expected));
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });
});

describe('YAML errors', () => {
  test.each<[string, string]>([
    ['a: 1\nb:\n\tc: d\n', 'line 3: found character that cannot start any token'],
    ['a: @b', 'found character that cannot start any token'],
    ['{"a":{"b":"c"', "line 1: did not find expected ',' or '}'"],
    ['a: [1, 2\nb: 3', "line 1: did not find expected ',' or ']'"],
    ['a: [1 }', "did not find expected ',' or ']'"],
    ['a: {b: 1 c: 2}', "did not find expected ',' or '}'"],
    ['a: b: c', 'mapping values are not allowed in this context'],
    ['x: 1\na: b: c', 'line 2: mapping values are not allowed in this context'],
    ['x: 1\na: ? c', 'line 2: mapping keys are not allowed in this context'],
    ['x: "1" ? c', 'mapping keys are not allowed in this context'],
    ['a: - b', 'block sequence entries are not allowed in this context'],
    ['a:\n  b: 1\n c: 2', 'line 2: did not find expected key'],
    ['a: 1\n- b', 'line 1: did not find expected key'],
    ['- a\nb', "line 3: could not find expected ':'"],
    ['a: 1\nb\nc: 2', "line 3: could not find expected ':'"],
    ['a:\n  - b\n  c: d', "line 2: did not find expected '-' indicator"],
    ['a: "b', 'found unexpected end of stream'],
    ["a: 'b\n", 'line 2: found unexpected end of stream'],
    ['a: "b\n---\n"', 'line 2: found unexpected document indicator'],
    ['a: "\\q"', 'found unknown escape character'],
    ['{"a":"\\/"}', 'found unknown escape character'],
    ['a: "\\xg0"', 'did not find expected hexdecimal number'],
    ['{"a":"\\ud83d\\ude00"}', 'found invalid Unicode character escape code'],
    ['a: *x', "unknown anchor 'x' referenced"],
    ['a: &x [*x]', "anchor 'x' value contains itself"],
    ['a: &', 'did not find expected alphabetic or numeric character'],
    ['a: !e!x b', 'found undefined tag handle'],
    ['a: !!<x', 'did not find expected tag URI'],
    ['a: !<x b', "did not find the expected '>'"],
    ['a: !x{ b', 'did not find expected whitespace or line break'],
    ['a: |0\n b', 'found an indentation indicator equal to 0'],
    ['a: | b\n c', 'did not find expected comment or line break'],
    ['a: |\n\tb', 'line 2: found a tab character where an indentation space is expected'],
    ['a: b\n\tc', 'line 2: found a tab character that violates indentation'],
    ['a: [,]', 'did not find expected node content'],
    ['...\n', 'did not find expected node content'],
    ['%YAML 1.2\n---\na: b', 'found incompatible YAML document'],
    ['%YAML 1.1\n%YAML 1.1\n---\n', 'line 1: found duplicate %YAML directive'],
    ['%YAML 1\n---\n', "did not find expected digit or '.' character"],
    ['%YAML x\n---\n', 'did not find expected version number'],
    ['%YAML 111.1\n---\n', 'found extremely long version number'],
    ['%FOO\n---\n', 'found unknown directive name'],
    ['% \n', 'could not find expected directive name'],
    ['%YAML 1.1\na: b', 'line 1: did not find expected <document start>'],
    ['a: \0', 'control characters are not allowed'],
    ['a: "\x7f"', 'control characters are not allowed'],
    ['a: \ud800', 'invalid Unicode character'],
    ['a: !!int x', 'cannot decode !!str `x` as a !!int'],
    ['a: !!bool 5', 'cannot decode !!int `5` as a !!bool'],
    ['a: !!timestamp 2001-02-30', 'cannot decode !!str `2001-02-30` as a !!timestamp'],
    ['a: !!binary x', '!!binary value contains invalid base64 data'],
    ['a: {<<: 1}', 'map merge requires map or sequence of maps as the value'],
    ['? [a, 1, ~]\n: b', 'invalid map key: []interface {}{"a", 1, interface {}(nil)}'],
    ['? {a: b}\n: b', 'invalid map key: map[interface {}]interface {}{"a":"b"}'],
  ])('rejects %j with: %s', (text, expected) => {
    expect(fault(text)).toBe(expected);
  });

  test.each<[string, string]>([
    ['~: x', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'],
    [
      '18446744073709551615: [1.5]',
      'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: []interface {}{1.5}',
    ],
    ['a: .inf', 'json: unsupported value: +Inf'],
    ['a: .nan', 'json: unsupported value: NaN'],
  ])('rejects %j, which JSON cannot represent, with: %s', (text, expected) => {
    expect(rejectionMessage(text)).toBe(`error converting YAML to JSON: ${expected}`);
  });

  test.each<[string, string]>([
    ['[]', 'array'],
    ['- a', 'array'],
    ['"str"', 'string'],
    ['str', 'string'],
    ['5', 'number'],
    ['18446744073709551615', 'number'],
    ['yes', 'bool'],
  ])('rejects %j, which is not an object but %s', (text, type) => {
    expect(rejectionMessage(text)).toBe(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    );
  });
});

describe('repeated YAML keys', () => {
  test.each<[string, readonly string[], unknown]>([
    ['a: 1\nb: 2\n', [], { a: 1, b: 2 }],
    ['{"a":1,"b":{"k":1,"k":2}}', ['line 1: key "k" already set in map'], { a: 1, b: { k: 2 } }],
    ['a: 1\na: 2\na: 3\n', ['line 2: key "a" already set in map', 'line 3: key "a" already set in map'], { a: 3 }],
    // The reported line is that of the value.
    ['a: 1\na:\n  b: 2\n', ['line 3: key "a" already set in map'], { a: { b: 2 } }],
    ['a: 1\na: &x\n  b\n', ['line 2: key "a" already set in map'], { a: 'b' }],
    ['a: 1\na: |\n  b\n', ['line 2: key "a" already set in map'], { a: 'b\n' }],
    ['a: 1\na:\n', ['line 2: key "a" already set in map'], { a: null }],
    ['5: a\n0x5: b\n', ['line 2: key 5 already set in map'], { 5: 'b' }],
    ['y: a\ntrue: b\n', ['line 2: key true already set in map'], { true: 'b' }],
    // Different keys in YAML, equal keys in JSON.
    ['5: a\n"5": b\n', [], { 5: 'b' }],
    ['a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n', ['line 4: key "b" already set in map'], { a: { b: 1 }, c: { b: 2 } }],
    // Reported for the anchor and again for each alias.
    [
      'a: &x {k: 1, k: 2}\na: *x\n',
      [
        'line 1: key "k" already set in map',
        'line 1: key "k" already set in map',
        'line 2: key "a" already set in map',
      ],
      { a: { k: 2 } },
    ],
  ])('reports repeated keys of %j', (text, lines, expected) => {
    expect(repeated(text)).toEqual(lines);
    expect(value(text)).toEqual(expected);
  });
});

describe('hostile YAML', () => {
  test.each<[string, string]>([
    ['endless brackets', '['.repeat(20_000)],
    ['endless block sequences', '- '.repeat(20_000)],
    ['objects beyond the depth limit', `${'{"a":'.repeat(10_001)}1${'}'.repeat(10_001)}`],
  ])('rejects %s as too deep', (_name, text) => {
    expect(fault(text)).toBe('exceeded max depth of 10000');
  });

  test('rejects aliases that expand to millions of values', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 9; at++)
      lines.push(
        `a${at}: &a${at} [${Array(9)
          .fill(`*a${at - 1}`)
          .join(', ')}]`,
      );
    expect(fault(lines.join('\n'))).toBe('document contains excessive aliasing');
  });

  const long = 'x'.repeat(1_000_000);
  test.each<[string, string]>([
    ['values', `a: &a ${long}\nb: [${'*a, '.repeat(1000)}]`],
    ['binary values', `a: &a !!binary ${'QUJD'.repeat(250_000)}\nb: [${'*a, '.repeat(1000)}]`],
    ['keys', `? &a ${long}\n: 1\n${'*a : 1\n'.repeat(1000)}`],
    ['keys of merged mappings', `a: &a\n  ? ${long}\n  : 1\nb:\n${'  <<: *a\n'.repeat(1000)}`],
  ])('rejects aliases that repeat long %s', (_name, text) => {
    expect(() => value(text)).toThrow('limit is 8388608 characters');
  });

  test('ignores unknown tags with long prefixes, which many values have', () => {
    const text = `%TAG !e! tag:yaml.org,2002:${long}\n---\n[${'!e!x 1, '.repeat(20_000)}]`;
    expect(yamlDocumentBody(text).read().value).toEqual(Array(20_000).fill('1'));
  });

  test('accepts a key with its colon within 1024 characters', () => {
    const key = 'k'.repeat(1022);
    expect(value(`{"${key}":1}`)).toEqual({ [key]: 1 });
    expect(fault(`{"${key}k":1}`)).not.toBe('accepted');
  });

  test('decodes or rejects any text', () => {
    const part = fc.constantFrom(
      ...[
        'a',
        ' ',
        '\n',
        '  ',
        ': ',
        ':',
        '- ',
        '[',
        ']',
        '{',
        '}',
        ',',
        '"',
        "'",
        '#',
        '&a',
        '*a',
        '!',
        '!!str ',
        '|',
      ],
      ...['>', '? ', '%', '\t', '---\n', '...\n', '\\', '1', '<<: ', '~', '\0', '\ud800', '\u2028', '😀'],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        const message = rejectionMessage(text);
        expect(message).toMatch(/^(accepted$|error converting YAML to JSON: |error unmarshaling JSON: )/);
      }),
      { numRuns: 500 },
    );
  });
});

test('decodes JSON like the JSON parser', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue()), (object) => {
      const text = JSON.stringify(object);
      // The tables above cover what YAML forbids or folds, and its largest integers.
      fc.pre(!/\\u[dD]|[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|-0(?![.\d])|[\ud800-\udfff]|\d{17}/.test(text));
      const expected = parseJson(text).value;
      expect(value(text)).toEqual(expected);
      // A leading comment disables the JSON fast path.
      expect(value(`#\n${text}`)).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test('decodes a body once and summarizes the original text', () => {
  const body = yamlBody('a: 1\n');
  expect(body.read()).toBe(body.read());
  expect(body.summary()).toBe('613a20310a');
  expect(yamlBody('').summary()).toBe('<empty>');
});

test('a value does not keep the rest of its body in memory', () => {
  const before = liveHeap();
  const kept: unknown[] = [];
  for (let at = 0; at < 6; at++) {
    const text = `a key that is long: a plain value ${at}\nquoted: "a value that is long"\nblock: |\n  a block of text\n#`;
    const { value } = yamlBody(text + ' '.repeat(1e6)).read();
    expect(value).toMatchObject({ 'a key that is long': `a plain value ${at}`, quoted: 'a value that is long' });
    kept.push(value);
  }
  expect(liveHeap() - before).toBeLessThan(3e6);
  expect(kept).toHaveLength(6);
});
