/** PEM: which blocks of a text are seen. Outcomes are those of Go's encoding/pem (1.24.13). */
import { expect, test } from 'vitest';
import { firstPemBlock, pemBlocks } from '../../../../src/text/x509/pem.js';

const block = (type: string, body = 'AQID\n') => `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;
const types = (text: string) => pemBlocks(text).map(({ type }) => type);

test('type, headers and bytes', () => {
  expect(pemBlocks(block('A B', 'Proc-Type:  4,ENCRYPTED \nx: a:b\n\nAQI\nD BA==\n'))).toEqual([
    {
      type: 'A B',
      headers: new Map([
        ['Proc-Type', '4,ENCRYPTED'],
        ['x', 'a:b'],
      ]),
      bytes: Uint8Array.of(1, 2, 3, 4),
    },
  ]);
});

test('text around blocks is passed over', () => {
  expect(types(`before\n${block('A')}between: them\n\n${block('B')}after`)).toEqual(['A', 'B']);
  expect(firstPemBlock(`before\n${block('A')}${block('B')}`)?.type).toBe('A');
  expect(firstPemBlock('nothing here')).toBeUndefined();
});

test.each([
  ['an empty one', block('A', ''), ['A']],
  ['line breaks of two characters', block('A').replaceAll('\n', '\r\n'), ['A']],
  ['no line break at the end', block('A').trimEnd(), ['A']],
  ['blanks behind the lines', block('A').replaceAll('\n', ' \t\n'), ['A']],
  ['no type', block(''), ['']],
  ['unused bits that are not zero', block('A', 'AR==\n'), ['A']],
  ['no line break before END', '-----BEGIN A-----\nAQID-----END A-----\n', []],
  ['BEGIN inside a line', `x${block('A')}`, []],
  ['END of another type', '-----BEGIN A-----\nAQID\n-----END B-----\n', []],
  ['something behind END', '-----BEGIN A-----\nAQID\n-----END A-----x\n', []],
  ['no dashes behind the type', '-----BEGIN A\nAQID\n-----END A\n', []],
  ['no base64', block('A', 'AQ!D\n'), []],
  ['base64 without its padding', block('A', 'AQI\n'), []],
  ['headers and no empty body', '-----BEGIN A-----\nk: v\n-----END A-----\n', []],
  ['no END', '-----BEGIN A-----\nAQID\n', []],
])('%s', (_name, text, expected) => {
  expect(types(text)).toEqual(expected);
  // What is wrong with one block takes nothing from the next.
  expect(types(`${text}\n${block('NEXT')}`)).toEqual([...expected, 'NEXT']);
});

test('a BEGIN without its END hides nothing', () => {
  expect(types(`-----BEGIN A-----\nAQID\n${block('B')}`)).toEqual(['B']);
});

test('hostile texts take linear time', () => {
  const size = 50_000;
  expect(types('-----BEGIN A-----\n'.repeat(size) + block('A'))).toEqual(['A']);
  expect(types('\n-----END A-----'.repeat(size))).toEqual([]);
  expect(types('-----BEGIN A-----\nx\n-----END B-----\n'.repeat(size))).toEqual([]);
  expect(types(`-----BEGIN A-----${' '.repeat(20 * size)}x\n-----END A`)).toEqual([]);
}, 5_000);
