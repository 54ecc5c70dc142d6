/**
 * Converts strings with a format to CEL values: timestamps, durations and bytes. The format is validated before rules
 * are evaluated, so errors only occur for objects that were stored before the format was required.
 */
import { CelBytes, CelDuration, CelError, CelTimestamp } from '../../cel/index.js';
import { DurationError, parseDuration } from '../../text/time/duration.js';
import { parseTime, TimeError } from '../../text/time/time.js';
import { Base64Error, canonicalBase64 } from '../../util/base64.js';

type TextValue = CelBytes | CelDuration | CelTimestamp | string;

/** Returns the reader for a format; undefined if values of the format stay strings. */
export function textReader(format: string | undefined): ((text: string) => TextValue) | undefined {
  return format === undefined ? undefined : READERS.get(format);
}

const READERS: ReadonlyMap<string, (text: string) => TextValue> = new Map<string, (text: string) => TextValue>([
  ['duration', readDuration],
  ['date', readDate],
  ['date-time', readDateTime],
  ['byte', readBytes],
]);

/** Unit names. The last name of each row is a prefix (`mins`, `hours`). */
const UNITS: readonly (readonly [nanos: bigint, ...names: string[]])[] = [
  [1n, 'ns', 'nano'],
  [1_000n, 'us', '\u00b5s', 'micro'],
  [1_000_000n, 'ms', 'milli'],
  [1_000_000_000n, 's', 'sec'],
  [60_000_000_000n, 'm', 'min'],
  [3_600_000_000_000n, 'h', 'hr', 'hour'],
  [86_400_000_000_000n, 'd', 'day'],
  [604_800_000_000_000n, 'w', 'wk', 'week'],
];

/** A Go duration (`1h30m`), otherwise the sum of all amounts with a unit in the text: `3 days`, `P1D`. */
function readDuration(text: string): CelDuration {
  const plain = plainDuration(text);
  if (plain !== undefined) return new CelDuration(plain);
  let total: bigint | undefined;
  for (const [, digits = '', word = ''] of text.matchAll(/(\d+)\s*([A-Za-z\u00b5]+)/g)) {
    const count = BigInt(digits);
    if (count >= 2n ** 63n) {
      throw new CelError(`Invalid duration ${text}: strconv.Atoi: parsing "${digits}": value out of range`);
    }
    const unit = unitNamed(word.toLowerCase());
    if (unit !== undefined) total = BigInt.asIntN(64, (total ?? 0n) + count * unit);
  }
  if (total === undefined) throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new CelDuration(total);
}

function plainDuration(text: string): bigint | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}

function unitNamed(word: string): bigint | undefined {
  const row = UNITS.find(([, ...names]) => names.includes(word) || word.startsWith(names.at(-1) ?? word));
  return row?.[0];
}

function readDate(text: string): CelTimestamp {
  try {
    return new CelTimestamp(nanosOf(parseTime(`${text}${MIDNIGHT}`)));
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    const message = error.message.replaceAll(`${MIDNIGHT}"`, '"').replace('T15:04:05Z07:00": ', '": ');
    throw new CelError(`Invalid date formatted string ${text}: ${withoutRest(message, 'T')}`);
  }
}

const MIDNIGHT = 'T00:00:00Z';

/** A time with a zone, or without one: then it is in UTC. */
function readDateTime(text: string): CelTimestamp {
  if (text === '') return new CelTimestamp(0n);
  const [, fraction = ''] = /[.,](\d+)/.exec(text) ?? [];
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const [zone = ''] = /([zZ]|[-+]\d{2}:\d{2})$/.exec(text) ?? [];
  try {
    return new CelTimestamp(nanosOf(parseTime(zone === '' ? `${text}Z` : text)) + nanos, secondsEast(zone));
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    // The reference server tries several layouts and reports the error of the last one, which has no zone.
    const own = zone === '' ? error.message.replaceAll('Z"', '"') : error.message;
    const message = withoutRest(own, 'Z07:00').replace('05Z07:00": ', '05": ');
    throw new CelError(`Invalid date-time formatted string ${text}: ${message}`);
  }
}

/** For a layout that ends before `element`, the error is extra text instead of a missing element. */
function withoutRest(message: string, element: string): string {
  const [, time, rest, missing] = /^(parsing time .*) as .*: cannot parse (".*") as "(.*)"$/s.exec(message) ?? [];
  return missing === element ? `${time}: extra text: ${rest}` : message;
}

/** The offset of a zone such as `+02:00`. */
function secondsEast(zone: string): number {
  const [hours, minutes] = zone.slice(1).split(':');
  if (hours === undefined || minutes === undefined) return 0;
  return (Number(hours) * 3600 + Number(minutes) * 60) * (zone.startsWith('-') ? -1 : 1);
}

function nanosOf(canonical: string): bigint {
  return BigInt(Date.parse(canonical)) * 1_000_000n;
}

/**
 * In the base64url alphabet (`-` and `_`), although the format is validated in the standard alphabet: as in the
 * reference server.
 */
function readBytes(text: string): CelBytes {
  const inStandard = text.replace(/[-_+/]/g, (symbol) => ({ '-': '+', _: '/' })[symbol] ?? '!');
  try {
    const characters = atob(canonicalBase64(inStandard));
    return new CelBytes(Uint8Array.from(characters, (character) => character.charCodeAt(0)));
  } catch (error) {
    if (error instanceof Base64Error) throw new CelError(`Invalid byte formatted string ${text}: ${error.message}`);
    throw error;
  }
}
