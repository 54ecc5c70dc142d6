/**
 * Doubles as decimal digits, rounded to the nearest and in the middle to the even one: JavaScript's own functions round
 * up there, and end at a hundred digits.
 */

/** `digits` behind a point, times ten to the power of `point`: 12.5 is `125` and 2. Nothing is no digits. */
export interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** The digits of a number from 0 on, rounded to so many places behind the point. */
export function toPlaces(value: number, places: number): Decimal {
  const { digits, scale } = exact(value);
  const rounded = scale > places ? divided(digits, 10n ** BigInt(scale - places)) : digits;
  return decimal(rounded.toString(), Math.min(scale, places));
}

/** The digits of a number from 0 on, rounded to so many that count. */
export function toSignificant(value: number, count: number): Decimal {
  const { digits, scale } = exact(value);
  const excess = digits.toString().length - count;
  if (excess <= 0) return decimal(digits.toString(), scale);
  return decimal(divided(digits, 10n ** BigInt(excess)).toString(), scale - excess);
}

/** The fewest digits that no other number is nearer to. */
export function shortest(value: number): Decimal {
  const [digits = '', exponent] = value.toExponential().split('e');
  const plain = digits.replace('.', '');
  return decimal(plain, plain.length - 1 - Number(exponent));
}

/** `1234.50`: all digits, at least so many behind the point; none and no point when there are none. */
export function plainText({ digits, point }: Decimal, places: number): { whole: string; fraction: string } {
  const whole = point <= 0 ? '0' : digits.slice(0, point).padEnd(point, '0');
  const fraction = point <= 0 ? '0'.repeat(digits === '' ? 0 : -point) + digits : digits.slice(point);
  return { whole, fraction: fraction.padEnd(places, '0') };
}

/** Of a whole number of ten to the power of minus `scale`, without zeros at either end. */
function decimal(whole: string, scale: number): Decimal {
  const digits = whole.replace(/^0+/, '');
  if (digits === '') return { digits: '', point: 0 };
  return { digits: digits.replace(/0+$/, ''), point: digits.length - scale };
}

const BITS = new DataView(new ArrayBuffer(8));

/** A double is a whole number times a power of two, and half of something is five tenths of it. */
function exact(value: number): { readonly digits: bigint; readonly scale: number } {
  BITS.setFloat64(0, value);
  const bits = BITS.getBigUint64(0);
  const exponent = Number(bits >> 52n) & 0x7ff;
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const mantissa = exponent === 0 ? fraction : fraction | 0x10_0000_0000_0000n;
  const power = Math.max(exponent, 1) - 1075;
  if (power >= 0) return { digits: mantissa << BigInt(power), scale: 0 };
  return { digits: mantissa * 5n ** BigInt(-power), scale: -power };
}

/** To the nearest, in the middle to the even one. */
function divided(value: bigint, by: bigint): bigint {
  const [whole, twice] = [value / by, (value % by) * 2n];
  const isUp = twice > by || (twice === by && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}
