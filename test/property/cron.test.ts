/** Cron schedules: the next run is the first minute whose local time matches. */
import { expect, test } from 'vitest';
import { parseCron } from '../../src/text/time/cron.js';
import { formatInZone } from '../../src/text/time/time-zone.js';
import fc from './seeded.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns'];

/** The local minute, hour and offset of a time. */
function wall(ms: number, zone: string) {
  const text = formatInZone(ms, zone);
  return { minute: Number(text.slice(14, 16)), hour: Number(text.slice(11, 13)), offset: text.slice(19) };
}

function scanned(afterMs: number, zone: string, expected: { minutes: Set<number>; hours: Set<number> }): number {
  let time = Math.floor(afterMs / MINUTE) * MINUTE + MINUTE;
  for (; ; time += MINUTE) {
    const { minute, hour } = wall(time, zone);
    if (expected.minutes.has(minute) && expected.hours.has(hour)) return time;
  }
}

const minuteSets = fc.uniqueArray(fc.nat(59), { minLength: 1, maxLength: 4 });
const hourSets = fc.option(fc.uniqueArray(fc.nat(23), { minLength: 1, maxLength: 4 }), { nil: undefined });
const times = fc.nat(365 * 1_440 * 60).map((second) => Date.UTC(2030, 0, 1) + second * 1_000);

test('computes the next run of random schedules in several time zones', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), minuteSets, hourSets, times, (zone, minutes, hours, after) => {
      // Days with a clock change follow special rules, which the vectors cover.
      fc.pre(wall(after, zone).offset === wall(after + 2 * DAY, zone).offset);
      const next = parseCron(`TZ=${zone} ${minutes.join(',')} ${hours?.join(',') ?? '*'} * * *`).next(after);
      const expected = {
        minutes: new Set(minutes),
        hours: new Set(hours ?? Array.from({ length: 24 }, (_none, at) => at)),
      };
      expect(next).toBe(scanned(after, zone, expected));
    }),
    { numRuns: 1_000 },
  );
});

test('handles a clock change of half an hour', () => {
  // Lord Howe: the clock goes from 2:00 back to 1:30, and from 2:00 to 2:30.
  const schedule = parseCron('TZ=Australia/Lord_Howe */10 * * * *');
  for (const from of ['2030-04-06T13:00:00Z', '2030-10-05T14:00:00Z']) {
    const runs: string[] = [];
    let time = Date.parse(from);
    for (let count = 0; count < 24; count++) {
      time = schedule.next(time) as number;
      runs.push(new Date(time).toISOString());
    }
    // Every ten minutes of elapsed time: half an hour is a multiple of ten minutes.
    expect(runs).toEqual(
      Array.from({ length: 24 }, (_none, at) => new Date(Date.parse(from) + (at + 1) * 10 * MINUTE).toISOString()),
    );
  }
});

test('skips a day that the local calendar does not have', () => {
  // Samoa had no 30th of December in 2011, Kwajalein no 21st of August in 1993.
  const apia = parseCron('TZ=Pacific/Apia 0 0 13 * *').next(Date.UTC(2011, 11, 28)) as number;
  expect(formatInZone(apia, 'Pacific/Apia')).toBe('2012-01-13T00:00:00+14:00');
  const next = parseCron('TZ=Pacific/Apia 30 6 30,31 * *').next(Date.UTC(2011, 11, 28)) as number;
  expect(formatInZone(next, 'Pacific/Apia')).toBe('2011-12-31T06:30:00+14:00');
  const kwajalein = parseCron('TZ=Pacific/Kwajalein 0 12 22 8 *').next(Date.UTC(1993, 7, 18)) as number;
  expect(formatInZone(kwajalein, 'Pacific/Kwajalein')).toBe('1993-08-22T12:00:00+12:00');
});
