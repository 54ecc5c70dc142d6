/**
 * `text.format(list)`: replaces clauses such as `%s`, `%d` and `%.3f` with list items. The checker validates literal
 * format strings with the same clause reader.
 */
import { quote } from '../../text/go/go-text.js';
import { compareUtf8 } from '../../text/go/go-value.js';
import { toHex } from '../../util/bytes.js';
import { byteText, type ReadClause, readClause } from '../check/literals.js';
import { itemsOf } from '../evaluate/views.js';
import { typeNameOf } from '../runtime-type.js';
import {
  CelBytes,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelObject,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../values.js';
import { spendWork } from '../work-budget.js';
import { valueText } from './print-value.js';
import { fromUtf8, utf8 } from './text.js';

/** Work to format one value. */
const CLAUSE = 500;
/** Work to format an item of a list or map, an entry of a map, and a decimal of a number. */
const MEMBER = 100;
const ENTRY = 200;
const DECIMAL = 40;

/** Formats a string. Throws a CelError for invalid clauses, missing items and items of the wrong type. */
export function format(text: string, list: CelList): string {
  spendWork(text.length);
  let out = '';
  let used = 0;
  let from = 0;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', from)) {
    out += text.slice(from, at);
    if (text[at + 1] === '%') {
      out += '%';
      from = at + 2;
      continue;
    }
    if (used >= list.size) throw new CelError(`index ${used} out of range`);
    const item = list.at(used++);
    if (at + 1 >= text.length) throw new CelError('unexpected end of string');
    const clause = readClause(text, at + 1);
    if ('problem' in clause) throw unreadable(text.slice(at + 1));
    const value = formatted(item, clause, precisionOf(text.slice(at + 1, clause.end)));
    // The cost model charges one for the whole call, regardless of its length.
    spendWork(CLAUSE + value.length);
    out += value;
    from = clause.end;
  }
  return out + text.slice(from);
}

function unreadable(rest: string): CelError {
  const clause = readClause(byteText(rest), 0);
  return new CelError(`could not parse formatting clause: ${'problem' in clause ? clause.problem : ''}`);
}

const DEFAULT_PRECISION = 6;

function precisionOf(clause: string): number {
  return clause.startsWith('.') ? Number(clause.slice(1, -1)) : DEFAULT_PRECISION;
}

function formatted(item: CelValue, { letter, complaint }: ReadClause, precision: number): string {
  const text = textFor(item, letter, precision);
  if (text !== undefined) return text;
  throw formatError(`${complaint}, was given ${typeNameOf(item)}`);
}

function formatError(message: string): CelError {
  return new CelError(`error during formatting: ${message}`);
}

/** Undefined if the clause does not support the item's type. */
function textFor(item: CelValue, letter: string, precision: number): string | undefined {
  switch (letter) {
    case 's':
      return stringText(item);
    case 'd':
      return integerText(item, 10);
    case 'b':
      return typeof item === 'boolean' ? String(Number(item)) : integerText(item, 2);
    case 'o':
      return integerText(item, 8);
    case 'x':
      return hexText(item);
    case 'X':
      return hexText(item)?.toUpperCase();
    default: {
      const number = doubleOf(item);
      if (number === undefined) return undefined;
      return letter === 'f' ? fixedText(number, precision) : scientificText(number, precision);
    }
  }
}

function integerText(item: CelValue, base: number): string | undefined {
  if (typeof item === 'bigint') return item.toString(base);
  return item instanceof CelUint ? item.value.toString(base) : undefined;
}

function hexText(item: CelValue): string | undefined {
  if (typeof item !== 'string' && !(item instanceof CelBytes)) return integerText(item, 16);
  const bytes = typeof item === 'string' ? utf8(item) : item.bytes;
  return toHex(bytes);
}

/** Strings that stand for special numbers. */
const NAMED_NUMBERS: ReadonlyMap<CelValue, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

function doubleOf(item: CelValue): number | undefined {
  return typeof item === 'number' ? item : NAMED_NUMBERS.get(item);
}

function stringText(item: CelValue): string | undefined {
  if (item === null) return 'null';
  if (item instanceof CelList) return listText(item);
  if (item instanceof CelMap || item instanceof CelObject) return mapText(item);
  if (item instanceof CelBytes) return bytesText(item);
  return valueText(item);
}

