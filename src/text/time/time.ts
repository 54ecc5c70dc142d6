/**
 * Wire format of times: `Time` with whole seconds, `MicroTime` with exactly six decimals, both printed in UTC. Parsing
 * returns the canonical text that is stored and sent; error messages equal those of Go's time.Parse. Nothing here reads
 * the clock. spec: Conventions
 */
import { trimRight } from '../../util/trim.js';
import { quoteBytes } from './duration.js';

/** An invalid time; the message is for the client. */
export class TimeError extends Error {
  override readonly name = 'TimeError';
}

/** The zero time. The API sends it as `null`. */
export const ZERO_TIME = '0001-01-01T00:00:00Z';

interface Instant {
  /** Whole seconds since the epoch. */
  readonly seconds: number;
  readonly nanos: number;
}

/** The elements of a layout, as they are named in errors. */
const TIME_LAYOUT = ['2006', '-', '01', '-', '02', 'T', '15', ':', '04', ':', '05', 'Z07:00'] as const;
const MICRO_TIME_LAYOUT = [...TIME_LAYOUT.slice(0, -1), '.000000', 'Z07:00'] as const;

// The canonical form, which most inputs have.
const CANONICAL = /^[0-9]{4}-(?:0[1-9]|1[0-2])-[0-3][0-9]T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/;

/** Whether the day of a canonical text exists in its month. */
function isRealDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day >= 1 && (day <= 28 || day <= daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7))));
}

/** Years before this one take the slow path (zero time). */
const FIRST_FAST_YEAR = '0002';

/** Whether a text is a valid Time in canonical form. */
export function isCanonicalTime(text: string): boolean {
  return CANONICAL.test(text) && text >= FIRST_FAST_YEAR && isRealDay(text);
}

/**
 * Returns the canonical text of a Time: fractions are accepted and truncated. Throws a TimeError.
 *
 * @example
 * parseTime('2024-05-01T12:00:00.5+02:00') // '2024-05-01T10:00:00Z'
 */
export function parseTime(text: string): string {
  if (isCanonicalTime(text)) return text;
  if (knownTimes.has(text)) return text;
  const canonical = printSeconds(readTime(text, TIME_LAYOUT).seconds);
  if (knownTimes.size >= MAX_KNOWN_TIMES) knownTimes.clear();
  knownTimes.add(canonical);
  return canonical;
}

// Updates repeat the creation time of their object, so the same few texts are parsed again and again.
const knownTimes = new Set<string>();
const MAX_KNOWN_TIMES = 256;

/** Returns the canonical text of a MicroTime. Throws a TimeError, also if there are not exactly six decimals. */
export function parseMicroTime(text: string): string {
  return printMicros(readTime(text, MICRO_TIME_LAYOUT));
}

/** Converts a Time or MicroTime to milliseconds since the epoch, including fractions. Throws a TimeError. */
export function timeToMs(text: string): number {
  // Date.parse maps February 30 to March.
  if (CANONICAL.test(text) && isRealDay(text)) return midnightOf(text) + msOfDay(text);
  const { seconds, nanos } = readTime(text, TIME_LAYOUT);
  return seconds * 1000 + nanos / 1e6;
}

/** Midnight of the day of a canonical text in milliseconds. */
function midnightOf(text: string): number {
  if (!text.startsWith(lastDay.text)) {
    const day = text.slice(0, 10);
    lastDay = { text: day, midnightMs: Date.parse(`${day}T00:00:00Z`) };
  }
  return lastDay.midnightMs;
}

/** Consecutive times are mostly on the same day. */
let lastDay = { text: '1970-01-01', midnightMs: 0 };

function msOfDay(text: string): number {
  return (Number(text.slice(11, 13)) * 3600 + Number(text.slice(14, 16)) * 60 + Number(text.slice(17, 19))) * 1000;
}

/** Parses a Time with all its decimals and its UTC offset in seconds; undefined if it is invalid. */
export function readInstant(text: string): (Instant & { readonly offset: number }) | undefined {
  try {
    return readTime(text, TIME_LAYOUT);
  } catch (error) {
    if (error instanceof TimeError) return undefined;
    throw error;
  }
}

/** Formats milliseconds since the epoch as a Time, truncated to seconds. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastPrinted.second) lastPrinted = { second, text: printSeconds(second) };
  return lastPrinted.text;
}

/** Consecutive writes are often in the same second. */
let lastPrinted = { second: 0, text: '1970-01-01T00:00:00Z' };

