/** Integer bounds, comparison of numbers of different types, and number formatting. */

export const MIN_INT = -(2n ** 63n);
export const MAX_INT = 2n ** 63n - 1n;
export const MAX_UINT = 2n ** 64n - 1n;

const TWO_TO_63 = 2 ** 63;
const TWO_TO_64 = 2 ** 64;

/** Compares a double with an int rounded to a double, as cel-go does. The result is NaN if the double is NaN. */
export function compareDoubleInt(left: number, right: bigint): number {
  if (left < -TWO_TO_63) return -1;
  if (left > TWO_TO_63) return 1;
  return compareDoubles(left, Number(right));
}

export function compareDoubleUint(left: number, right: bigint): number {
  if (left < 0) return -1;
  if (left > TWO_TO_64) return 1;
  return compareDoubles(left, Number(right));
}

export function compareDoubles(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  return left === right ? 0 : Number.NaN;
}

/** Truncates a double to an int; undefined if it is NaN or does not fit. */
export function intOfDouble(value: number): bigint | undefined {
  // cel-go rejects the smallest int, too.
  return value > -TWO_TO_63 && value < TWO_TO_63 ? BigInt(Math.trunc(value)) : undefined;
}

export function uintOfDouble(value: number): bigint | undefined {
  return value >= 0 && value < TWO_TO_64 ? BigInt(Math.trunc(value)) : undefined;
}

const SMALL_FROM = -128;
const SMALL_TO = 1024;
const SMALL_INTS: readonly bigint[] = Array.from({ length: SMALL_TO - SMALL_FROM }, (_, index) =>
  BigInt(index + SMALL_FROM),
);

/** Converts a whole number to an int. Small ints are cached. */
export function intOf(value: number): bigint {
  return SMALL_INTS[value - SMALL_FROM] ?? BigInt(value);
}

/** Formats a double as Go's `strconv.FormatFloat(x, 'g', -1, 64)`: `1.5`, `1e+06`, `+Inf`. */
export function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return formatPlain(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Formats a double without exponent, with the shortest round-trip digits: `0.0000001`. */
export function formatPlain(value: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return Object.is(value, -0) ? '-0' : text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const power = Number(exponent);
  const all = first + rest;
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${all}`;
  return sign + all.padEnd(power + 1, '0');
}

function nonFinite(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
