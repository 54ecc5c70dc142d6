/**
 * The YAML text of any document is parsed to the same document.
 */
import { expect, test } from 'vitest';
import { yamlText } from '../../../examples/playground/src/command-line/yaml-text.js';
import { yamlBody } from '../../../src/codec/yaml.js';
import fc from '../../property/seeded.js';

const texts = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'yes',
    '1',
    '0x1f',
    '1e3',
    '- a',
    'a: b',
    'a #b',
    '~',
    '',
    ' a',
    'a\nb',
    'a\n\nb\n',
    '\ta',
    '2020-01-01',
    '1:30',
    '*',
    '---',
  ),
  fc.array(fc.constantFrom('a', ' ', '\n', ':', '#', '-', '"', "'"), { maxLength: 8 }).map((parts) => parts.join('')),
);
const { document } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    texts,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('document'),
  ),
  document: fc.dictionary(
    texts.filter((key) => key !== '__proto__'),
    tie('value'),
    { maxKeys: 4, noNullPrototype: true },
  ),
}));

test('parses the YAML text of any document to the same value', () => {
  fc.assert(
    fc.property(document, (value) => {
      expect(yamlBody(yamlText(value)).read().value).toEqual(value);
    }),
    { numRuns: 400 },
  );
});

test('indents lists below their key and prints multi-line strings as blocks', () => {
  expect(yamlText({ b: [{ x: 1, z: ['a'] }, []], a: 'one\ntwo\n', c: {} })).toBe(
    'a: |\n  one\n  two\nb:\n- x: 1\n  z:\n  - a\n- []\nc: {}\n',
  );
});