/** Formats milliseconds since the epoch and additional microseconds as a MicroTime. */
export function formatMicroTime(ms: number, micros = 0): string {
  const seconds = Math.floor(ms / 1000);
  return printMicros({ seconds, nanos: Math.floor((ms - seconds * 1000) * 1000 + micros) * 1000 });
}

/** Formats a time as Go's String method does: `2001-01-01 00:00:00 +0000 UTC`, with decimals only as needed. */
export function goTimeString(text: string): string {
  const { seconds, nanos } = readTime(text, TIME_LAYOUT);
  const fraction = nanos === 0 ? '' : `.${trimRight(String(nanos).padStart(9, '0'), '0')}`;
  return `${printSeconds(seconds).slice(0, -1).replace('T', ' ')}${fraction} +0000 UTC`;
}

/** Formats an age for a table: `5s`, `3m20s`, `8d`. Slightly negative ages count as zero, because clocks differ. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair([minutes, 'm'], [seconds % 60, 's']);
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair([hours, 'h'], [minutes % 60, 'm']);
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return pair([days, 'd'], [hours % 24, 'h']);
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? pair([years, 'y'], [days % 365, 'd']) : `${years}y`;
}

/** Formats two units; omits the smaller one if it is zero. */
function pair(large: readonly [number, string], small: readonly [number, string]): string {
  return large.join('') + (small[0] === 0 ? '' : small.join(''));
}

interface Reading {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanos: number;
  /** UTC offset in seconds. */
  readonly offset: number;
}

/**
 * The values a layout element read and the remaining text; undefined if the text does not match; or the part that is
 * out of range.
 */
type Step = { readonly read?: Partial<Reading>; readonly rest: string } | { readonly outOfRange: string } | undefined;

function readTime(text: string, layout: readonly string[]): Instant & { readonly offset: number } {
  const reading = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanos: 0, offset: 0 };
  let rest = text;
  for (const [index, element] of layout.entries()) {
    const step = readStep(element, rest, layout[index + 1]);
    if (step === undefined) {
      const why = `cannot parse ${quoteBytes(rest)} as ${quoteBytes(element)}`;
      throw new TimeError(`parsing time ${quoteBytes(text)} as ${quoteBytes(layout.join(''))}: ${why}`);
    }
    if ('outOfRange' in step) throw new TimeError(`parsing time ${quoteBytes(text)}: ${step.outOfRange} out of range`);
    Object.assign(reading, step.read);
    rest = step.rest;
  }
  if (rest !== '') throw new TimeError(`parsing time ${quoteBytes(text)}: extra text: ${quoteBytes(rest)}`);
  if (reading.day < 1 || reading.day > daysIn(reading.year, reading.month)) {
    throw new TimeError(`parsing time ${quoteBytes(text)}: day out of range`);
  }
  return { ...instantOf(reading), offset: reading.offset };
}

function readStep(element: string, rest: string, next: string | undefined): Step {
  switch (element) {
    case '2006': {
      const [year] = /^[0-9]{4}/.exec(rest) ?? [];
      return year === undefined ? undefined : { read: { year: Number(year) }, rest: rest.slice(4) };
    }
    case '01':
      return readNumber(rest, { part: 'month', min: 1, max: 12 });
    case '02':
      // The day is checked against the month at the end.
      return readNumber(rest, { part: 'day', min: 0, max: 99 });
    case '15':
      return readNumber(rest, { part: 'hour', min: 0, max: 23 });
    case '04':
      return readNumber(rest, { part: 'minute', min: 0, max: 59 });
    case '05':
      return readSeconds(rest, next);
    case '.000000':
      return readMicros(rest);
    case 'Z07:00':
      return readZone(rest);
    default:
      return rest.startsWith(element) ? { rest: rest.slice(element.length) } : undefined;
  }
}

function readNumber(rest: string, rule: { part: keyof Reading; min: number; max: number }): Step {
  // Only hours may have a single digit.
  const [digits] = (rule.part === 'hour' ? /^[0-9]{1,2}/ : /^[0-9]{2}/).exec(rest) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (value < rule.min || value > rule.max) return { outOfRange: rule.part };
  return { read: { [rule.part]: value }, rest: rest.slice(digits.length) };
}

