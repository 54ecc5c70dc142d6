/** Time zone offsets compared with Intl in bulk, and formatting of times in a zone. */
import { expect, test } from 'vitest';
import { parseTime, timeToMs } from '../../../../src/text/time/time.js';
import { formatInZone, isTimeZone, offsetsIn } from '../../../../src/text/time/time-zone.js';

const HOUR = 3_600_000;

/** The offset according to Intl, without sharing code with the library. */
function platformOffset(zone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d+):(\d+))?$/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

test.each([
  'America/New_York',
  'Europe/London',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Asia/Kolkata',
  'Africa/Casablanca',
  'America/Sao_Paulo',
])('returns the offsets of %s for three years and around each change', (zone) => {
  const offsets = offsetsIn(zone);
  const from = Date.UTC(2024, 0, 1);
  let before = offsets(from);
  for (let ms = from; ms < Date.UTC(2027, 0, 1); ms += 7 * HOUR) {
    const now = offsets(ms);
    if (now !== before) {
      for (let near = ms - 7 * HOUR; near <= ms; near += HOUR / 2) {
        for (const moment of [near - 1, near])
          expect([moment, offsets(moment)]).toEqual([moment, platformOffset(zone, moment)]);
      }
    }
    before = now;
  }
  for (let ms = from; ms < Date.UTC(2027, 0, 1); ms += 97 * HOUR) expect(offsets(ms)).toBe(platformOffset(zone, ms));
});

test('applies a changed offset from its exact millisecond', () => {
  const offsets = offsetsIn('America/New_York');
  const change = Date.UTC(2026, 2, 8, 7);
  expect([offsets(change - 1) / HOUR, offsets(change) / HOUR]).toEqual([-5, -4]);
});

test.each([
  ['UTC', '2026-03-08T07:00:00Z', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-03-08T06:59:59Z', '2026-03-08T01:59:59-05:00'],
  ['America/New_York', '2026-03-08T07:00:00Z', '2026-03-08T03:00:00-04:00'],
  ['Asia/Kolkata', '2026-01-01T20:00:00Z', '2026-01-02T01:30:00+05:30'],
  ['Europe/London', '2026-01-01T20:00:00Z', '2026-01-01T20:00:00Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T05:45:00+05:45'],
])('formats in %s the time %s as %s', (zone, time, printed) => {
  expect(formatInZone(Date.parse(time), zone)).toBe(printed);
});

test('throws a RangeError for an unknown zone and rejects its name', () => {
  expect(() => offsetsIn('Nowhere/Land')).toThrow(RangeError);
  expect([isTimeZone('Nowhere/Land'), isTimeZone('Nowhere/Land'), isTimeZone('europe/london')]).toEqual([
    false,
    false,
    false,
  ]);
  expect([isTimeZone('Europe/London'), isTimeZone('Europe/London'), isTimeZone('Factory')]).toEqual([true, true, true]);
});

test('parses canonical times like others and rejects nonexistent days', () => {
  for (const text of ['2024-02-29T12:34:56Z', '2026-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '9999-12-31T00:00:00Z']) {
    expect(timeToMs(text)).toBe(Date.parse(text));
    expect(parseTime(text)).toBe(text);
  }
  for (const text of [
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-39T00:00:00Z',
  ]) {
    expect(() => timeToMs(text)).toThrow('day out of range');
  }
});
