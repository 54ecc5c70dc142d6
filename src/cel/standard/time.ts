/**
 * Times and durations: arithmetic within years 1 to 9999 and 64 bits of nanoseconds, and the parts of a time in a time
 * zone (UTC unless said otherwise).
 */
import { Failure, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { intOf, MAX_INT, MIN_INT } from '../numbers.js';
import { CelDuration, CelTimestamp, type CelValue } from '../values.js';
import { offsetIn } from './time-zone.js';

export const NANOS_PER_SECOND = 1_000_000_000n;
const MIN_SECONDS = -62_135_596_800n;
const MAX_SECONDS = 253_402_300_799n;

const INT_OVERFLOW = new Failure('integer overflow');
export const TIMESTAMP_OVERFLOW = new Failure('timestamp overflow');

export function wholeSeconds(nanos: bigint): bigint {
  const seconds = nanos / NANOS_PER_SECOND;
  return nanos % NANOS_PER_SECOND < 0n ? seconds - 1n : seconds;
}

export function timestamp(nanos: bigint, offset = 0): Result {
  const seconds = wholeSeconds(nanos);
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS ? TIMESTAMP_OVERFLOW : new CelTimestamp(nanos, offset);
}

function duration(nanos: bigint): Result {
  return nanos > MAX_INT || nanos < MIN_INT ? INT_OVERFLOW : new CelDuration(nanos);
}

export function addTime(left: CelTimestamp | CelDuration, right: CelValue): Result {
  if (left instanceof CelTimestamp) {
    return right instanceof CelDuration ? timestamp(left.nanos + right.nanos, left.offset) : NO_SUCH_OVERLOAD;
  }
  if (right instanceof CelDuration) return duration(left.nanos + right.nanos);
  return right instanceof CelTimestamp ? timestamp(left.nanos + right.nanos, right.offset) : NO_SUCH_OVERLOAD;
}

export function subtractTime(left: CelTimestamp | CelDuration, right: CelValue): Result {
  if (left instanceof CelDuration) {
    return right instanceof CelDuration ? duration(left.nanos - right.nanos) : NO_SUCH_OVERLOAD;
  }
  if (right instanceof CelTimestamp) return difference(left.nanos, right.nanos);
  if (!(right instanceof CelDuration)) return NO_SUCH_OVERLOAD;
  // The duration is turned around first, which the smallest one cannot be.
  return right.nanos === MIN_INT ? INT_OVERFLOW : timestamp(left.nanos - right.nanos, left.offset);
}

function difference(left: bigint, right: bigint): Result {
  // Whole seconds have to fit alone.
  const seconds = (wholeSeconds(left) - wholeSeconds(right)) * NANOS_PER_SECOND;
  return seconds > MAX_INT || seconds < MIN_INT ? INT_OVERFLOW : duration(left - right);
}

export function negateDuration(value: CelDuration): Result {
  return duration(-value.nanos);
}

/** A time as clocks and calendars of a zone show it. */
type Part = (date: Date, nanos: number) => number;

const TIME_PARTS: Readonly<Record<string, Part>> = {
  year: (date) => date.getUTCFullYear(),
  month: (date) => date.getUTCMonth(),
  day_of_year: (date) => Math.floor((date.getTime() - startOfYear(date)) / 86_400_000),
  day_of_month: (date) => date.getUTCDate() - 1,
  day_of_month_1_based: (date) => date.getUTCDate(),
  day_of_week: (date) => date.getUTCDay(),
  hours: (date) => date.getUTCHours(),
  minutes: (date) => date.getUTCMinutes(),
  seconds: (date) => date.getUTCSeconds(),
  milliseconds: (_date, nanos) => Math.floor(nanos / 1_000_000),
};

function startOfYear(date: Date): number {
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  return new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1);
}

function partOfTime(part: Part, time: CelValue, zone: CelValue | undefined): Result {
  if (!(time instanceof CelTimestamp) || (zone !== undefined && typeof zone !== 'string')) return NO_SUCH_OVERLOAD;
  const seconds = Number(wholeSeconds(time.nanos));
  const offset = zone === undefined ? 0 : offsetIn(zone, seconds);
  if (offset instanceof Failure) return offset;
  const nanos = Number(((time.nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND);
  return intOf(part(new Date((seconds + offset) * 1000), nanos));
}

/** In floating point, as the reference counts: a hair below a whole hour may be a whole hour. */
function inUnits(nanos: bigint, unit: bigint): bigint {
  return BigInt(Math.trunc(Number(nanos / unit) + Number(nanos % unit) / Number(unit)));
}

function partOfDuration(unit: bigint): (value: CelValue) => Result {
  return (value) => (value instanceof CelDuration ? inUnits(value.nanos, unit) : NO_SUCH_OVERLOAD);
}

/** By overload. */
export const TIME_FUNCTIONS: ReadonlyMap<string, (...args: CelValue[]) => Result> = new Map([
  ...Object.entries(TIME_PARTS).flatMap(([name, part]) => [
    [`timestamp_to_${name}`, (time: CelValue) => partOfTime(part, time, undefined)] as const,
    [
      name === 'seconds' ? 'timestamp_to_seconds_tz' : `timestamp_to_${name}_with_tz`,
      (time: CelValue, zone: CelValue) => partOfTime(part, time, zone),
    ] as const,
  ]),
  ['duration_to_hours', partOfDuration(3_600_000_000_000n)],
  ['duration_to_minutes', partOfDuration(60_000_000_000n)],
  ['duration_to_seconds', partOfDuration(NANOS_PER_SECOND)],
  [
    'duration_to_milliseconds',
    (value: CelValue) => (value instanceof CelDuration ? value.nanos / 1_000_000n : NO_SUCH_OVERLOAD),
  ],
] as readonly (readonly [string, (...args: CelValue[]) => Result])[]);