/** A fraction may follow the seconds even if the layout has none. */
function readSeconds(rest: string, next: string | undefined): Step {
  const step = readNumber(rest, { part: 'second', min: 0, max: 59 });
  if (step === undefined || 'outOfRange' in step || next === '.000000') return step;
  const [fraction = ''] = /^[.,][0-9]+/.exec(step.rest) ?? [];
  const nanos = Number(fraction.slice(1, 10).padEnd(9, '0'));
  return { read: { ...step.read, nanos }, rest: step.rest.slice(fraction.length) };
}

/** A point or comma and exactly six characters: digits, of which the first may be a sign. */
function readMicros(rest: string): Step {
  const match = /^[.,]([+-][0-9]{5}|[0-9]{6})/.exec(rest);
  if (match === null) return undefined;
  const micros = Number(match[1]);
  return micros < 0 ? { outOfRange: 'fractional second' } : { read: { nanos: micros * 1000 }, rest: rest.slice(7) };
}

function readZone(rest: string): Step {
  if (rest.startsWith('Z')) return { rest: rest.slice(1) };
  const match = /^([^\u0080-\uffff])([0-9]{2}):(?:([0-9]{2})|..)/s.exec(rest);
  if (match === null) return undefined;
  const [sign, hours, minutes] = [match[1], Number(match[2]), Number(match[3])];
  // Go accepts offsets of 24 hours and 60 minutes.
  if (minutes > 60) return { outOfRange: 'time zone offset minute' };
  if (hours > 24) return { outOfRange: 'time zone offset hour' };
  if (match[3] === undefined || (sign !== '+' && sign !== '-')) return undefined;
  return { read: { offset: (sign === '-' ? -60 : 60) * (hours * 60 + minutes) }, rest: rest.slice(6) };
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function instantOf(reading: Reading): Instant {
  // Not Date.UTC, which maps years 0 to 99 to 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(reading.year, reading.month - 1, reading.day);
  const seconds = reading.hour * 3600 + reading.minute * 60 + reading.second - reading.offset;
  return { seconds: midnight / 1000 + seconds, nanos: reading.nanos };
}

/** Caches the text of the last day. */
function printSeconds(seconds: number): string {
  if (Math.abs(seconds) > LAST_SECOND) return printFullTime(seconds);
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  if (day !== lastPrintedDay.day) {
    lastPrintedDay = { day, text: printFullTime(day * SECONDS_PER_DAY).slice(0, -'00:00:00Z'.length) };
  }
  const left = seconds - day * SECONDS_PER_DAY;
  return `${lastPrintedDay.text}${twoDigits(Math.floor(left / 3600))}:${twoDigits(Math.floor(left / 60) % 60)}:${twoDigits(left % 60)}Z`;
}

const SECONDS_PER_DAY = 86_400;
/** The range of Date in seconds. */
const LAST_SECOND = 8.64e12;
let lastPrintedDay = { day: Number.NaN, text: '' };

export function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : String(count);
}

/** Formats the year separately, because Date prints years outside 0 to 9999 in an expanded format. */
function printFullTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  if (year >= 0 && year <= 9999) return `${date.toISOString().slice(0, 19)}Z`;
  const digits = String(Math.abs(year)).padStart(4, '0');
  return `${year < 0 ? '-' : ''}${digits}${date.toISOString().slice(-20, -5)}Z`;
}

function printMicros({ seconds, nanos }: Instant): string {
  const micros = String(Math.floor(nanos / 1000)).padStart(6, '0');
  return `${printSeconds(seconds).slice(0, -1)}.${micros}Z`;
}

/** English month names as in Go's time package. */
export const MONTH_NAMES: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/**
 * Formats a stored time as Go's `%#v`. Stored times have no fraction and end in `Z`; the reference server runs in UTC
 * and prints decoded times as local.
 */
export function goTimeSyntax(time: string): string {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = time.match(/[0-9]+/g)?.map(Number) ?? [];
  return `time.Date(${year}, time.${MONTH_NAMES[month - 1]}, ${day}, ${hour}, ${minute}, ${second}, 0, time.Local)`;
}

/** Whether a text is an RFC 3339 full-date: `2024-05-01`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  if (Number(month) < 1 || Number(month) > 12) return false;
  return Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month));
}

/**
 * Whether a text is a date-time as the reference server's format check defines it: a date, `t` and a time. It ignores
 * what follows a second `t` and allows any character before the fraction.
 */
export function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t', 2);
  if (time === undefined || !isDate(date)) return false;
  const [, hour = '', minute = '', second = ''] =
    /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u.exec(time) ?? [];
  return hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}
