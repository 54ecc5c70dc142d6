/**
 * Resource quantities (`500m`, `1.5Gi`, `1e3`): immutable exact decimal numbers with a format.
 *
 * A value is `mantissa × 10^scale`. The reference server represents small values as 64-bit integers and others as
 * arbitrary-precision decimals. The two overflow differently, so `wide` records which one applies. spec: Conventions
 */
import {
  BINARY_SUFFIXES,
  DECIMAL_SUFFIXES,
  MAX_INT64,
  MAX_SPREAD,
  MIN_INT64,
  NANO,
  type Parts,
  parseParts,
  type QuantityFormat,
  SAFE_DIGITS,
} from './quantity-text.js';

export type { QuantityFormat } from './quantity-text.js';

/** Thrown for an invalid quantity. Clients see the message. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

export type QuantityResult =
  | { readonly ok: true; readonly quantity: Quantity }
  | { readonly ok: false; readonly message: string };

/**
 * @example
 * Quantity.parse('1.5Gi').toString() // '1536Mi'
 * Quantity.parse('100m').add(Quantity.parse('0.9')).toString() // '1'
 */
export class Quantity {
  readonly #mantissa: bigint;
  readonly #scale: number;
  readonly #wide: boolean;
  readonly format: QuantityFormat;
  #text: string | undefined;

  private constructor(parts: Parts) {
    this.#mantissa = parts.mantissa;
    this.#scale = parts.scale;
    this.#wide = parts.wide;
    this.format = parts.format;
    this.#text = parts.text;
  }

  static readonly zero = new Quantity({ mantissa: 0n, scale: 0, format: 'DecimalSI', wide: false });

  /** Throws QuantityError. Surrounding spaces are invalid; JSON decoders trim them first. */
  static parse(text: string): Quantity {
    const parts = parseParts(text);
    if (typeof parts === 'string') throw new QuantityError(parts);
    return new Quantity(parts);
  }

  /** Like {@link Quantity.parse}, but returns the error. */
  static tryParse(text: string): QuantityResult {
    const parts = parseParts(text);
    return typeof parts === 'string' ? { ok: false, message: parts } : { ok: true, quantity: new Quantity(parts) };
  }

  /** Parses the decimal text of a number. Throws QuantityError if it is not finite. */
  static fromNumber(value: number | bigint): Quantity {
    return Quantity.parse(String(value));
  }

  /** `mantissa * 10^scale`, printed in the given format. */
  static of(mantissa: bigint, options: { scale?: number; format?: QuantityFormat } = {}): Quantity {
    const { scale = 0, format = 'DecimalSI' } = options;
    return new Quantity({ mantissa, scale, format, wide: !fitsInt64(mantissa) });
  }

