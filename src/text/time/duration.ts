/** Go durations such as `1h2m3.5s` as a number of nanoseconds. */
import { trimRight } from '../../util/trim.js';

/** An invalid duration; the message is for the client. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  // The micro sign and the Greek letter mu.
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

/** One more than the largest duration, and the absolute value of the smallest. */
const LIMIT = 2n ** 63n;

/**
 * Parses a duration to nanoseconds. Throws a DurationError.
 *
 * @example
 * parseDuration('1m0.5s') // 60_500_000_000n
 */
export function parseDuration(text: string): bigint {
  const invalid = () => new DurationError(`time: invalid duration ${quoteBytes(text)}`);
  const negative = text.startsWith('-');
  let rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') throw invalid();
  let total = 0n;
  while (rest !== '') {
    const number = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest);
    const [read = '', digits = '', fraction = ''] = number ?? [];
    if (digits === '' && fraction === '') throw invalid();
    const count = wholeNumber(digits);
    if (count === undefined) throw invalid();
    rest = rest.slice(read.length);
    const [name = ''] = /^[^.0-9]*/.exec(rest) ?? [];
    if (name === '') throw new DurationError(`time: missing unit in duration ${quoteBytes(text)}`);
    rest = rest.slice(name.length);
    const unit = UNITS.get(name);
    if (unit === undefined) {
      throw new DurationError(`time: unknown unit ${quoteBytes(name)} in duration ${quoteBytes(text)}`);
    }
    total += count * unit + partOf(unit, fraction);
    if (total > LIMIT) throw invalid();
  }
  if (negative) return -total;
  if (total === LIMIT) throw invalid();
  return total;
}

/** Parses digits; undefined beyond 63 bits. */
function wholeNumber(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  if (significant.length > 19) return undefined;
  const value = BigInt(significant);
  return value > LIMIT ? undefined : value;
}

/** A fraction of a unit, truncated to nanoseconds in floating point as Go does. */
function partOf(unit: bigint, fraction: string): bigint {
  let [numerator, scale] = [0n, 1];
  for (const digit of fraction) {
    // Digits beyond 63 bits are dropped.
    const next = numerator * 10n + BigInt(digit);
    if (numerator > (LIMIT - 1n) / 10n || next > LIMIT) break;
    [numerator, scale] = [next, scale * 10];
  }
  return BigInt(Math.trunc(Number(numerator) * (Number(unit) / scale)));
}

/** Formats a duration: `1h0m0.5s`, `100ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`;
  if (nanoseconds === 0n) return '0s';
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 1_000n)}\u00b5s`;
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 1_000_000n)}ms`;
  const minutes = nanoseconds / 60_000_000_000n;
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${minutes}m${seconds}` : `${hours}h${minutes % 60n}m${seconds}`;
}

/** Formats `count / unit` without trailing zeros; the unit is a power of ten. */
function decimal(count: bigint, unit: bigint): string {
  const places = unit.toString().length - 1;
  const fraction = trimRight((count % unit).toString().padStart(places, '0'), '0');
  return fraction === '' ? `${count / unit}` : `${count / unit}.${fraction}`;
}

/** Quotes a text as Go's time package does: non-ASCII characters are shown as escaped UTF-8 bytes. */
export function quoteBytes(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]+/g, escapeBytes)}"`;
}

function escapeBytes(text: string): string {
  let escaped = '';
  for (const byte of new TextEncoder().encode(text)) escaped += `\\x${byte.toString(16).padStart(2, '0')}`;
  return escaped;
}
