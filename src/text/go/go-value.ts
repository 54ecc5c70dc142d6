/**
 * JSON values as Go types: type names and the output of `%v` and `%#v` (`map[a:1 b:[x y]]`). Messages about patches use
 * these; `go-text.ts` formats other values.
 */
import { isRecord } from '../../util/json.js';
import { quote } from './go-text.js';

export type GoKind = 'map' | 'slice' | 'string' | 'bool' | 'int64' | 'float64' | 'nil';

export function goKind(value: unknown): GoKind {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? 'int64' : 'float64';
  return 'map';
}

const TYPES: Readonly<Record<GoKind, string>> = {
  map: 'map[string]interface {}',
  slice: '[]interface {}',
  string: 'string',
  bool: 'bool',
  int64: 'int64',
  float64: 'float64',
  // The output of `%s` for a nil type.
  nil: '%!s(<nil>)',
};

/** The Go type of a value: `map[string]interface {}`, `int64`. */
export function goType(value: unknown): string {
  return TYPES[goKind(value)];
}

/**
 * Formats a value as Go's `%v`. With `as: 'text'` as `%s`, which marks non-strings as wrong.
 *
 * @example
 * printGoValue({ b: [1, null], a: 'x' }) // 'map[a:x b:[1 <nil>]]'
 */
export function printGoValue(value: unknown, options: { readonly as?: 'text' } = {}): string {
  if (Array.isArray(value)) return `[${value.map((item) => printGoValue(item, options)).join(' ')}]`;
  if (isRecord(value)) {
    const entries = Object.keys(value)
      .sort(compareUtf8)
      .map((key) => `${key}:${printGoValue(value[key], options)}`);
    return `map[${entries.join(' ')}]`;
  }
  if (typeof value === 'string') return value;
  const kind = goKind(value);
  if (kind === 'nil') return options.as === 'text' ? '%!s(<nil>)' : '<nil>';
  const plain = kind === 'float64' ? printFloat(Number(value)) : String(value);
  return options.as === 'text' ? `%!s(${kind}=${plain})` : plain;
}

/**
 * Formats a value as Go's `%#v`.
 *
 * @example
 * goSyntax({ a: [1, 'x'] }) // 'map[string]interface {}{"a":[]interface {}{1, "x"}}'
 */
export function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isRecord(value)) {
    const entries = Object.keys(value)
      .sort(compareUtf8)
      .map((key) => `${quote(key)}:${goSyntax(value[key])}`);
    return `map[string]interface {}{${entries.join(', ')}}`;
  }
  if (typeof value === 'string') return quote(value);
  return value === null || value === undefined ? 'interface {}(nil)' : printGoValue(value);
}

/** Compares by UTF-8 bytes (code point order); JavaScript compares UTF-16 units. */
export function compareUtf8(left: string, right: string): number {
  if (left === right) return 0;
  for (let at = 0; at < left.length && at < right.length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    const aSurrogate = (a & 0xf800) === 0xd800;
    const bSurrogate = (b & 0xf800) === 0xd800;
    return aSurrogate === bSurrogate ? a - b : aSurrogate ? 1 : -1;
  }
  return left.length - right.length;
}

/** The shortest round-trip digits; with an exponent below 1e-4 and from 1e6. */
function printFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
