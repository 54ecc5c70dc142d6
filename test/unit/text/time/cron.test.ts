/** Schedules: results of robfig/cron, behaviour around clock changes, and time zone names. */
import { describe, expect, test } from 'vitest';
import { CronError, cronProblem, parseCron, timeZoneProblems } from '../../../../src/text/time/cron.js';
import { isTimeZone } from '../../../../src/text/time/time-zone.js';
import { readVectors } from '../../../vectors/read.js';

interface CronVector {
  readonly expr: string;
  readonly error?: string;
  readonly zone?: string;
  readonly from?: string;
  readonly next?: readonly string[];
}

interface Question {
  readonly schedule: string;
  readonly zone?: string | undefined;
  readonly from: string;
  readonly count: number;
}

/** The next activations, or `never` if there are no more. */
function activations({ schedule, zone, from, count }: Question): string[] {
  const cron = parseCron(schedule);
  const found: string[] = [];
  let time: number | undefined = Date.parse(from);
  while (found.length < count) {
    time = cron.next(time, zone);
    if (time === undefined) return [...found, 'never'];
    found.push(new Date(time).toISOString().replace('.000Z', 'Z'));
  }
  return found;
}

describe('parseCron with the vectors of cron.json', () => {
  const vectors = readVectors('cron') as CronVector[];

  test.each(vectors)(
    'computes the runs of $expr from $from in $zone',
    ({ expr, error, zone, from = '', next = [] }) => {
      expect(cronProblem(expr)).toBe(error);
      if (error !== undefined) return;
      expect(activations({ schedule: expr, zone, from, count: next.length })).toEqual(next);
    },
  );
});

