/**
 * Times on the wire: `Time` with whole seconds, `MicroTime` with exactly six decimals, both printed in UTC. Parsing
 * gives the text that is stored and sent back; errors say what the reference server says about a layout and the part
 * of the text that does not fit it. Nothing here reads a clock. spec: Time
 */
import { quoteBytes } from './duration.js';

/** A text that is no time; the message is what a client is told. */
export class TimeError extends Error {
  override readonly name = 'TimeError';
}

/** The zero time. Where it stands, the API sends `null`. */
export const ZERO_TIME = '0001-01-01T00:00:00Z';

interface Instant {
  /** Whole seconds since the epoch. */
  readonly seconds: number;
  readonly nanos: number;
}

/** The steps of a layout in order, each with the text that names it in errors. */
const TIME_LAYOUT = ['2006', '-', '01', '-', '02', 'T', '15', ':', '04', ':', '05', 'Z07:00'] as const;
const MICRO_TIME_LAYOUT = [...TIME_LAYOUT.slice(0, -1), '.000000', 'Z07:00'] as const;

// As this library writes times itself: nearly all that are ever read.
const CANONICAL = /^[0-9]{4}-(?:0[1-9]|1[0-2])-[0-3][0-9]T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/;

/** Whether a canonical text names a day that there is. */
function isRealDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day >= 1 && (day <= 28 || day <= daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7))));
}

/** The zero time and what is about it is left to the long way. */
const FIRST_COMMON = '0002';

/** Whether a text is a Time as this library writes it itself, which is what it nearly always reads. */
export function isUsualTime(text: string): boolean {
  return CANONICAL.test(text) && text >= FIRST_COMMON && isRealDay(text);
}

/**
 * The canonical text of a Time: fractions are accepted and cut. Throws a TimeError.
 *
 * @example
 * parseTime('2024-05-01T12:00:00.5+02:00') // '2024-05-01T10:00:00Z'
 */
export function parseTime(text: string): string {
  if (isUsualTime(text)) return text;
  if (knownTimes.has(text)) return text;
  const canonical = printSeconds(readTime(text, TIME_LAYOUT).seconds);
  if (knownTimes.size >= MAX_KNOWN_TIMES) knownTimes.clear();
  knownTimes.add(canonical);
  return canonical;
}

// Every update brings its object's creation time along, so the same few texts are read over and over.
const knownTimes = new Set<string>();
const MAX_KNOWN_TIMES = 256;

/** The canonical text of a MicroTime. Throws a TimeError, also when there are not exactly six decimals. */
export function parseMicroTime(text: string): string {
  return printMicros(readTime(text, MICRO_TIME_LAYOUT));
}

/** A Time or MicroTime in milliseconds since the epoch, with a fraction where the text has one. Throws a TimeError. */
export function timeToMs(text: string): number {
  // Platforms take the 30th of February for a day in March.
  if (CANONICAL.test(text) && isRealDay(text)) return midnightOf(text) + msOfDay(text);
  const { seconds, nanos } = readTime(text, TIME_LAYOUT);
  return seconds * 1000 + nanos / 1e6;
}

/** Of the day that a canonical text begins with. */
function midnightOf(text: string): number {
  if (!text.startsWith(lastDay.text)) {
    const day = text.slice(0, 10);
    lastDay = { text: day, midnightMs: Date.parse(`${day}T00:00:00Z`) };
  }
  return lastDay.midnightMs;
}

/** Times that are read one after the other are mostly of one day. */
let lastDay = { text: '1970-01-01', midnightMs: 0 };

function msOfDay(text: string): number {
  return (Number(text.slice(11, 13)) * 3600 + Number(text.slice(14, 16)) * 60 + Number(text.slice(17, 19))) * 1000;
}

/** A Time with all its decimals and the zone it was written in (seconds east of UTC); undefined for other texts. */
export function readInstant(text: string): (Instant & { readonly offset: number }) | undefined {
  try {
    return readTime(text, TIME_LAYOUT);
  } catch (error) {
    if (error instanceof TimeError) return undefined;
    throw error;
  }
}

