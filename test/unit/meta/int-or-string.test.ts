/** IntOrString values: counts and percentages. */
import { expect, test } from 'vitest';
import {
  dumpIntOrString,
  IntOrStringError,
  isIntOrString,
  percentOf,
  percentProblems,
  scaleIntOrString,
} from '../../../src/meta/int-or-string.js';

test('accepts 32-bit integers and strings as IntOrString', () => {
  for (const value of [0, -1, 2 ** 31 - 1, -(2 ** 31), '', '25%', 'http']) expect(isIntOrString(value)).toBe(true);
  for (const value of [1.5, 2 ** 31, Number.NaN, null, true, {}]) expect(isIntOrString(value)).toBe(false);
});

test('accepts a percentage of digits and a percent sign', () => {
  expect(percentProblems('25%')).toEqual([]);
  for (const bad of ['half', '25', '%', '-1%', '1.5%', '25%%', ' 25%']) {
    expect(percentProblems(bad)).toEqual([
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ]);
    expect(percentOf(bad)).toBeUndefined();
  }
  expect(percentOf('101%')).toBe(101);
  expect(percentOf(25)).toBeUndefined();
});

test.each([
  [3, 10, 3, 3],
  ['25%', 10, 3, 2],
  ['100%', 7, 7, 7],
  ['0%', 7, 0, 0],
  ['33%', 3, 1, 0],
  ['150%', 2, 3, 3],
] as const)('scales the IntOrString %s of the total %d', (value, total, up, down) => {
  expect(scaleIntOrString(value, { total, round: 'up' })).toBe(up);
  expect(scaleIntOrString(value, { total, round: 'down' })).toBe(down);
});

test.each([
  ['http', 'invalid value for IntOrString: invalid type: string is not a percentage'],
  ['x%', 'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax'],
  ['%', 'invalid value for IntOrString: invalid value "%": strconv.Atoi: parsing "": invalid syntax'],
  [
    '9223372036854775808%',
    'invalid value for IntOrString: invalid value "9223372036854775808%": strconv.Atoi: parsing "9223372036854775808": value out of range',
  ],
])('rejects scaling of the IntOrString %s', (value, message) => {
  expect(() => scaleIntOrString(value, { total: 1, round: 'up' })).toThrow(new IntOrStringError(message));
});

test('accepts the largest 64-bit percentage', () => {
  expect(scaleIntOrString('9223372036854775807%', { total: 0, round: 'up' })).toBe(0);
});

test('prints IntOrString values in Go syntax', () => {
  expect(dumpIntOrString('half')).toEqual({ verbatim: 'intstr.IntOrString{Type:1, IntVal:0, StrVal:"half"}' });
  expect(dumpIntOrString(0)).toEqual({ verbatim: 'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}' });
});
