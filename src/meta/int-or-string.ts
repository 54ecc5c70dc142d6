/**
 * IntOrString values: a count or a percentage, such as `maxSurge: 1` or `maxUnavailable: 25%`. Values keep their type:
 * `"80"` is a string.
 */
import { quote, type Verbatim, verbatim } from '../text/go/go-text.js';
import { patternMessage } from './names.js';

/** A 32-bit integer or a string. */
export type IntOrString = number | string;

/** Thrown for a value that cannot be scaled. Clients see the message. */
export class IntOrStringError extends Error {
  override readonly name = 'IntOrStringError';
}

const NONE: readonly string[] = Object.freeze([]);
const NOT_PERCENT: readonly string[] = Object.freeze([
  patternMessage("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', ['1%', '93%']),
]);

/** True for a string or a 32-bit integer. */
export function isIntOrString(value: unknown): value is IntOrString {
  return typeof value === 'string' || (typeof value === 'number' && (value | 0) === value);
}

/** Validates a percentage. */
export function percentProblems(text: string): readonly string[] {
  return /^[0-9]+%$/.test(text) ? NONE : NOT_PERCENT;
}

/** The number of a percentage: `25%` → 25. Undefined for other values. */
export function percentOf(value: IntOrString): number | undefined {
  return typeof value === 'string' && percentProblems(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
}

/**
 * Returns a count unchanged and a percentage as part of `total`. Throws IntOrStringError for any other string.
 *
 * @example
 * scaleIntOrString('25%', { total: 10, round: 'up' }) // 3
 */
export function scaleIntOrString(value: IntOrString, options: { total: number; round: 'up' | 'down' }): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) fail('invalid type: string is not a percentage');
  const digits = value.slice(0, -1);
  if (!/^[+-]?[0-9]+$/.test(digits)) fail(badNumber(value, 'invalid syntax'));
  const percent = parseInt64(digits);
  if (percent === undefined) fail(badNumber(value, 'value out of range'));
  const share = (Number(percent) * options.total) / 100;
  // Adding zero turns the -0 of a small negative share into 0.
  return (options.round === 'up' ? Math.ceil(share) : Math.floor(share)) + 0;
}

/** Prints a value as Go's %#v does, for messages. */
export function dumpIntOrString(value: IntOrString): Verbatim {
  const [type, int, text] = typeof value === 'number' ? [0, value, ''] : [1, 0, value];
  return verbatim(`intstr.IntOrString{Type:${type}, IntVal:${int}, StrVal:${quote(text)}}`);
}

/** Undefined beyond 64 bits. */
function parseInt64(text: string): bigint | undefined {
  const digits = text.replace(/^[+-]?0*/, '');
  if (digits.length > 19) return undefined;
  const value = BigInt(digits) * (text.startsWith('-') ? -1n : 1n);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

function badNumber(value: string, why: string): string {
  return `invalid value ${quote(value)}: strconv.Atoi: parsing ${quote(value.slice(0, -1))}: ${why}`;
}

function fail(why: string): never {
  throw new IntOrStringError(`invalid value for IntOrString: ${why}`);
}
