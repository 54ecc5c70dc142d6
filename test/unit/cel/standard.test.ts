/**
 * The functions of the standard library, called like those of any library: with matching arguments, failures thrown.
 */
import { describe, expect, test } from 'vitest';
import { STANDARD_LIBRARY } from '../../../src/cel/standard/library.js';
import { CelBytes, CelDuration, CelError, type CelTimestamp, CelUint, type CelValue } from '../../../src/cel/values.js';

const calls = new Map(
  (STANDARD_LIBRARY.functions ?? []).flatMap(({ overloads }) => overloads.map(({ id, call }) => [id, call] as const)),
);

function call(id: string, ...args: CelValue[]): CelValue {
  const run = calls.get(id);
  if (run === undefined) throw new Error(`${id} does nothing`);
  return run(...args);
}

test('has an implementation of every function that evaluates all arguments', () => {
  const left = [...calls].filter(([, run]) => run === undefined).map(([id]) => id);
  expect(left.sort()).toEqual([
    'conditional',
    'index_list',
    'index_map',
    'logical_and',
    'logical_or',
    'not_strictly_false',
  ]);
});

test('throws failures from functions of the library', () => {
  expect(() => call('divide_int64', 1n, 0n)).toThrow(new CelError('division by zero'));
  expect(() => call('add_int64', 2n ** 63n - 1n, 1n)).toThrow(new CelError('integer overflow'));
  expect(() => call('subtract_uint64', new CelUint(1n), new CelUint(2n))).toThrow(
    new CelError('unsigned integer overflow'),
  );
  expect(() => call('string_to_int64', 'x')).toThrow(new CelError("type conversion error from 'string' to 'int'"));
});

describe('conversion of numbers', () => {
  test.each([
    [1.5, '1.5'],
    [1e6, '1e+06'],
    [123456.0, '123456'],
    [1e-5, '1e-05'],
    [0.0001, '0.0001'],
    [-0, '-0'],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
  ])('formats %d as %s', (value, text) => {
    expect(call('double_to_string', value)).toBe(text);
  });

  test.each([
    ['0x1p-2', 0.25],
    ['0x1.8p1', 3],
    ['-0X_1F.8P0', -31.5],
    ['0x1p-1074', 5e-324],
    ['0x.8p-1074', 0],
    ['0x1.fffffffffffff8p1023', undefined],
    ['0x1.fffffffffffffp1023', 1.7976931348623157e308],
    ['0x1p', undefined],
    ['0x1', undefined],
    ['0xp1', undefined],
    ['1_000.5', 1000.5],
    ['1__0', undefined],
    ['_1', undefined],
    ['1_', undefined],
    ['1._5', undefined],
    ['infinity', Number.POSITIVE_INFINITY],
    ['-INF', Number.NEGATIVE_INFINITY],
    ['1e309', undefined],
    ['1e', undefined],
    [' 1', undefined],
    ['', undefined],
  ])('parses %s as a double', (text, value) => {
    if (value === undefined) expect(() => call('string_to_double', text)).toThrow(CelError);
    else expect(call('string_to_double', text)).toBe(value);
  });
});

describe('timestamps', () => {
  const at = (text: string) => call('string_to_timestamp', text);

  test.each([
    ['2024-03-10T06:59:59Z', 1n],
    ['2024-03-10T07:00:00Z', 3n],
    ['2024-11-03T05:30:00Z', 1n],
    ['2024-11-03T06:30:00Z', 1n],
  ])('returns the hour of %s in New York', (text, hours) => {
    expect(call('timestamp_to_hours_with_tz', at(text), 'America/New_York')).toBe(hours);
  });

  test('uses local mean time before standard time zones', () => {
    expect(call('timestamp_to_minutes_with_tz', at('1800-01-01T00:00:00Z'), 'Europe/Amsterdam')).toBe(
      call('timestamp_to_minutes_with_tz', at('1700-06-01T00:00:00Z'), 'Europe/Amsterdam'),
    );
    expect(call('timestamp_to_year_with_tz', at('0001-01-01T00:00:00Z'), 'America/New_York')).toBe(0n);
  });

  test.each([
    ['nowhere', 'unknown time zone nowhere'],
    ['europe/berlin', 'unknown time zone europe/berlin'],
    ['+0200', 'unknown time zone +0200'],
    ['../zone', 'time: invalid location name'],
    ['x:30', 'strconv.Atoi: parsing "x": invalid syntax'],
    ['1:', 'strconv.Atoi: parsing "": invalid syntax'],
    ['9999999999999999999:0', 'strconv.Atoi: parsing "9999999999999999999": value out of range'],
  ])('rejects the zone %s', (zone, message) => {
    expect(() => call('timestamp_to_hours_with_tz', at('2024-01-01T00:00:00Z'), zone)).toThrow(new CelError(message));
  });

  test('keeps the UTC offset of a parsed text for formatting', () => {
    const time = at('2024-01-01T00:00:00.5-03:30') as CelTimestamp;
    expect(call('timestamp_to_string', time)).toBe('2024-01-01T00:00:00.5-03:30');
    expect(call('timestamp_to_hours', time)).toBe(3n);
    expect(call('timestamp_to_string', call('add_timestamp_duration', time, new CelDuration(1n)))).toBe(
      '2024-01-01T00:00:00.500000001-03:30',
    );
  });

  test('accepts timestamps from year 1 to year 9999', () => {
    const last = at('9999-12-31T23:59:59.999999999Z');
    expect(() => call('add_timestamp_duration', last, new CelDuration(1n))).toThrow(new CelError('timestamp overflow'));
    expect(() => at('0000-12-31T23:59:59Z')).toThrow(new CelError('timestamp overflow'));
    expect(() => call('subtract_timestamp_timestamp', last, at('0001-01-01T00:00:00Z'))).toThrow(
      new CelError('integer overflow'),
    );
  });
});

describe('ordering', () => {
  test.each([
    ['a', 'b'],
    ['a', 'aa'],
    ['\uffff', '\u{10000}'],
    ['\ud7ff', '\u{1f600}'],
    ['\u{1f600}', '\u{1f601}'],
  ])('orders %s before %s', (left, right) => {
    expect(call('less_string', left, right)).toBe(true);
    expect(call('greater_equals_string', left, right)).toBe(false);
  });

  test('orders bytes as unsigned numbers', () => {
    const bytes = (...values: number[]) => new CelBytes(Uint8Array.from(values));
    expect(call('less_bytes', bytes(1), bytes(1, 0))).toBe(true);
    expect(call('less_bytes', bytes(200), bytes(100, 1))).toBe(false);
  });

  test('orders numbers of different types by value, except NaN', () => {
    expect(call('less_int64_uint64', -1n, new CelUint(0n))).toBe(true);
    expect(call('less_uint64_double', new CelUint(2n ** 64n - 1n), 1e30)).toBe(true);
    expect(() => call('less_int64_double', 1n, Number.NaN)).toThrow(new CelError('NaN values cannot be ordered'));
  });
});