test.each([
  ['', 'empty spec string'],
  [' ', 'expected exactly 5 fields, found 0: []'],
  ['x', 'expected exactly 5 fields, found 1: [x]'],
  ['61 * * * *', 'end of range (61) above maximum (59): 61'],
  ['* * 0-3 * *', 'beginning of range (0) below minimum (1): 0-3'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['9223372036854775807 * * * *', 'end of range (9223372036854775807) above maximum (59): 9223372036854775807'],
  [
    '9223372036854775808 * * * *',
    'failed to parse int from 9223372036854775808: strconv.Atoi: parsing "9223372036854775808": value out of range',
  ],
  ['@Daily', 'unrecognized descriptor: @Daily'],
  ['@daily ', 'unrecognized descriptor: @daily '],
  ['@every', 'unrecognized descriptor: @every'],
  ['@every  1h', 'failed to parse duration @every  1h: time: invalid duration " 1h"'],
  ['TZ=Nowhere 0 0 * * *', 'provided bad location Nowhere: unknown time zone Nowhere'],
  ['TZ=../x 0 0 * * *', 'provided bad location ../x: time: invalid location name'],
  // The reference server panics on this one.
  ['TZ=UTC', 'expected exactly 5 fields, found 0: []'],
])('rejects the schedule %j', (schedule, message) => {
  expect(cronProblem(schedule)).toBe(message);
  expect(() => parseCron(schedule)).toThrow(new CronError(message));
});

test.each([
  '*-5 * * * *',
  '+5 * * * *',
  ',1,, * * * *',
  '* * * JAN-mar Mon,Fri',
  '\t*\u00a0* * * *\n',
  'TZ=UTC  @every 5m',
])('accepts the schedule %j', (schedule) => {
  expect(cronProblem(schedule)).toBeUndefined();
});

test.each([
  [
    'skips a nonexistent hour',
    '30 2 * * *',
    'America/New_York',
    '2026-03-07T00:00:00Z',
    '2026-03-07T07:30:00Z 2026-03-09T06:30:00Z 2026-03-10T06:30:00Z',
  ],
  [
    'activates twice in a repeated hour',
    '30 1 * * *',
    'America/New_York',
    '2026-10-31T12:00:00Z',
    '2026-11-01T05:30:00Z 2026-11-01T06:30:00Z 2026-11-02T06:30:00Z',
  ],
  [
    'skips the hour after a half-hour change',
    '0 3 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T12:00:00Z',
    '2026-10-02T16:30:00Z 2026-10-04T16:00:00Z 2026-10-05T16:00:00Z',
  ],
  [
    'skips a nonexistent midnight',
    '0 0 * * *',
    'America/Santiago',
    '2026-09-05T00:00:00Z',
    '2026-09-05T04:00:00Z 2026-09-07T03:00:00Z 2026-09-08T03:00:00Z',
  ],
  [
    'matches either of two restricted day fields',
    '0 0 13 * 5',
    'UTC',
    '2026-02-01T00:00:00Z',
    '2026-02-06T00:00:00Z 2026-02-13T00:00:00Z 2026-02-20T00:00:00Z',
  ],
  [
    'restricts a day field with a star and a step',
    '0 0 */2 * 5',
    'UTC',
    '2026-02-01T00:00:00Z',
    '2026-02-03T00:00:00Z 2026-02-05T00:00:00Z 2026-02-06T00:00:00Z',
  ],
  [
    'does not restrict a day field with a star and step one',
    '0 0 */1 * 5',
    'UTC',
    '2026-02-01T00:00:00Z',
    '2026-02-06T00:00:00Z 2026-02-13T00:00:00Z 2026-02-20T00:00:00Z',
  ],
  [
    'uses the zone of the caller',
    'TZ=Local 0 0 * * *',
    'Asia/Kolkata',
    '2026-02-01T00:00:00Z',
    '2026-02-01T18:30:00Z 2026-02-02T18:30:00Z 2026-02-03T18:30:00Z',
  ],
  [
    'treats an empty zone name as UTC',
    'TZ= 0 0 * * *',
    'Asia/Kolkata',
    '2026-02-01T00:00:00Z',
    '2026-02-02T00:00:00Z 2026-02-03T00:00:00Z 2026-02-04T00:00:00Z',
  ],
  [
    'rounds intervals down to seconds',
    '@every 1500ms',
    'UTC',
    '2026-01-01T00:00:00.700Z',
    '2026-01-01T00:00:01Z 2026-01-01T00:00:02Z 2026-01-01T00:00:03Z',
  ],
  [
    'uses intervals of at least one second',
    '@every -5s',
    'UTC',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:01Z 2026-01-01T00:00:02Z 2026-01-01T00:00:03Z',
  ],
  ['searches at most five years', '0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 'never'],
  ['never activates for a single comma', ', * * * *', 'UTC', '2026-02-01T00:00:00Z', 'never'],
])('%s: %s in %s', (_name, schedule, zone, from, outcome) => {
  // Results of robfig/cron 3.0.1.
  expect(activations({ schedule, zone, from, count: 3 }).join(' ')).toBe(outcome);
});

test('interprets fields in UTC without a zone', () => {
  expect(activations({ schedule: '5 4 * * *', from: '2026-01-01T00:00:00Z', count: 1 })).toEqual([
    '2026-01-01T04:05:00Z',
  ]);
});

test.each([
  'UTC',
  'GMT',
  'Zulu',
  'Factory',
  'EST5EDT',
  'GB-Eire',
  'W-SU',
  'Etc/GMT+12',
  'Etc/Greenwich',
  'US/East-Indiana',
  'Asia/Kolkata',
  'Asia/Calcutta',
  'Australia/ACT',
  'Australia/Lord_Howe',
  'America/Port-au-Prince',
  'America/Knox_IN',
  'America/Argentina/ComodRivadavia',
  'America/North_Dakota/New_Salem',
  'Africa/Dar_es_Salaam',
  'Antarctica/McMurdo',
  'Antarctica/DumontDUrville',
  'Chile/EasterIsland',
])('accepts the zone %s', (name) => {
  expect(isTimeZone(name)).toBe(true);
  expect(timeZoneProblems(name)).toEqual([]);
  for (const other of [name.toLowerCase(), name.toUpperCase()]) expect(isTimeZone(other)).toBe(other === name);
});

test.each([
  '+01:00',
  '-00:00',
  '+01',
  'utc',
  'JST',
  'GMT+1',
  'US/Pacific-New',
  'SystemV/AST4',
  'Etc/Unknown',
  'Europe',
  'Europe/London ',
  'Europe//London',
  '../UTC',
  'Europe/Nowhere',
])('rejects the zone %j', (name) => {
  expect(isTimeZone(name)).toBe(false);
  expect(timeZoneProblems(name)).toEqual([`unknown time zone ${name}`]);
});

test('rejects the local zone of the server', () => {
  const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  expect(timeZoneProblems('')).toEqual(['timeZone must be nil or non-empty string']);
  expect(timeZoneProblems('Local')).toEqual([explicit]);
  expect(timeZoneProblems('LOCAL')).toEqual([explicit, 'unknown time zone LOCAL']);
});
