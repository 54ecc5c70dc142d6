/** Times: accepted texts, canonical output and error messages. */
import { describe, expect, test } from 'vitest';
import {
  formatMicroTime,
  formatTime,
  goTimeString,
  humanDuration,
  parseMicroTime,
  parseTime,
  TimeError,
  timeToMs,
  ZERO_TIME,
} from '../../../../src/text/time/time.js';

const LAYOUT = '"2006-01-02T15:04:05Z07:00"';
const MICRO_LAYOUT = '"2006-01-02T15:04:05.000000Z07:00"';

describe('Time', () => {
  test.each([
    ['2024-05-01T10:00:00Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01T10:00:00.999999999Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01T10:00:00,5Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01T10:00:00+02:00', '2024-05-01T08:00:00Z'],
    ['2024-01-01T00:30:00+24:60', '2023-12-30T23:30:00Z'],
    ['2024-05-01T1:02:03Z', '2024-05-01T01:02:03Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['0050-03-01T00:00:00Z', '0050-03-01T00:00:00Z'],
    ['0000-01-01T00:00:00+01:00', '-0001-12-31T23:00:00Z'],
    ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59Z'],
    [ZERO_TIME, ZERO_TIME],
  ])('%s is kept as %s', (text, expected) => {
    expect(parseTime(text)).toBe(expected);
  });

  test.each([
    ['x', `parsing time "x" as ${LAYOUT}: cannot parse "x" as "2006"`],
    ['', `parsing time "" as ${LAYOUT}: cannot parse "" as "2006"`],
    ['yesterday', `parsing time "yesterday" as ${LAYOUT}: cannot parse "yesterday" as "2006"`],
    ['2024-05-01', `parsing time "2024-05-01" as ${LAYOUT}: cannot parse "" as "T"`],
    ['2024-05-01 10:00:00Z', `parsing time "2024-05-01 10:00:00Z" as ${LAYOUT}: cannot parse " 10:00:00Z" as "T"`],
    ['2024-5-01T10:00:00Z', `parsing time "2024-5-01T10:00:00Z" as ${LAYOUT}: cannot parse "5-01T10:00:00Z" as "01"`],
    ['2024-05-01T10:00:00', `parsing time "2024-05-01T10:00:00" as ${LAYOUT}: cannot parse "" as "Z07:00"`],
    ['2024-05-01T10:00:00.Z', `parsing time "2024-05-01T10:00:00.Z" as ${LAYOUT}: cannot parse ".Z" as "Z07:00"`],
    ['2024-13-01T10:00:00Z', 'parsing time "2024-13-01T10:00:00Z": month out of range'],
    ['2023-02-29T10:00:00Z', 'parsing time "2023-02-29T10:00:00Z": day out of range'],
    ['2024-05-00T10:00:00Z', 'parsing time "2024-05-00T10:00:00Z": day out of range'],
    ['2024-05-01T24:00:00Z', 'parsing time "2024-05-01T24:00:00Z": hour out of range'],
    ['2024-05-01T10:60:00Z', 'parsing time "2024-05-01T10:60:00Z": minute out of range'],
    ['2024-05-01T10:00:60Z', 'parsing time "2024-05-01T10:00:60Z": second out of range'],
    ['2024-05-01T10:00:00+25:00', 'parsing time "2024-05-01T10:00:00+25:00": time zone offset hour out of range'],
    ['2024-05-01T10:00:00Zabc', 'parsing time "2024-05-01T10:00:00Zabc": extra text: "abc"'],
    ['é"\n', `parsing time "\\xc3\\xa9\\"\\x0a" as ${LAYOUT}: cannot parse "\\xc3\\xa9\\"\\x0a" as "2006"`],
  ])('rejects %s', (text, message) => {
    expect(() => parseTime(text)).toThrow(new TimeError(message));
  });
});

describe('MicroTime', () => {
  test.each([
    ['2024-05-01T10:00:00.123456Z', '2024-05-01T10:00:00.123456Z'],
    ['2024-05-01T10:00:00.000000-01:30', '2024-05-01T11:30:00.000000Z'],
  ])('%s is kept as %s', (text, expected) => {
    expect(parseMicroTime(text)).toBe(expected);
  });

  test.each([
    ['noon', `parsing time "noon" as ${MICRO_LAYOUT}: cannot parse "noon" as "2006"`],
    ['2024-05-01T10:00:00Z', `parsing time "2024-05-01T10:00:00Z" as ${MICRO_LAYOUT}: cannot parse "Z" as ".000000"`],
    [
      '2024-05-01T10:00:00.123456789Z',
      `parsing time "2024-05-01T10:00:00.123456789Z" as ${MICRO_LAYOUT}: cannot parse "789Z" as "Z07:00"`,
    ],
    ['2024-05-01T10:00:00.-12345Z', 'parsing time "2024-05-01T10:00:00.-12345Z": fractional second out of range'],
  ])('rejects %s', (text, message) => {
    expect(() => parseMicroTime(text)).toThrow(new TimeError(message));
  });
});

test('formats milliseconds as times', () => {
  expect(formatTime(0)).toBe('1970-01-01T00:00:00Z');
  expect(formatTime(1_714_557_600_999)).toBe('2024-05-01T10:00:00Z');
  expect(formatTime(-1)).toBe('1969-12-31T23:59:59Z');
  expect(formatMicroTime(1_714_557_600_123)).toBe('2024-05-01T10:00:00.123000Z');
  expect(formatMicroTime(1_714_557_600_123, 456)).toBe('2024-05-01T10:00:00.123456Z');
  expect(formatMicroTime(-1)).toBe('1969-12-31T23:59:59.999000Z');
});

test('converts times to milliseconds', () => {
  expect(timeToMs('2024-05-01T10:00:00Z')).toBe(1_714_557_600_000);
  expect(timeToMs('2024-05-01T10:00:00.123456Z')).toBeCloseTo(1_714_557_600_123.456, 2);
});

test('formats times for messages', () => {
  expect(goTimeString('2001-01-01T00:00:00Z')).toBe('2001-01-01 00:00:00 +0000 UTC');
  expect(goTimeString('2024-01-02T03:04:05.678901Z')).toBe('2024-01-02 03:04:05.678901 +0000 UTC');
  expect(goTimeString('2024-01-02T03:04:05.500000Z')).toBe('2024-01-02 03:04:05.5 +0000 UTC');
  expect(goTimeString(ZERO_TIME)).toBe('0001-01-01 00:00:00 +0000 UTC');
});

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

test.each([
  [-2 * SECOND, '<invalid>'],
  [-1500, '0s'],
  [-10, '0s'],
  [0, '0s'],
  [119_999, '119s'],
  [2 * MINUTE, '2m'],
  [2 * MINUTE + 5 * SECOND, '2m5s'],
  [10 * MINUTE - 1, '9m59s'],
  [10 * MINUTE + 5 * SECOND, '10m'],
  [3 * HOUR - 1, '179m'],
  [3 * HOUR, '3h'],
  [8 * HOUR - 1, '7h59m'],
  [8 * HOUR, '8h'],
  [48 * HOUR - 1, '47h'],
  [48 * HOUR, '2d'],
  [51 * HOUR, '2d3h'],
  [8 * DAY - 1, '7d23h'],
  [8 * DAY, '8d'],
  [2 * YEAR - 1, '729d'],
  [2 * YEAR, '2y'],
  [2 * YEAR + DAY, '2y1d'],
  [8 * YEAR - 1, '7y364d'],
  [8 * YEAR + 50 * DAY, '8y'],
])('formats an age of %d ms as %s', (ms, expected) => {
  expect(humanDuration(ms)).toBe(expected);
});
