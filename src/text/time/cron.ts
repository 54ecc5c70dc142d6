/**
 * CronJob schedules (five fields or a macro, as robfig/cron's standard parser accepts them) and validation of time zone
 * names. Error messages and activations equal the reference server's, including activations it skips when the clock
 * changes. Callers pass the start time; nothing here reads the clock.
 */

import { quote } from '../go/go-text.js';
import { DurationError, parseDuration } from './duration.js';
import { isTimeZone, type Offsets, offsetsIn } from './time-zone.js';

/** An invalid schedule; the message is for the client. */
export class CronError extends Error {
  override readonly name = 'CronError';
}

export interface CronSchedule {
  /**
   * The first activation after a time, in milliseconds; undefined if there is none within five years. Fields are
   * interpreted in `timeZone` (default UTC) unless the schedule has its own. Throws a RangeError for an unknown zone;
   * see {@link isTimeZone}.
   */
  next(afterMs: number, timeZone?: string): number | undefined;
}

/** The error of a schedule; undefined if it is valid. */
export function cronProblem(schedule: string): string | undefined {
  try {
    parseCron(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

/**
 * Parses a schedule. Throws a CronError.
 *
 * @example
 * parseCron('30 2 * * *').next(Date.parse('2026-01-01T00:00:00Z')) // 2026-01-01T02:30:00Z
 */
export function parseCron(schedule: string): CronSchedule {
  if (schedule === '') throw new CronError('empty spec string');
  const { zone, text } = splitZone(schedule);
  if (text.startsWith('@')) return parseMacro(text, zone);
  return fieldSchedule(parseFields(text), zone);
}

/** The validation errors of the `timeZone` of a CronJob. */
export function timeZoneProblems(name: string): string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  // The local zone would depend on the server process.
  const isLocal = name.toLowerCase() === 'local';
  const problems = isLocal
    ? ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones']
    : [];
  // `Local` with this case is a valid zone for Go, so it gets no second error.
  if (name !== 'Local' && !isTimeZone(name)) problems.push(`unknown time zone ${name}`);
  return problems;
}

// Parsing

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const MINUTE: Field = { min: 0, max: 59, names: [] };
const HOUR: Field = { min: 0, max: 23, names: [] };
const DAY_OF_MONTH: Field = { min: 1, max: 31, names: [] };
const MONTH: Field = { min: 1, max: 12, names: MONTHS };
const DAY_OF_WEEK: Field = { min: 0, max: 6, names: WEEKDAYS };

/** The allowed values of a field. */
interface Allowed {
  readonly values: ReadonlySet<number>;
  /** Written with `*` or `?`: a day field that does not restrict. */
  readonly star: boolean;
}

interface Fields {
  readonly minute: Allowed;
  readonly hour: Allowed;
  readonly dayOfMonth: Allowed;
  readonly month: Allowed;
  readonly dayOfWeek: Allowed;
}

const MACROS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

// White space as Go defines it: includes U+0085, excludes the byte order mark.
const BLANKS = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** Splits off a `TZ=` or `CRON_TZ=` prefix. Without one the caller's zone applies. */
function splitZone(schedule: string): { readonly zone?: string; readonly text: string } {
  const [prefix] = /^(?:CRON_)?TZ=/.exec(schedule) ?? [];
  if (prefix === undefined) return { text: schedule };
  // The reference server panics without a space; here it is an error, because there are no fields.
  const space = schedule.includes(' ') ? schedule.indexOf(' ') : schedule.length;
  const zone = schedule.slice(prefix.length, space);
  const text = schedule.slice(space).trim();
  if (zone === 'Local') return { text };
  if (zone === '') return { zone: 'UTC', text };
  const problem = locationProblem(zone);
  if (problem !== undefined) throw new CronError(`provided bad location ${zone}: ${problem}`);
  return { zone, text };
}

function locationProblem(zone: string): string | undefined {
  if (/^[/\\]|\.\./.test(zone)) return 'time: invalid location name';
  return isTimeZone(zone) ? undefined : `unknown time zone ${zone}`;
}

function parseMacro(text: string, zone: string | undefined): CronSchedule {
  const fields = MACROS.get(text);
  if (fields !== undefined) return fieldSchedule(parseFields(fields), zone);
  if (!text.startsWith('@every ')) throw new CronError(`unrecognized descriptor: ${text}`);
  try {
    return intervalSchedule(parseDuration(text.slice('@every '.length)));
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw new CronError(`failed to parse duration ${text}: ${error.message}`);
  }
}

function parseFields(text: string): Fields {
  const fields = splitFields(text);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (dayOfWeek === undefined || fields.length !== 5) {
    throw new CronError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  // The order matters: the first error is reported.
  return {
    minute: parseField(minute ?? '', MINUTE),
    hour: parseField(hour ?? '', HOUR),
    dayOfMonth: parseField(dayOfMonth ?? '', DAY_OF_MONTH),
    month: parseField(month ?? '', MONTH),
    dayOfWeek: parseField(dayOfWeek, DAY_OF_WEEK),
  };
}

function splitFields(text: string): string[] {
  return text.split(BLANKS).filter((word) => word !== '');
}

/** A single comma is valid: it allows no values, and the schedule never activates. */
function parseField(text: string, field: Field): Allowed {
  const values = new Set<number>();
  let star = false;
  for (const expression of new Set(text.split(','))) {
    if (expression === '') continue;
    const range = parseRange(expression, field);
    star ||= range.star;
    for (let value = range.start; value <= range.end; value += range.step) values.add(value);
  }
  return { values, star };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly star: boolean;
}

function parseRange(expression: string, field: Field): Range {
  const [bounds = '', stepText, ...moreSteps] = expression.split('/');
  const [low = '', high, ...moreBounds] = bounds.split('-');
  const star = low === '*' || low === '?';
  let start: number | bigint = field.min;
  let end: number | bigint = field.max;
  if (!star) {
    start = parseValue(low, field);
    if (moreBounds.length > 0) throw new CronError(`too many hyphens: ${expression}`);
    end = high === undefined ? start : parseValue(high, field);
  }
  if (moreSteps.length > 0) throw new CronError(`too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : parseCount(stepText);
  // `5/10` ranges from 5 to the maximum of the field.
  if (stepText !== undefined && high === undefined) end = field.max;

  if (start < field.min) {
    throw new CronError(`beginning of range (${start}) below minimum (${field.min}): ${expression}`);
  }
  if (end > field.max) throw new CronError(`end of range (${end}) above maximum (${field.max}): ${expression}`);
  if (start > end) throw new CronError(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new CronError(`step of range should be a positive number: ${expression}`);
  return { start: Number(start), end: Number(end), step: Number(step), star: star && step === 1 };
}

function parseValue(text: string, field: Field): number | bigint {
  const index = field.names.indexOf(text.toLowerCase());
  return index < 0 ? parseCount(text) : index + field.min;
}

/** Returns a bigint if a number would print differently from the input. */
function parseCount(text: string): number | bigint {
  const problem = (reason: string) =>
    new CronError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: ${reason}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw problem('invalid syntax');
  const digits = text.replace(/^[+-]?0*/, '');
  const size = digits.length > 19 ? 2n ** 64n : BigInt(digits);
  const value = text.startsWith('-') ? -size : size;
  if (BigInt.asIntN(64, value) !== value) throw problem('value out of range');
  if (value < 0n) throw new CronError(`negative number (${value}) not allowed: ${text}`);
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

// Activations

const SECOND = 1_000;
const MINUTES = 60 * SECOND;
const HOURS = 60 * MINUTES;
/** Leap days are at most four years apart (except around centuries), plus one year of margin. */
const YEARS_AHEAD = 5;

/** An interval in whole seconds, at least one. */
function intervalSchedule(nanoseconds: bigint): CronSchedule {
  const seconds = nanoseconds < 1_000_000_000n ? 1 : Number(nanoseconds / 1_000_000_000n);
  return { next: (afterMs) => wholeSecond(afterMs) + seconds * SECOND };
}

function fieldSchedule(fields: Fields, ownZone: string | undefined): CronSchedule {
  return { next: (afterMs, timeZone) => nextActivation(fields, afterMs, offsetsIn(ownZone ?? timeZone ?? 'UTC')) };
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / SECOND) * SECOND;
}

/** A calendar unit of the search. `local` is a Date whose UTC getters return local time. */
interface Unit {
  matches(fields: Fields, local: Date): boolean;
  /** The start of the unit that contains a time. */
  floor(time: number, local: Date, offsets: Offsets): number;
  /** The start of the next unit. */
  step(time: number, local: Date, offsets: Offsets): number;
  /** Whether the step entered the next larger unit, which must then be matched again. */
  wrapped(local: Date): boolean;
}

// Months and days advance in local time, hours and smaller units in elapsed time. Where clocks change by half an hour
// or at midnight, the two diverge and an activation may be skipped; the reference server skips the same ones.
const UNITS: readonly Unit[] = [
  {
    matches: (fields, local) => fields.month.values.has(local.getUTCMonth() + 1),
    floor: (_time, local, offsets) => fromLocalTime(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), 1), offsets),
    step: (_time, local, offsets) => fromLocalTime(new Date(local).setUTCMonth(local.getUTCMonth() + 1), offsets),
    wrapped: (local) => local.getUTCMonth() === 0,
  },
  {
    matches: dayMatches,
    floor: (_time, local, offsets) => fromLocalTime(new Date(local).setUTCHours(0, 0, 0, 0), offsets),
    step: (_time, local, offsets) => {
      const next = fromLocalTime(new Date(local).setUTCDate(local.getUTCDate() + 1), offsets);
      // Midnight may not exist; the day then starts at 1:00 or the step ends at 23:00.
      const hour = new Date(next + offsets(next)).getUTCHours();
      return next + (hour > 12 ? 24 - hour : -hour) * HOURS;
    },
    wrapped: (local) => local.getUTCDate() === 1,
  },
  {
    matches: (fields, local) => fields.hour.values.has(local.getUTCHours()),
    floor: (_time, local, offsets) => fromLocalTime(new Date(local).setUTCMinutes(0, 0, 0), offsets),
    step: (time) => time + HOURS,
    wrapped: (local) => local.getUTCHours() === 0,
  },
  {
    matches: (fields, local) => fields.minute.values.has(local.getUTCMinutes()),
    floor: (time) => Math.floor(time / MINUTES) * MINUTES,
    step: (time) => time + MINUTES,
    wrapped: (local) => local.getUTCMinutes() === 0,
  },
  {
    matches: (_fields, local) => local.getUTCSeconds() === 0,
    floor: (time) => time,
    step: (time, local) => time + (60 - local.getUTCSeconds()) * SECOND,
    wrapped: () => true,
  },
];

/** If both day fields are restricted, either may match; otherwise both must, and a star always does. */
function dayMatches(fields: Fields, local: Date): boolean {
  const month = fields.dayOfMonth.values.has(local.getUTCDate());
  const week = fields.dayOfWeek.values.has(local.getUTCDay());
  return fields.dayOfMonth.star || fields.dayOfWeek.star ? month && week : month || week;
}

function nextActivation(fields: Fields, afterMs: number, offsets: Offsets): number | undefined {
  const wall = (ms: number) => new Date(ms + offsets(ms));
  let time = wholeSecond(afterMs) + SECOND;
  let local = wall(time);
  const soon = laterThisHour(fields, { time, local, offsets });
  if (soon !== undefined) return soon;
  // An empty field never matches; do not search for years.
  if ([fields.minute, fields.hour, fields.month].some(({ values }) => values.size === 0)) return undefined;
  const lastYear = local.getUTCFullYear() + YEARS_AHEAD;
  // After the first step, all smaller units are at their start.
  let floored = false;
  search: while (local.getUTCFullYear() <= lastYear) {
    for (const unit of UNITS) {
      while (!unit.matches(fields, local)) {
        if (!floored) {
          time = unit.floor(time, local, offsets);
          local = wall(time);
          floored = true;
        }
        const next = unit.step(time, local, offsets);
        // A day that a zone skipped leads back to the previous one; the reference server loops forever here.
        time = next > time ? next : time + 24 * HOURS;
        local = wall(time);
        if (unit.wrapped(local)) continue search;
      }
    }
    return time;
  }
  return undefined;
}

/** Fast path: a later minute of the same hour. */
function laterThisHour(
  fields: Fields,
  { time, local, offsets }: { readonly time: number; readonly local: Date; readonly offsets: Offsets },
): number | undefined {
  if (!fields.month.values.has(local.getUTCMonth() + 1) || !dayMatches(fields, local)) return undefined;
  if (!fields.hour.values.has(local.getUTCHours())) return undefined;
  const second = local.getUTCSeconds();
  const present = local.getUTCMinutes();
  let minute = second === 0 ? present : present + 1;
  while (minute < 60 && !fields.minute.values.has(minute)) minute++;
  if (minute === 60) return undefined;
  const next = time + (minute - present) * MINUTES - second * SECOND;
  const offset = offsets(time);
  // If the offset changes within the hour or has seconds, use the full search.
  return offset % MINUTES === 0 && offsets(next) === offset ? next : undefined;
}

/**
 * Converts local time to a time. An ambiguous local time resolves via the offset at the same instant in UTC; a
 * nonexistent one moves by the size of the gap. Both match Go's `time.Date`.
 */
function fromLocalTime(reading: number, offsets: Offsets): number {
  const guess = reading - offsets(reading);
  return reading - offsets(guess);
}
