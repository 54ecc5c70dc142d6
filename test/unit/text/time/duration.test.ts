/** Durations: parsing, formatting and error messages. */

import { expect, test } from 'vitest';
import { DurationError, formatDuration, parseDuration, quoteBytes } from '../../../../src/text/time/duration.js';
import fc from '../../../property/seeded.js';

test.each([
  ['0', 0n, '0s'],
  ['-0', 0n, '0s'],
  ['1ns', 1n, '1ns'],
  ['1.5us', 1_500n, '1.5µs'],
  ['2µs', 2_000n, '2µs'],
  ['2μs', 2_000n, '2µs'],
  ['100ms', 100_000_000n, '100ms'],
  ['.5s', 500_000_000n, '500ms'],
  ['1h2m3.5s', 3_723_500_000_000n, '1h2m3.5s'],
  ['90m', 5_400_000_000_000n, '1h30m0s'],
  ['-1.5h', -5_400_000_000_000n, '-1h30m0s'],
  ['1s1s', 2_000_000_000n, '2s'],
  ['0.3333333333333333333h', 1_200_000_000_000n, '20m0s'],
  [`0.${'1'.repeat(400)}s`, 111_111_111n, '111.111111ms'],
  ['2562047h47m16.854775807s', 2n ** 63n - 1n, '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', -(2n ** 63n), '-2562047h47m16.854775808s'],
])('parses and formats %s', (text, nanoseconds, printed) => {
  expect(parseDuration(text)).toBe(nanoseconds);
  expect(formatDuration(nanoseconds)).toBe(printed);
});

test.each([
  ['', 'time: invalid duration ""'],
  ['x', 'time: invalid duration "x"'],
  ['-', 'time: invalid duration "-"'],
  ['.s', 'time: invalid duration ".s"'],
  [' 1s', 'time: invalid duration " 1s"'],
  ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ['99999999999999999999999s', 'time: invalid duration "99999999999999999999999s"'],
  ['5', 'time: missing unit in duration "5"'],
  ['1s5', 'time: missing unit in duration "1s5"'],
  ['5x', 'time: unknown unit "x" in duration "5x"'],
  ['1 day', 'time: unknown unit " day" in duration "1 day"'],
  ['5é', 'time: unknown unit "\\xc3\\xa9" in duration "5\\xc3\\xa9"'],
])('rejects %j', (text, message) => {
  expect(() => parseDuration(text)).toThrow(new DurationError(message));
});

test('parses every formatted duration to the same value', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) => {
      expect(parseDuration(formatDuration(nanoseconds))).toBe(nanoseconds);
    }),
  );
});

test('quotes non-ASCII characters as bytes', () => {
  expect(quoteBytes('a"\\\u0001é😀')).toBe('"a\\"\\\\\\x01\\xc3\\xa9\\xf0\\x9f\\x98\\x80"');
});
