/** PEM blocks found in a text. The results are those of Go's encoding/pem (1.24.13). */
import { expect, test } from 'vitest';
import { firstPemBlock, pemBlocks } from '../../../../src/text/x509/pem.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';

const block = (type: string, body = 'AQID\n') => `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;
const types = (text: string) => pemBlocks(text).map(({ type }) => type);

test('returns type, headers and bytes of PEM blocks', () => {
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

test('skips text around PEM blocks', () => {
  expect(types(`before\n${block('A')}between: them\n\n${block('B')}after`)).toEqual(['A', 'B']);
  expect(firstPemBlock(`before\n${block('A')}${block('B')}`)?.type).toBe('A');
  expect(firstPemBlock('nothing here')).toBeUndefined();
});

test.each([
  ['an empty block', block('A', ''), ['A']],
  ['CRLF line breaks', block('A').replaceAll('\n', '\r\n'), ['A']],
  ['no line break at the end', block('A').trimEnd(), ['A']],
  ['trailing blanks', block('A').replaceAll('\n', ' \t\n'), ['A']],
  ['no type', block(''), ['']],
  ['unused bits that are not zero', block('A', 'AR==\n'), ['A']],
  ['no line break before END', '-----BEGIN A-----\nAQID-----END A-----\n', []],
  ['BEGIN inside a line', `x${block('A')}`, []],
  ['END of another type', '-----BEGIN A-----\nAQID\n-----END B-----\n', []],
  ['text after END', '-----BEGIN A-----\nAQID\n-----END A-----x\n', []],
  ['no dashes after the type', '-----BEGIN A\nAQID\n-----END A\n', []],
  ['invalid base64', block('A', 'AQ!D\n'), []],
  ['base64 without its padding', block('A', 'AQI\n'), []],
  ['headers without a body', '-----BEGIN A-----\nk: v\n-----END A-----\n', []],
  ['no END', '-----BEGIN A-----\nAQID\n', []],
])('reads or skips a PEM block with %s', (_name, text, expected) => {
  expect(types(text)).toEqual(expected);
  // An invalid block does not affect the next one.
  expect(types(`${text}\n${block('NEXT')}`)).toEqual([...expected, 'NEXT']);
});

test('reads other blocks after a BEGIN without END', () => {
  expect(types(`-----BEGIN A-----\nAQID\n${block('B')}`)).toEqual(['B']);
});

test('ends at headers that continue behind the END', () => {
  const beyond = '-----BEGIN A:-----\nx:y\n-----END A:-----\n';
  expect(types(`${block('A')}${beyond}\n${block('B')}`)).toEqual(['A']);
  expect(types(`${beyond.replace('x:y\n', 'x:y\n\n')}${block('B')}`)).toEqual(['A:', 'B']);
});

test('reads PEM blocks of hostile texts in linear time', () => {
  const size = 50_000;
  const spentMs = cpuTimer();
  expect(types('-----BEGIN A-----\n'.repeat(size) + block('A'))).toEqual(['A']);
  expect(types('\n-----END A-----'.repeat(size))).toEqual([]);
  expect(types('-----BEGIN A-----\nx\n-----END B-----\n'.repeat(size))).toEqual([]);
  expect(types(`-----BEGIN A-----${' '.repeat(20 * size)}x\n-----END A`)).toEqual([]);
  expect(types(`${'-----BEGIN A:-----\n-----END A:-----:\n'.repeat(size)}\nx\n`)).toEqual([]);
  expect(spentMs()).toBeLessThan(3_000);
});
