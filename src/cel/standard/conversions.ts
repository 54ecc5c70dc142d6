/** Type conversions by overload id. All conversions from an invalid string fail with the same message format. */
import { DurationError, parseDuration } from '../../text/time/duration.js';
import { readInstant } from '../../text/time/time.js';
import { Failure, type Result } from '../failure.js';
import { fromUtf8, utf8 } from '../library/text.js';
import { formatDouble, formatPlain, intOfDouble, MAX_INT, MAX_UINT, MIN_INT, uintOfDouble } from '../numbers.js';
import { typeOfValue } from '../runtime-type.js';
import { CelBytes, CelDuration, type CelTimestamp, CelTypeValue, CelUint, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';
import { formatTimestamp, NANOS_PER_SECOND, timestamp, wholeSeconds } from './time.js';

const INT_OVERFLOW = new Failure('integer overflow');
const UINT_OVERFLOW = new Failure('unsigned integer overflow');
const NOT_UTF8 = new Failure('invalid UTF-8 in bytes, cannot convert to string');

function impossible(from: string, to: string): Failure {
  return new Failure(`type conversion error from '${from}' to '${to}'`);
}

const NO_BOOL = impossible('string', 'bool');
const NO_INT = impossible('string', 'int');
const NO_UINT = impossible('string', 'uint');
const NO_DOUBLE = impossible('string', 'double');
const NO_DURATION = impossible('string', 'google.protobuf.Duration');
const NO_TIMESTAMP = impossible('string', 'google.protobuf.Timestamp');
/** cel-go declares this conversion, but it always fails. */
const NO_INT_DURATION = impossible('int', 'google.protobuf.Duration');

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function boolOfText(text: string): Result {
  return TRUE.has(text) || (FALSE.has(text) ? false : NO_BOOL);
}

function intOfText(text: string): Result {
  spendWork(text.length * 10);
  if (!/^[+-]?[0-9]+$/.test(text)) return NO_INT;
  const digits = text.replace(/^[+-]?0*/, '');
  if (digits.length > 19) return NO_INT;
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value > MAX_INT || value < MIN_INT ? NO_INT : value;
}

function uintOfText(text: string): Result {
  spendWork(text.length * 10);
  if (!/^[0-9]+$/.test(text)) return NO_UINT;
  const digits = text.replace(/^0*/, '');
  if (digits.length > 20) return NO_UINT;
  const value = BigInt(digits);
  return value > MAX_UINT ? NO_UINT : new CelUint(value);
}

function doubleOfText(text: string): Result {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special !== null) {
    // NaN must not have a sign.
    if (special[2] === undefined) return special[1] === '' ? Number.NaN : NO_DOUBLE;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  spendWork(text.length * 10);
  // Underscores are allowed between digits.
  if (/^[+-]?0x/i.test(text)) {
    return /[^0-9a-fx]_|_[^0-9a-f]|^_|_$/i.test(text) ? NO_DOUBLE : doubleOfHex(text.replaceAll('_', ''));
  }
  if (/[^0-9]_|_[^0-9]|^_|_$/.test(text)) return NO_DOUBLE;
  const digits = text.replaceAll('_', '');
  if (!/^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i.test(digits)) return NO_DOUBLE;
  const value = Number(digits);
  return Number.isFinite(value) ? value : NO_DOUBLE;
}

/** `0x1.8p3`: a binary exponent, which is required. */
function doubleOfHex(text: string): Result {
  const match = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?[0-9]+)$/i.exec(text);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match ?? [];
  if (match === null || whole + fraction === '') return NO_DOUBLE;
  const value = scaled(BigInt(`0x${whole}${fraction}`), Number(exponent) - 4 * fraction.length);
  return Number.isFinite(value) ? (sign === '-' ? -value : value) : NO_DOUBLE;
}

/** Computes `mantissa * 2^power` with a single rounding. */
function scaled(mantissa: bigint, power: number): number {
  if (mantissa === 0n) return 0;
  const bits = mantissa.toString(2).length;
  const top = bits + power;
  if (top > 1024) return Number.POSITIVE_INFINITY;
  if (top < -1080) return 0;
  // Keep as many bits as a double of this magnitude has, rounded half to even.
  const keep = Math.min(53, top + 1074);
  const drop = bits - keep;
  if (drop <= 0) return Number(mantissa) * 2 ** power;
  const half = 1n << BigInt(drop - 1);
  let kept = mantissa >> BigInt(drop);
  const rest = mantissa - (kept << BigInt(drop));
  if (rest > half || (rest === half && kept % 2n === 1n)) kept += 1n;
  const shift = power + drop;
  return shift < -1022 ? Number(kept) * 2 ** (shift + 100) * 2 ** -100 : Number(kept) * 2 ** shift;
}

