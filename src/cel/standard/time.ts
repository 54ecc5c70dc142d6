/**
 * Timestamps and durations: arithmetic limited to years 1 to 9999 and 64-bit nanoseconds, parts of a time in a time
 * zone (default UTC), and formatting.
 */

import { quote } from '../../text/go/go-text.js';
import { trimRight } from '../../util/trim.js';
import { Failure, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { intOf, MAX_INT, MIN_INT } from '../numbers.js';
import { CelDuration, CelTimestamp, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';

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
  // cel-go negates the duration first, which overflows for the smallest one.
  return right.nanos === MIN_INT ? INT_OVERFLOW : timestamp(left.nanos - right.nanos, left.offset);
}

function difference(left: bigint, right: bigint): Result {
  // The whole seconds must fit on their own.
  const seconds = (wholeSeconds(left) - wholeSeconds(right)) * NANOS_PER_SECOND;
  return seconds > MAX_INT || seconds < MIN_INT ? INT_OVERFLOW : duration(left - right);
}

export function negateDuration(value: CelDuration): Result {
  return duration(-value.nanos);
}

/** Reads a part of a local date and time. */
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
  // Not Date.UTC, which maps years 0 to 99 to 1900 to 1999.
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

/** Uses floating point, as Go does: a duration just below a whole hour may round to a whole hour. */
function inUnits(nanos: bigint, unit: bigint): bigint {
  return BigInt(Math.trunc(Number(nanos / unit) + Number(nanos % unit) / Number(unit)));
}

function partOfDuration(unit: bigint): (value: CelValue) => Result {
  return (value) => (value instanceof CelDuration ? inUnits(value.nanos, unit) : NO_SUCH_OVERLOAD);
}

/** Functions by overload id. */
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

/** The UTC offset in seconds of a zone (a name or `-02:30`) at a time (seconds since 1970). */
function offsetIn(zone: string, seconds: number): number | Failure {
  spendWork(zone.length * 10);
  const colon = zone.indexOf(':');
  if (colon < 0) return offsetOfName(zone, seconds);
  const hours = wholeNumber(zone.slice(0, colon));
  if (hours instanceof Failure) return hours;
  const minutes = wholeNumber(zone.slice(colon + 1));
  if (minutes instanceof Failure) return minutes;
  // The sign of the hours applies to the minutes, too.
  return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60;
}

const MAX_NUMBER = 2n ** 63n;

function wholeNumber(text: string): number | Failure {
  const problem = (what: string) => new Failure(`strconv.Atoi: parsing ${quote(text)}: ${what}`);
  if (!/^[+-]?[0-9]+$/.test(text)) return problem('invalid syntax');
  const digits = text.replace(/^[+-]?0*/, '');
  if (digits.length > 19) return problem('value out of range');
  const value = BigInt(text.replace('+', ''));
  if (value >= MAX_NUMBER || value < -MAX_NUMBER) return problem('value out of range');
  return Number(value);
}

/** Work of a time zone lookup, which is slow, and more so the first time. */
const LOOKUP = 6000;
const FIRST_LOOKUP = 60_000;

const MAX_CACHED_ZONES = 50;

const zones = new Map<string, Intl.DateTimeFormat | Failure>();

function offsetOfName(name: string, seconds: number): number | Failure {
  if (name === '' || name === 'UTC' || name === 'Local') return 0;
  spendWork(LOOKUP);
  let zone = zones.get(name);
  if (zone === undefined) {
    if (zones.size >= MAX_CACHED_ZONES) zones.clear();
    spendWork(FIRST_LOOKUP);
    zone = zoneOf(name);
    zones.set(name, zone);
  }
  return zone instanceof Failure ? zone : offsetAt(zone, seconds);
}

function zoneOf(name: string): Intl.DateTimeFormat | Failure {
  if (name.includes('..') || name.startsWith('/') || name.includes('\\')) {
    return new Failure('time: invalid location name');
  }
  const unknown = new Failure(`unknown time zone ${name}`);
  // JavaScript accepts offsets without a colon and lower-case names; Go does not.
  if (!/^[A-Z]/.test(name)) return unknown;
  try {
    const zone = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    // Go reads zones from files, so names are case-sensitive. Aliases of a zone cannot be compared.
    const { timeZone } = zone.resolvedOptions();
    return timeZone !== name && timeZone.toLowerCase() === name.toLowerCase() ? unknown : zone;
  } catch (error) {
    if (error instanceof RangeError) return unknown;
    throw error;
  }
}

function offsetAt(zone: Intl.DateTimeFormat, seconds: number): number {
  const part: Record<string, number> = {};
  let before = false;
  for (const { type, value } of zone.formatToParts(seconds * 1000)) {
    if (type === 'era') before = value.startsWith('B');
    else part[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const local = new Date(0);
  local.setUTCFullYear(before ? 1 - year : year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  return local.getTime() / 1000 - seconds;
}

/** Formats a timestamp with its original UTC offset and as many decimals as needed: `2024-05-01T12:00:00.5+02:00`. */
export function formatTimestamp({ nanos, offset }: CelTimestamp): string {
  const local = nanos + BigInt(offset) * 1_000_000_000n;
  const part = ((local % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const fraction = part === 0n ? '' : `.${trimRight(String(part).padStart(9, '0'), '0')}`;
  const date = new Date(Number((local - part) / 1_000_000n));
  // Date prints years beyond 9999, which an offset can cause, in an expanded format.
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return `${year}${date.toISOString().slice(-20, -5)}${fraction}${formatOffset(offset)}`;
}

function formatOffset(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(Math.trunc(offset / 60));
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60];
  return `${offset < 0 ? '-' : '+'}${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
