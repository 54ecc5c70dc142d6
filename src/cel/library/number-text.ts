/**
 * Doubles as `%f` and `%e` of `format` write them: as for readers of English, with groups of digits (`1,234.500000`)
 * and a power of ten (`1.234500×10⁰³`). What the reference does with precisions nobody needs is part of it.
 */
import { plainText, shortest, toPlaces, toSignificant } from './decimal.js';

/** Digits of a precision that the reference cannot read. */
const UNREADABLE_FROM = 10_000_010;
const UNREADABLE = '%!(NOVERB)';

export function fixedText(value: number, precision: number): string {
  if (precision >= UNREADABLE_FROM) return UNREADABLE;
  const special = specialText(value);
  if (special !== undefined) return special;
  // It keeps the most digits in 16 bits and the fewest in 8.
  const most = wrapped(precision, 16);
  const decimal = most < 0 ? shortest(Math.abs(value)) : toPlaces(Math.abs(value), most);
  const { whole, fraction } = plainText(decimal, precision & 0xff);
  const grouped = whole.replace(/(?<=[0-9])(?=(?:[0-9]{3})+$)/g, ',');
  return `${value < 0 ? '-' : ''}${grouped}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Always with six digits behind the point: what is written as precision is taken for a width. */
export function scientificText(value: number, width: number): string {
  if (width >= UNREADABLE_FROM) return UNREADABLE;
  return (specialText(value) ?? powerText(value)).padStart(width & 0xffff, ' ');
}

const PLACES = 6;
const RAISED = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

function powerText(value: number): string {
  const { digits, point } = toSignificant(Math.abs(value), PLACES + 1);
  const mantissa = digits.padEnd(PLACES + 1, '0');
  const exponent = digits === '' ? 0 : point - 1;
  const raised = Array.from(String(Math.abs(exponent)).padStart(2, '0'), (digit) => RAISED[Number(digit)]).join('');
  const sign = value < 0 ? '-' : '';
  return `${sign}${mantissa[0]}.${mantissa.slice(1)}×10${exponent < 0 ? '⁻' : ''}${raised}`;
}

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? '∞' : '-∞';
}

/** A number as it comes out of so few bits. */
function wrapped(value: number, bits: number): number {
  return Number(BigInt.asIntN(bits, BigInt(value)));
}
