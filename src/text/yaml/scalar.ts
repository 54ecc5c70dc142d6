/**
 * What a scalar of YAML 1.1 means: the words and numbers that the reference server's reader knows, which are not quite
 * those of the specification. `y` and `on` are booleans, `017` and `0o17` are octal, `1:30` is text, dates are text.
 */

import { decodeUtf8 } from '../../util/utf8.js';
import { quote } from '../go/go-text.js';
import { YamlFault } from './characters.js';

/** Whole numbers and others are apart, because `1` and `1.0` are different keys. */
export type YamlScalar =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'str'; readonly value: string };

const TAG_PREFIX = 'tag:yaml.org,2002:';

/** A scalar's text, its tag, which is empty when it has none, and whether it was without quotes. */
export interface ScalarSource {
  readonly text: string;
  readonly tag: string;
  readonly isPlain: boolean;
}

/** A scalar's meaning. Quoted text without a tag is text. Throws {@link YamlFault} when it is not what its tag says. */
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
  throw new YamlFault(`cannot decode !!${plain.type} \`${text}\` as a !!${short}`);
}

function resolvePlain(text: string): YamlScalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text.startsWith('.')) return resolveFraction(text) ?? { type: 'str', value: text };
  if (!/^[-+0-9]/.test(text)) return { type: 'str', value: text };
  const digits = text.replaceAll('_', '');
  return resolveInt(digits) ?? resolveFloat(digits) ?? { type: 'str', value: text };
}

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** A whole number of 64 bits in base 2, 8, 10 or 16; only without a sign may it use the last bit for its value. */
function resolveInt(text: string): YamlScalar | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = ''] = match;
  // No number of 64 bits has more digits than that in base 2; a longer one is not even put together.
  if (digits.length > 66 && !/^0[xXbBoO]?0/.test(digits)) return undefined;
  const size = BigInt(digits.replace(/^0[oO]?(?=[0-7])/, '0o'));
  const value = sign === '-' ? -size : size;
  if (value < MIN_INT || value > (sign === '' ? MAX_UINT : MAX_INT)) return undefined;
  return { type: 'int', value };
}

/** Base 10 only, and not beyond what 64 bits can hold: a number that large stays text. */
function resolveFloat(text: string): YamlScalar | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? { type: 'float', value } : undefined;
}

/** What begins with its point, where an underscore must stand between two digits. */
function resolveFraction(text: string): YamlScalar | undefined {
  return /_(?![0-9])|(?<![0-9])_/.test(text) ? undefined : resolveFloat(text.replaceAll('_', ''));
}

function spellings(words: readonly string[], meaning: YamlScalar): readonly (readonly [string, YamlScalar])[] {
  return words.map((word) => [word, meaning]);
}

/** `yes`, `Yes`, `YES`. */
function cases(...words: readonly string[]): readonly string[] {
  return words.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()]);
}

const WORDS: ReadonlyMap<string, YamlScalar> = new Map([
  ...spellings(cases('y', 'yes', 'true', 'on'), { type: 'bool', value: true }),
  ...spellings(cases('n', 'no', 'false', 'off'), { type: 'bool', value: false }),
  ...spellings(['', '~', ...cases('null')], { type: 'null' }),
  ...spellings(['.nan', '.NaN', '.NAN'], { type: 'float', value: Number.NaN }),
  ...spellings(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], { type: 'float', value: Infinity }),
  ...spellings(['-.inf', '-.Inf', '-.INF'], { type: 'float', value: -Infinity }),
]);

const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](?:[01]\d|2[0-4]):(?:[0-5]\d|60)))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/;

/** A date, alone or with a time: with a zone behind `T`, without one behind a space. */
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
    throw new YamlFault('!!binary value contains invalid base64 data');
  }
  const bytes = Uint8Array.from(atob(digits), (unit) => unit.charCodeAt(0));
  return decodeUtf8(bytes);
}

/** A scalar as Go prints it in its own syntax, as messages show keys and values. */
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

/** A scalar as the key of a JSON object; undefined when it cannot be one. */
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

/** Keys are printed with the digits that 32 bits need, so `3.14159265358979` becomes `3.1415927`. */
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

/** `digits` are the fewest that still give the number; an exponent of two digits or more where it is small or large. */
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
