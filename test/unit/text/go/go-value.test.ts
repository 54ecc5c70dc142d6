/** Go formatting of patch values in messages. */
import { describe, expect, test } from 'vitest';
import { goType, printGoValue } from '../../../../src/text/go/go-value.js';

describe('printGoValue', () => {
  test.each([
    [{ b: [1, null], a: 'x y' }, 'map[a:x y b:[1 <nil>]]'],
    [{}, 'map[]'],
    [[], '[]'],
    [[true, -2, 9007199254740993n], '[true -2 9007199254740993]'],
    [[0.5, 123456.5, 1234567.5, 0.00012, 0.000012], '[0.5 123456.5 1.2345675e+06 0.00012 1.2e-05]'],
    [2n ** 64n, '1.8446744073709552e+19'],
    // Sorted by code points, not by UTF-16 units.
    [{ '\u{1f600}': 1, '\uffee': 2, a: 0 }, 'map[a:0 \uffee:2 \u{1f600}:1]'],
  ])('formats %o', (value, text) => {
    expect(printGoValue(value)).toBe(text);
  });

  test.each([
    ['x', 'x'],
    [1, '%!s(int64=1)'],
    [1.5, '%!s(float64=1.5)'],
    [false, '%!s(bool=false)'],
    [null, '%!s(<nil>)'],
    [{ a: ['b', 1] }, 'map[a:[b %!s(int64=1)]]'],
  ])('formats %j as %%s does', (value, text) => {
    expect(printGoValue(value, { as: 'text' })).toBe(text);
  });
});

test('returns Go type names', () => {
  const values = [{}, [], 'x', true, 1, 1.5, null];
  expect(values.map(goType).join(' | ')).toBe(
    'map[string]interface {} | []interface {} | string | bool | int64 | float64 | %!s(<nil>)',
  );
});