/** A Time from milliseconds since the epoch, cut to the second. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastPrinted.second) lastPrinted = { second, text: printSeconds(second) };
  return lastPrinted.text;
}

/** Much is written in the same second. */
let lastPrinted = { second: 0, text: '1970-01-01T00:00:00Z' };

/** A MicroTime from milliseconds since the epoch and the microseconds beyond them. */
export function formatMicroTime(ms: number, micros = 0): string {
  const seconds = Math.floor(ms / 1000);
  return printMicros({ seconds, nanos: Math.floor((ms - seconds * 1000) * 1000 + micros) * 1000 });
}

/** A time as messages print it: `2001-01-01 00:00:00 +0000 UTC`, decimals only as far as needed. */
export function goTimeString(text: string): string {
  const { seconds, nanos } = readTime(text, TIME_LAYOUT);
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${printSeconds(seconds).slice(0, -1).replace('T', ' ')}${fraction} +0000 UTC`;
}

/** An age in a table: `5s`, `3m20s`, `8d`. A little below zero counts as now, because clocks differ. */
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

/** Two units, the smaller left out when it is zero. */
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
  /** Seconds east of UTC. */
  readonly offset: number;
}

/** What a step read and what it left; nothing when the text does not fit; or the part that is out of range. */
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
      // Checked against the month once the whole text is read.
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
  // Hours alone may have a single digit.
  const [digits] = (rule.part === 'hour' ? /^[0-9]{1,2}/ : /^[0-9]{2}/).exec(rest) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (value < rule.min || value > rule.max) return { outOfRange: rule.part };
  return { read: { [rule.part]: value }, rest: rest.slice(digits.length) };
}

/** A fraction may follow the seconds though the layout has none. */
function readSeconds(rest: string, next: string | undefined): Step {
  const step = readNumber(rest, { part: 'second', min: 0, max: 59 });
  if (step === undefined || 'outOfRange' in step || next === '.000000') return step;
  const [fraction = ''] = /^[.,][0-9]+/.exec(step.rest) ?? [];
  const nanos = Number(fraction.slice(1, 10).padEnd(9, '0'));
  return { read: { ...step.read, nanos }, rest: step.rest.slice(fraction.length) };
}

/** A point or a comma and exactly six characters: digits, of which the first may be a sign. */
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
  // A whole day and a whole hour are let through: people write them.
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
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(reading.year, reading.month - 1, reading.day);
  const seconds = reading.hour * 3600 + reading.minute * 60 + reading.second - reading.offset;
  return { seconds: midnight / 1000 + seconds, nanos: reading.nanos };
}

/** Written in the same day as the last: nearly always. */
function printSeconds(seconds: number): string {
  if (Math.abs(seconds) > LAST_SECOND) return printInFull(seconds);
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  if (day !== lastPrintedDay.day) {
    lastPrintedDay = { day, text: printInFull(day * SECONDS_PER_DAY).slice(0, -'00:00:00Z'.length) };
  }
  const left = seconds - day * SECONDS_PER_DAY;
  return `${lastPrintedDay.text}${twoDigits(Math.floor(left / 3600))}:${twoDigits(Math.floor(left / 60) % 60)}:${twoDigits(left % 60)}Z`;
}

const SECONDS_PER_DAY = 86_400;
/** Platforms know no later one, and none as long before the epoch. */
const LAST_SECOND = 8.64e12;
let lastPrintedDay = { day: Number.NaN, text: '' };

export function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : String(count);
}

/** The year by hand: Date prints years before 0 and after 9999 in a form of its own. */
function printInFull(seconds: number): string {
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

/** The English names, in which Go code spells months: January is the first. */
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
 * A stored time as Go code that makes it. Such times have no fraction and end in `Z`; the reference server runs in UTC and
 * prints what it has decoded as local.
 */
export function goTimeSyntax(time: string): string {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = time.match(/[0-9]+/g)?.map(Number) ?? [];
  return `time.Date(${year}, time.${MONTH_NAMES[month - 1]}, ${day}, ${hour}, ${minute}, ${second}, 0, time.Local)`;
}