function bytesText({ bytes }: CelBytes): string {
  const text = fromUtf8(bytes);
  if (text !== undefined) return text;
  throw formatError('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
}

function listText(list: CelList): string {
  return `[${itemsOf(list).map(memberText).join(', ')}]`;
}

/** Entries are sorted by formatted key. */
function mapText(map: CelMap | CelObject): string {
  const entries: (readonly [string, string])[] = [];
  const keys = map instanceof CelObject ? map.fieldNames() : map.keys();
  for (const key of keys) {
    spendWork(ENTRY);
    const text = keyText(key);
    const value = map instanceof CelObject ? map.get(String(key)) : map.get(key);
    if (value === undefined) throw formatError(`could not find key: ${text}`);
    entries.push([text, memberText(value)]);
  }
  entries.sort(([left], [right]) => compareUtf8(left, right));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

function keyText(key: CelValue): string {
  if (typeof key === 'string') return quote(key);
  const text = typeof key === 'boolean' ? String(key) : integerText(key, 10);
  if (text === undefined) throw formatError(`no formatting function for map key of type ${typeNameOf(key)}`);
  return text;
}

/** Values within lists and maps are formatted as CEL literals. */
function memberText(value: CelValue): string {
  spendWork(MEMBER + (typeof value === 'string' ? value.length : 0));
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return literalNumber(value);
  if (value instanceof CelBytes) return `b${quote(bytesText(value))}`;
  if (value instanceof CelTimestamp) return `timestamp(${quote(valueText(value) ?? '')})`;
  if (value instanceof CelDuration) return `duration(${quote(valueText(value) ?? '')})`;
  const isPlain = value instanceof CelTypeValue || value instanceof CelUint || typeof value !== 'object';
  const isKnown = isPlain || value === null || value instanceof CelList || value instanceof CelMap;
  const text = isKnown || value instanceof CelObject ? stringText(value) : undefined;
  if (text === undefined) throw formatError(`no formatting function for ${typeNameOf(value)}`);
  return text;
}

function literalNumber(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"+Inf"' : '"-Inf"';
  const { whole, fraction } = plainText(toPlaces(Math.abs(value), DEFAULT_PRECISION), DEFAULT_PRECISION);
  return `${value < 0 || Object.is(value, -0) ? '-' : ''}${whole}.${fraction}`;
}

/** Precisions from which Go's fmt package fails to parse the verb. */
const UNREADABLE_FROM = 10_000_010;

const UNREADABLE = '%!(NOVERB)';

function fixedText(value: number, precision: number): string {
  if (precision >= UNREADABLE_FROM) return UNREADABLE;
  const special = specialText(value);
  if (special !== undefined) return special;
  // The Go library stores the maximum digits in 16 bits and the minimum in 8.
  const most = wrapped(precision, 16);
  const decimal = most < 0 ? shortest(Math.abs(value)) : toPlaces(Math.abs(value), most);
  const { whole, fraction } = plainText(decimal, precision & 0xff);
  const separated = (digit: string, at: number) => (at > 0 && (whole.length - at) % 3 === 0 ? `,${digit}` : digit);
  const grouped = whole.replace(/[0-9]/g, separated);
  return `${value < 0 ? '-' : ''}${grouped}${fraction === '' ? '' : `.${fraction}`}`;
}

const PLACES = 6;

const RAISED = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/** Always six decimals: the precision is interpreted as a width. */
function scientificText(value: number, width: number): string {
  if (width >= UNREADABLE_FROM) return UNREADABLE;
  return (specialText(value) ?? powerText(value)).padStart(width & 0xffff, ' ');
}

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

/** Truncates a number to a signed integer of this many bits. */
function wrapped(value: number, bits: number): number {
  return Number(BigInt.asIntN(bits, BigInt(value)));
}

/**
 * Represents 0.`digits` times ten to the power of `point`: 12.5 is `125` and 2. Zero has no digits.
 *
 * JavaScript's own formatting rounds half up and supports at most a hundred digits; these functions round half to even.
 */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** Rounds a non-negative number to a number of decimal places. */
function toPlaces(value: number, places: number): Decimal {
  const { digits, scale } = exact(value);
  const rounded = scale > places ? divided(digits, 10n ** BigInt(scale - places)) : digits;
  return decimal(rounded.toString(), Math.min(scale, places));
}

/** Rounds a non-negative number to a number of significant digits. */
function toSignificant(value: number, count: number): Decimal {
  const { digits, scale } = exact(value);
  const excess = digits.toString().length - count;
  if (excess <= 0) return decimal(digits.toString(), scale);
  return decimal(divided(digits, 10n ** BigInt(excess)).toString(), scale - excess);
}

/** The shortest digits that round-trip. */
function shortest(value: number): Decimal {
  const [digits = '', exponent] = value.toExponential().split('e');
  const plain = digits.replace('.', '');
  return decimal(plain, plain.length - 1 - Number(exponent));
}

/** Splits into integer digits and at least `places` fraction digits. */
function plainText({ digits, point }: Decimal, places: number): { whole: string; fraction: string } {
  const whole = point <= 0 ? '0' : digits.slice(0, point).padEnd(point, '0');
  const fraction = point <= 0 ? '0'.repeat(digits === '' ? 0 : -point) + digits : digits.slice(point);
  return { whole, fraction: fraction.padEnd(places, '0') };
}

/** `whole` times ten to the power of minus `scale`, without leading and trailing zeros. */
function decimal(whole: string, scale: number): Decimal {
  const digits = whole.replace(/^0+/, '');
  if (digits === '') return { digits: '', point: 0 };
  return { digits: digits.replace(/0+$/, ''), point: digits.length - scale };
}

const BITS = new DataView(new ArrayBuffer(8));

/** The exact decimal digits of a double: a negative power of two is a power of five divided by a power of ten. */
function exact(value: number): { readonly digits: bigint; readonly scale: number } {
  BITS.setFloat64(0, value);
  const bits = BITS.getBigUint64(0);
  const exponent = Number(bits >> 52n) & 0x7ff;
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const mantissa = exponent === 0 ? fraction : fraction | 0x10_0000_0000_0000n;
  const power = Math.max(exponent, 1) - 1075;
  spendWork(Math.abs(power) * DECIMAL);
  if (power >= 0) return { digits: mantissa << BigInt(power), scale: 0 };
  return { digits: mantissa * 5n ** BigInt(-power), scale: -power };
}

/** Divides and rounds half to even. */
function divided(value: bigint, by: bigint): bigint {
  const [whole, twice] = [value / by, (value % by) * 2n];
  const isUp = twice > by || (twice === by && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}