/** Tested first, because the duration parser would format the whole text into an error message. */
const DURATION = /^[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;

function durationOfText(text: string): Result {
  spendWork(text.length * 50);
  if (!DURATION.test(text)) return NO_DURATION;
  try {
    return new CelDuration(parseDuration(text));
  } catch (error) {
    if (error instanceof DurationError) return NO_DURATION;
    throw error;
  }
}

const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

function timestampOfText(text: string): Result {
  spendWork(text.length * 50);
  if (!TIMESTAMP.test(text)) return NO_TIMESTAMP;
  const instant = readInstant(text);
  if (instant === undefined) return NO_TIMESTAMP;
  return timestamp(BigInt(instant.seconds) * NANOS_PER_SECOND + BigInt(instant.nanos), instant.offset);
}

/** Formats a duration in seconds with the precision of a double. */
export function durationText({ nanos }: CelDuration): string {
  const seconds = Number(nanos / NANOS_PER_SECOND) + Number(nanos % NANOS_PER_SECOND) / 1e9;
  return `${formatPlain(seconds)}s`;
}

/** If the types are known at run time only, the cost does not cover the copy. */
function bytesOfText(text: string): Result {
  spendWork(text.length * 3);
  return new CelBytes(utf8(text));
}

function textOfBytes({ bytes }: CelBytes): Result {
  spendWork(bytes.length * 3);
  return fromUtf8(bytes) ?? NOT_UTF8;
}

const same = (value: CelValue): Result => value;

/** The caller checks that arguments match the types in the names. */
const CONVERSIONS: Readonly<Record<string, (value: never) => Result>> = {
  bool_to_bool: same,
  string_to_bool: boolOfText,
  bytes_to_bytes: same,
  string_to_bytes: bytesOfText,
  double_to_double: same,
  int64_to_double: (value: bigint) => Number(value),
  string_to_double: doubleOfText,
  uint64_to_double: ({ value }: CelUint) => Number(value),
  duration_to_duration: same,
  int64_to_duration: () => NO_INT_DURATION,
  string_to_duration: durationOfText,
  to_dyn: same,
  int64_to_int64: same,
  double_to_int64: (value: number) => intOfDouble(value) ?? INT_OVERFLOW,
  duration_to_int64: ({ nanos }: CelDuration) => nanos,
  string_to_int64: intOfText,
  timestamp_to_int64: ({ nanos }: CelTimestamp) => wholeSeconds(nanos),
  uint64_to_int64: ({ value }: CelUint) => (value > MAX_INT ? INT_OVERFLOW : value),
  string_to_string: same,
  bool_to_string: (value: boolean) => String(value),
  bytes_to_string: textOfBytes,
  double_to_string: (value: number) => formatDouble(value),
  duration_to_string: durationText,
  int64_to_string: (value: bigint) => String(value),
  timestamp_to_string: formatTimestamp,
  uint64_to_string: ({ value }: CelUint) => String(value),
  timestamp_to_timestamp: same,
  int64_to_timestamp: (value: bigint) => timestamp(value * NANOS_PER_SECOND),
  string_to_timestamp: timestampOfText,
  uint64_to_uint64: same,
  double_to_uint64: (value: number) => {
    const uint = uintOfDouble(value);
    return uint === undefined ? UINT_OVERFLOW : new CelUint(uint);
  },
  int64_to_uint64: (value: bigint) => (value < 0n ? UINT_OVERFLOW : new CelUint(value)),
  string_to_uint64: uintOfText,
  type: (value: CelValue) => new CelTypeValue(typeOfValue(value)),
};

export const CONVERSION_FUNCTIONS: ReadonlyMap<string, (...args: CelValue[]) => Result> = new Map(
  Object.entries(CONVERSIONS).map(([id, convert]) => [id, (value: CelValue) => convert(value as never)]),
);
