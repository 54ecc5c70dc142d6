/**
 * Resolves YAML 1.1 scalars as the reference server does, which differs from the specification: `y` and `on` are
 * booleans, `017` and `0o17` are octal, `1:30` and dates are strings.
 */

import { decodeUtf8 } from '../../util/bytes.js';
import { quote } from '../go/go-text.js';
import { YamlSyntaxError } from './characters.js';

/** Ints and floats are separate, because `1` and `1.0` are different keys. */
export type YamlScalar =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'str'; readonly value: string };

const TAG_PREFIX = 'tag:yaml.org,2002:';

/** A scalar's text, its tag (empty if it has none) and whether it is unquoted. */
export interface ScalarSource {
  readonly text: string;
  readonly tag: string;
  readonly isPlain: boolean;
}

/**
 * Resolves a scalar. Quoted text without a tag is a string. Throws {@link YamlSyntaxError} if the text does not match
 * its tag.
 */
export function resolveScalar({ text, tag, isPlain }: ScalarSource): YamlScalar {
  if (tag === '') return isPlain ? resolvePlain(text) : { type: 'str', value: text };
  const short = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : '';
  switch (short) {
    case 'binary':
      return { type: 'str', value: decodeBase64(text) };
    case 'timestamp':
      if (isTimestamp(text)) return { type: 'str', value: text };
      break;
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
      break;
    default:
      return { type: 'str', value: text };
  }
  const plain = resolvePlain(text);
  if (plain.type === short) return plain;
  if (short === 'float' && plain.type === 'int' && plain.value <= MAX_INT) {
    return { type: 'float', value: Number(plain.value) };
  }
  throw new YamlSyntaxError(`cannot decode !!${plain.type} \`${text}\` as a !!${short}`);
}

function resolvePlain(text: string): YamlScalar {
  const keyword = KEYWORDS.get(text);
  if (keyword !== undefined) return keyword;
  if (text.startsWith('.')) return resolveFraction(text) ?? { type: 'str', value: text };
  if (!/^[-+0-9]/.test(text)) return { type: 'str', value: text };
  const digits = text.replaceAll('_', '');
  return resolveInt(digits) ?? resolveFloat(digits) ?? { type: 'str', value: text };
}

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Parses a 64-bit integer in base 2, 8, 10 or 16; only without a sign may it exceed the signed range. */
function resolveInt(text: string): YamlScalar | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = ''] = match;
  // No 64-bit number has more digits in base 2; longer ones are not parsed.
  if (digits.length > 66 && !/^0[xXbBoO]?0/.test(digits)) return undefined;
  const size = BigInt(digits.replace(/^0[oO]?(?=[0-7])/, '0o'));
  const value = sign === '-' ? -size : size;
  if (value < MIN_INT || value > (sign === '' ? MAX_UINT : MAX_INT)) return undefined;
  return { type: 'int', value };
}

/** Parses a base-10 number; one that overflows a double stays a string. */
function resolveFloat(text: string): YamlScalar | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? { type: 'float', value } : undefined;
}

/** Parses a number that starts with a point; underscores are allowed only between digits. */
function resolveFraction(text: string): YamlScalar | undefined {
  return /_(?![0-9])|(?<![0-9])_/.test(text) ? undefined : resolveFloat(text.replaceAll('_', ''));
}

function spellings(keywords: readonly string[], meaning: YamlScalar): readonly (readonly [string, YamlScalar])[] {
  return keywords.map((keyword) => [keyword, meaning]);
}

/** `yes`, `Yes`, `YES`. */
function cases(...keywords: readonly string[]): readonly string[] {
  return keywords.flatMap((keyword) => [
    keyword,
    keyword.charAt(0).toUpperCase() + keyword.slice(1),
    keyword.toUpperCase(),
  ]);
}

const KEYWORDS: ReadonlyMap<string, YamlScalar> = new Map([
  ...spellings(cases('y', 'yes', 'true', 'on'), { type: 'bool', value: true }),
  ...spellings(cases('n', 'no', 'false', 'off'), { type: 'bool', value: false }),
  ...spellings(['', '~', ...cases('null')], { type: 'null' }),
  ...spellings(['.nan', '.NaN', '.NAN'], { type: 'float', value: Number.NaN }),
  ...spellings(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], { type: 'float', value: Infinity }),
  ...spellings(['-.inf', '-.Inf', '-.INF'], { type: 'float', value: -Infinity }),
]);

const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](?:[01]\d|2[0-4]):(?:[0-5]\d|60)))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/;

/** Whether a text is a date or a date and time: `T` requires a zone, a space excludes one. */
export function isTimestamp(text: string): boolean {
  const parts = TIMESTAMP.exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, hour2 = 0, minute2 = 0, second2 = 0] = parts;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay && hour + hour2 < 24 && minute + minute2 < 60 && second + second2 < 60;
}

function decodeBase64(text: string): string {
  const digits = text.replaceAll('\n', '');
  if (digits.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) {
    throw new YamlSyntaxError('!!binary value contains invalid base64 data');
  }
  const bytes = Uint8Array.from(atob(digits), (unit) => unit.charCodeAt(0));
  return decodeUtf8(bytes);
}

/** Formats a scalar as Go's `%#v`. */
export function goScalar(scalar: YamlScalar): string {
  switch (scalar.type) {
    case 'null':
      return '<nil>';
    case 'str':
      return quote(scalar.value);
    case 'int':
      return scalar.value > MAX_INT ? `0x${scalar.value.toString(16)}` : String(scalar.value);
    case 'float':
      return goFloat(scalar.value);
    case 'bool':
      return String(scalar.value);
  }
}

/** Converts a scalar to a JSON object key; undefined if that is not possible. */
export function jsonKey(scalar: YamlScalar): string | undefined {
  switch (scalar.type) {
    case 'str':
      return scalar.value;
    case 'null':
      return undefined;
    case 'int':
      return scalar.value > MAX_INT ? undefined : String(scalar.value);
    case 'bool':
      return String(scalar.value);
    case 'float':
      return floatKey(scalar.value);
  }
}

/** Keys have 32-bit float precision, so `3.14159265358979` becomes `3.1415927`. */
function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  let text = single.toExponential(0);
  for (let digits = 1; Math.fround(Number(text)) !== single; digits++) text = single.toExponential(digits);
  return shortest(single, text);
}

function goFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  return shortest(value, value.toExponential());
}

/** Formats the shortest digits of a number; with an exponent of at least two digits if it is small or large. */
function shortest(value: number, digits: string): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponent = ''] = digits.split('e');
  const power = Number(exponent);
  return power >= -4 && power < 6 ? plainDigits(mantissa, power) : `${mantissa}e${sign(power)}`;
}

function sign(power: number): string {
  return (power < 0 ? '-' : '+') + String(Math.abs(power)).padStart(2, '0');
}

function plainDigits(mantissa: string, power: number): string {
  const isNegative = mantissa.startsWith('-');
  const digits = mantissa.replace(/[-.]/g, '');
  const point = power + 1;
  const text =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : digits.length <= point
        ? digits.padEnd(point, '0')
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return isNegative ? `-${text}` : text;
}
