/** Printing of patched documents: unopened parts keep their text, opened parts are encoded again. */
import { describe, expect, it } from 'vitest';
import { applyJsonPatch, parseJsonPatch } from '../../../src/merge/json-patch.js';
import { applyMergePatch } from '../../../src/merge/merge-patch.js';
import { printPatched } from '../../../src/merge/print-patched.js';
import { StatusError } from '../../../src/meta/errors.js';
import { parseJson } from '../../../src/text/json/parse-json.js';
import type { ParsedBody } from '../../../src/util/json.js';

const parse = (text: string): ParsedBody => parseJson(text, { keepSpelling: true });

function patched(document: string, text: string): string {
  const body = parse(text);
  const { value } = parse(document);
  const result = Array.isArray(body.value)
    ? applyJsonPatch(value, parseJsonPatch(body.value, { duplicates: body.duplicates }))
    : applyMergePatch(value as Record<string, unknown>, body.value);
  return printPatched({ ...body, value: result });
}

describe('printPatched', () => {
  const add = (path: string, value: string) => `{"op":"add","path":"${path}","value":${value}}`;
  const cases: readonly (readonly [name: string, document: string, patch: string, printed: string])[] = [
    ['repeated keys of an added value', '{}', `[${add('/a', '{"y":1,"x":1,"y":2}')}]`, '{"a":{"y":1,"y":2,"x":1}}'],
    [
      'repeated keys inside an added list',
      '{}',
      `[${add('/a', '[{"b":{"c":1,"c":2}}]')}]`,
      '{"a":[{"b":{"c":1,"c":2}}]}',
    ],
    [
      'each key of an opened object once',
      '{}',
      `[${add('/a', '{"y":1,"y":2}')},${add('/a/x', '0')}]`,
      '{"a":{"x":0,"y":2}}',
    ],
    ['each key once after a merge patch', '{}', '{"a":{"y":1,"y":2}}', '{"a":{"y":2}}'],
    [
      'numbers of a JSON patch as they were spelled',
      '{}',
      `[${add('/a', '3.0')},${add('/b', '[1e3]')}]`,
      '{"a":3.0,"b":[1e3]}',
    ],
    [
      'numbers of a merge patch as they were spelled',
      '{"a":{}}',
      '{"a":{"b":1.50,"c":[4E0]}}',
      '{"a":{"b":1.50,"c":[4E0]}}',
    ],
    ['large numbers in full', '{}', '{"a":9007199254740993}', '{"a":9007199254740993}'],
    ['HTML characters escaped', '{"<":1}', '{"a":"&>"}', '{"\\u003c":1,"a":"\\u0026\\u003e"}'],
    [
      'the keys of a tested value in order at any depth',
      '{"t":{"b":{"d":1,"c":1},"a":[{"f":1,"e":1}]},"u":{"h":1,"g":1}}',
      '[{"op":"test","path":"/t","value":{"b":{"d":1,"c":1},"a":[{"f":1,"e":1}]}}]',
      '{"t":{"a":[{"e":1,"f":1}],"b":{"c":1,"d":1}},"u":{"h":1,"g":1}}',
    ],
    [
      'all keys in order if the root was tested',
      '{"b":{"d":1,"c":1}}',
      '[{"op":"test","path":"","value":{"b":{"c":1,"d":1}}}]',
      '{"b":{"c":1,"d":1}}',
    ],
    [
      'the keys of a copy in the order of its original',
      '{"a":{"z":1,"m":{"y":1,"x":1}}}',
      `[${add('/a/b', '1')},{"op":"copy","from":"/a","path":"/c"},${add('/c/a', '2')}]`,
      '{"a":{"b":1,"m":{"y":1,"x":1},"z":1},"c":{"a":2,"b":1,"m":{"y":1,"x":1},"z":1}}',
    ],
  ];

  it.each(cases)('prints %s', (_name, document, patch, printed) => {
    expect(patched(document, patch)).toBe(printed);
  });

  it.each(['1', '1.00'])('fails a test of a number that was spelled differently: %s', (value) => {
    const patch = `[${add('/a', '1.0')},{"op":"test","path":"/a","value":${value}}]`;
    expect(() => patched('{}', patch)).toThrow(StatusError);
    expect(patched('{}', patch.replace(`"value":${value}}`, '"value":1.0}'))).toBe('{"a":1.0}');
  });
});

it('reports findings in the order of the patch, each once', () => {
  const text =
    '[{"x":1,"op":"remove","op":"remove","path":"/a","value":{"b":1,"b":2},"x":2},{"op":"remove","path":"/b","y":1}]';
  const { value, duplicates } = parse(text);
  expect(parseJsonPatch(value, { duplicates }).findings).toEqual([
    'json patch unknown field "[0].x"',
    'json patch duplicate field "[0].op"',
    'json patch duplicate field "[0].value.b"',
    'json patch unknown field "[1].y"',
  ]);
  expect(parseJsonPatch(value, { duplicates, fieldValidation: 'Ignore' }).findings).toEqual([]);
});

it.each([
  ['[1.0]', 'number into Go value of type handlers.jsonPatchOp'],
  ['[{"op":1.0}]', 'number into Go struct field jsonPatchOp.op of type string'],
])('treats a number as equal in every spelling: %s', (text, message) => {
  expect(() => parseJsonPatch(parse(text).value)).toThrow(`error decoding patch: json: cannot unmarshal ${message}`);
});