  /** -1, 0 or 1. */
  sign(): number {
    return signOf(this.#mantissa);
  }

  isZero(): boolean {
    return this.#mantissa === 0n;
  }

  /** Compares by value, regardless of the format: -1, 0 or 1. */
  cmp(other: Quantity): number {
    const sign = this.sign();
    if (sign !== other.sign()) return sign < other.sign() ? -1 : 1;
    if (sign === 0) return 0;
    if (Math.abs(this.#scale - other.#scale) > MAX_SPREAD) {
      // The scales are too far apart to align; compare the number of digits before the decimal point.
      const difference = digitsOf(this.#mantissa) + this.#scale - (digitsOf(other.#mantissa) + other.#scale);
      if (difference !== 0) return difference > 0 ? sign : -sign;
    }
    const scale = Math.min(this.#scale, other.#scale);
    return signOf(this.#at(scale) - other.#at(scale));
  }

  equals(other: Quantity): boolean {
    return this.cmp(other) === 0;
  }

  /** The sum in this value's format; if this value is zero, in the other's. */
  add(other: Quantity): Quantity {
    const format = this.isZero() ? other.format : this.format;
    if (!this.#wide && !other.#wide) {
      if (other.isZero()) return this.#with({ format });
      if (this.isZero()) return other.#with({ format });
    }
    if (Math.abs(this.#scale - other.#scale) > MAX_SPREAD) {
      // The smaller value is negligible.
      const kept = other.isZero() || (!this.isZero() && this.#scale > other.#scale) ? this : other;
      return kept.#with({ format, wide: true });
    }
    const scale = Math.min(this.#scale, other.#scale);
    const [left, right] = [this.#at(scale), other.#at(scale)];
    const mantissa = left + right;
    // A value that has once exceeded 64 bits stays wide.
    const wide = this.#wide || other.#wide || !fitsInt64(left) || !fitsInt64(right) || !fitsInt64(mantissa);
    return new Quantity({ mantissa, scale, format, wide });
  }

  /** The difference in this value's format; if this value is zero, in the other's. */
  sub(other: Quantity): Quantity {
    // In 64-bit arithmetic the smallest integer is its own negation.
    const wrapped = this.add(other.neg());
    if (other.#mantissa !== MIN_INT64 || !wrapped.#wide) return wrapped;
    return this.add(other.#with({ mantissa: -other.#mantissa, wide: true }));
  }

  neg(): Quantity {
    const mantissa = -this.#mantissa;
    return this.#with({ mantissa: this.#wide ? mantissa : BigInt.asIntN(64, mantissa) });
  }

  /** Rounds away from zero to a multiple of `10^scale`; keeps the text if the value does not change. */
  roundUp(scale: number): Quantity {
    if (this.#scale < scale) return this.#with({ mantissa: divideAway(this.#mantissa, scale - this.#scale), scale });
    if (!this.#wide || this.#scale - scale > MAX_SPREAD) return this;
    return this.#with({ mantissa: this.#at(scale), scale });
  }

  /** The whole number, rounded up. Values beyond 64 bits wrap as they do on the reference server. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** A thousand times the value, rounded up; wraps like {@link Quantity.value}. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  /** The value in units of `10^scale`, rounded up; wraps like {@link Quantity.value}. */
  scaledValue(scale: number): bigint {
    // 10^64 and everything above is a multiple of 2^64.
    if (this.#scale - scale > MAX_SPREAD) return 0n;
    return this.#wide
      ? wideScaledValue(this.#mantissa, this.#scale - scale)
      : narrowScaledValue(this.#mantissa, this.#scale - scale);
  }

  /** The exact whole number if the value is held as one: undefined for fractions, also `1000m`, and wide decimals. */
  asInt64(): bigint | undefined {
    if (this.#wide || this.#scale < 0) return undefined;
    if (this.#mantissa === 0n) return 0n;
    if (this.#scale > SAFE_DIGITS) return undefined;
    const whole = this.#at(0);
    return fitsInt64(whole) ? whole : undefined;
  }

  /** The nearest floating-point number, with an error of at most one unit in the last place. */
  approximateFloat(): number {
    const base = Number(this.#mantissa);
    return this.#scale === 0 ? base : base * powerOfTen(this.#scale);
  }

  /** The canonical text. Returns the parsed text if the parser recognised it as canonical. */
  toString(): string {
    this.#text ??= this.#canonical();
    return this.#text;
  }

  /** The value with a number of decimals, rounded away from zero. */
  toFixed(decimals: number): string {
    const rounded = this.roundUp(-decimals).#at(-decimals);
    const digits = absolute(rounded)
      .toString()
      .padStart(decimals + 1, '0');
    return `${rounded < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  }

  toJSON(): string {
    return this.toString();
  }

  #canonical(): string {
    if (this.#mantissa === 0n) return '0';
    const whole = this.format === 'BinarySI' ? this.#wholeFrom1024() : undefined;
    if (whole !== undefined) return printBinary(whole);
    return printDecimal(this.#mantissa, this.#scale, this.format === 'DecimalExponent' ? 'exponent' : 'suffix');
  }

  /** The integer value; undefined if it is a fraction or below 1024, where no binary suffix applies. */
  #wholeFrom1024(): bigint | undefined {
    const divisor = this.#scale < 0 ? 10n ** BigInt(-this.#scale) : 1n;
    if (this.#mantissa % divisor !== 0n) return undefined;
    const whole = this.#scale < 0 ? this.#mantissa / divisor : this.#at(0);
    return absolute(whole) < 1024n ? undefined : whole;
  }

  /** The mantissa for a scale that is at most this value's scale. */
  #at(scale: number): bigint {
    return this.#mantissa * 10n ** BigInt(this.#scale - scale);
  }

  #with(change: Partial<Parts>): Quantity {
    return new Quantity({
      mantissa: this.#mantissa,
      scale: this.#scale,
      format: this.format,
      wide: this.#wide,
      ...change,
    });
  }
}

/** `12000` → `12k`: uses the largest power of 1000 that leaves no fraction. */
function printDecimal(mantissa: bigint, scale: number, style: 'suffix' | 'exponent'): string {
  const digits = mantissa.toString();
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  const power = scale + digits.length - end;
  const padding = ((power % 3) + 3) % 3;
  const exponent = power - padding;
  const number = digits.slice(0, end) + '0'.repeat(padding);
  if (style === 'exponent') return exponent === 0 ? number : `${number}e${exponent}`;
  // The reference server omits the suffix if none exists (`1000E` prints `1`).
  return number + (DECIMAL_SUFFIXES[(exponent - NANO) / 3] ?? '');
}

function printBinary(whole: bigint): string {
  let [number, power] = [whole, 0];
  while (number % 1024n === 0n) [number, power] = [number / 1024n, power + 1];
  return number.toString() + (BINARY_SUFFIXES[power] ?? '');
}

/** `mantissa × 10^shift` for a 64-bit value. */
function narrowScaledValue(mantissa: bigint, shift: number): bigint {
  if (shift < 0) return divideAway(mantissa, -shift);
  const product = mantissa * 10n ** BigInt(shift);
  if (fitsInt64(product)) return product;
  // The reference server multiplies by these powers in one step, which wraps; for others it returns 0 on overflow.
  return [1, 2, 3, 6, 9].includes(shift) ? BigInt.asIntN(64, product) : 0n;
}

/** The same for a wide value: it wraps to 64 bits first, and adds 1 to an inexact quotient, also if it is negative. */
function wideScaledValue(mantissa: bigint, shift: number): bigint {
  if (shift >= 0) {
    // A power of ten beyond 64 bits becomes the smallest 64-bit number.
    const factor = shift > SAFE_DIGITS ? -(2n ** 63n) : 10n ** BigInt(shift);
    return BigInt.asIntN(64, BigInt.asIntN(64, mantissa) * factor);
  }
  const divisor = 10n ** BigInt(-shift);
  const dividend = mantissa < MAX_INT64 ? BigInt.asIntN(64, mantissa) : mantissa;
  const quotient = dividend / divisor;
  return BigInt.asIntN(64, dividend % divisor === 0n ? quotient : quotient + 1n);
}

/** Divides by `10^places` and rounds away from zero. */
function divideAway(mantissa: bigint, places: number): bigint {
  if (places > digitsOf(mantissa)) return BigInt(signOf(mantissa));
  const divisor = 10n ** BigInt(places);
  const quotient = mantissa / divisor;
  return mantissa % divisor === 0n ? quotient : quotient + BigInt(signOf(mantissa));
}

/** Computed from factors of 10^32 like in the reference server, because the last bit depends on it. */
function powerOfTen(exponent: number): number {
  const [high, low] = [Math.trunc(Math.abs(exponent) / 32), Math.abs(exponent) % 32];
  if (exponent >= 0) return exponent > 308 ? Number.POSITIVE_INFINITY : Number(`1e${32 * high}`) * Number(`1e${low}`);
  return exponent < -323 ? 0 : Number(`1e-${32 * high}`) / Number(`1e${low}`);
}

function fitsInt64(value: bigint): boolean {
  return value <= MAX_INT64 && value >= MIN_INT64;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function signOf(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}

function digitsOf(value: bigint): number {
  return absolute(value).toString().length;
}
