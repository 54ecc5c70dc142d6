/** YAML output, byte for byte as the reference server writes the same JSON, and reading it back. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { yaml } from '../../../../src/codec/yaml.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { BodyError } from '../../../../src/protocol/body.js';
import { writeYaml } from '../../../../src/text/yaml/write.js';
import { deepFreeze } from '../../../../src/util/json.js';
import { readGroup } from '../../../conformance/recordings.mjs';
import fc from '../../../property/seeded.js';

const OPTIONS = { dialect: orchDialect, pretty: false };

interface Case {
  readonly document: Readonly<Record<string, unknown>>;
  readonly yaml: string;
}

const cases = JSON.parse(readFileSync(new URL('./write-cases.json', import.meta.url), 'utf8')) as readonly Case[];

describe('writeYaml', () => {
  test.each(cases.map(({ document, yaml: text }) => [JSON.stringify(document).slice(0, 60), document, text] as const))(
    'writes %s like the reference server',
    (_name, document, text) => {
      expect(writeYaml(document)).toBe(text);
      expect(readBack(text)).toEqual(document);
    },
  );

  test('writes integers in full and as floats beyond 64 bits', () => {
    expect(writeYaml([9007199254740993n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 63n), -(2n ** 63n) - 1n])).toBe(
      '- 9007199254740993\n- 18446744073709551615\n- 1.8446744073709552e+19\n- -9223372036854775808\n- -9.223372036854776e+18\n',
    );
  });

  test('escapes characters that YAML does not allow', () => {
    expect(writeYaml({ a: '\u007f\u0085\ud800\uffff' })).toBe('a: "\\x7F\\N\ufffd\\uFFFF"\n');
  });

  test('omits keys with the value undefined', () => {
    expect(writeYaml({ a: undefined, b: 1 })).toBe('b: 1\n');
  });

  test('writes documents that are read back unchanged', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'ab01 -:#\'"\\\n\t.,[{?!|~é\u2028😀_/%TZex'), maxLength: 120 }),
      fc.string(),
      fc.stringMatching(/^[-+.0-9eExobaF:_T ]{1,12}$/),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.dictionary(
        text.filter((key) => key !== '<<'),
        tie('node'),
        { maxKeys: 5 },
      ),
      node: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(true, false, null),
        fc.array(tie('node'), { maxLength: 4 }),
        tie('tree'),
      ),
    }));
    fc.assert(
      fc.property(tree, (document) => {
        const plain: unknown = JSON.parse(JSON.stringify(document));
        expect(JSON.stringify(sorted(readBack(writeYaml(plain))))).toBe(JSON.stringify(sorted(plain)));
      }),
      { numRuns: 500 },
    );
  });

  test('writes text directions and line separators like the reference server by default', () => {
    expect(writeYaml({ a: '\u200fb', 'c\u202e': 'd\u2066\n' })).toBe('a: \u200fb\nc\u202e: |\n  d\u2066\n');
  });

  test('escapes invisible characters on demand', () => {
    const escaped = writeYaml({ a: '\u200fb', 'c\u202e': 'd\u2066\n', e: '\u2028' }, { escapeInvisible: true });
    expect(escaped).toBe('a: "\\u200Fb"\n"c\\u202E": "d\\u2066\\n"\ne: "\\L"\n');
    const unit = fc.constantFrom(...'a \t\n\r:#"\'\\\x1b\x7f\x85\x9b\u2028\u2029\u200e\u061c\u202e\u2069\ufeff😀');
    const text = fc.string({ unit, maxLength: 150 });
    const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.dictionary(text, text, { maxKeys: 3 }));
    fc.assert(
      fc.property(fc.dictionary(text, value, { maxKeys: 3 }), (document) => {
        const written = writeYaml(document, { escapeInvisible: true });
        expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/u);
        expect(readBack(written)).toEqual(JSON.parse(JSON.stringify(document)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('YAML responses', () => {
  const item = deepFreeze({ metadata: { name: 'a', annotations: { note: `${'word '.repeat(30)}\n\n` } } });

  test.each([
    ['an object', { kind: 'ConfigMap', apiVersion: 'v1', ...item }],
    ['a list', { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [item, {}, [item], null, 'x'] }],
    ['an empty list', { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [] }],
  ])('writes the whole %s', (_name, document) => {
    const whole = writeYaml(document);
    expect(yaml.encode(document, OPTIONS)).toBe(whole);
    expect(yaml.encode(document, OPTIONS)).toBe(whole);
  });

  test('has the bytes of recorded responses', () => {
    const texts = readGroup('http-negotiation')
      .flatMap(({ expect: responses }) => responses)
      .filter(({ contentType }) => contentType === 'application/yaml')
      .map(({ body }) => String(body.text))
      // Replaces the placeholders of the recording.
      .map((text) =>
        text
          .replaceAll('<time>', '2024-01-02T03:04:05Z')
          .replaceAll('{ns}', 'ns')
          .replace(/<uid:\d+>/, 'u'),
      );
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) expect(yaml.encode(readBack(text) as object, OPTIONS)).toBe(text);
  });
});

describe('YAML bodies', () => {
  test.each([
    ['a: [', 'yaml: line 1: did not find expected node content'],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['\tx', 'yaml: found character that cannot start any token'],
    ['x: .nan', 'json: unsupported value: NaN'],
    ['? [a]\n: b', 'yaml: invalid map key: []interface {}{"a"}'],
  ])('rejects %j with a complete message', (text, message) => {
    const error = rejection(text);
    expect(error.message).toBe(message);
    expect(error.isWhole).toBe(true);
  });

  test.each([
    ['[]', []],
    ['text', 'text'],
    ['', null],
    ['a: 1', { a: 1 }],
    ['{"a": 1}', { a: 1 }],
  ])('accepts the document %j', (text, value) => {
    expect(bodyOf(text).read().value).toEqual(value);
  });

  test('reports duplicate keys with their lines', () => {
    expect(bodyOf('a: 1\na: 2\n').repeatedKeys?.()).toEqual(['line 2: key "a" already set in map']);
  });
});

function bodyOf(text: string) {
  return yaml.body(new TextEncoder().encode(text), orchDialect);
}

function readBack(text: string): unknown {
  return bodyOf(text).read().value;
}

function rejection(text: string): BodyError {
  try {
    bodyOf(text).read();
  } catch (error) {
    if (error instanceof BodyError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

/** Large integers are read back exactly, unlike JavaScript numbers. */
function sorted(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
