/** Values of literal tokens. */
import type { LiteralExpr } from '../ast.js';
import { CelBytes, CelUint } from '../values.js';
import { TokenType } from './tokens.js';

const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Numbers with more digits (without leading zeros) exceed all limits. */
const MAX_DIGITS = 20;

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** The number of hexadecimal digits after each escape letter. */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['X', 2],
  ['u', 4],
  ['U', 8],
]);

/** The value of a literal, or an error message. */
export type Literal<T = LiteralExpr['value']> = { readonly value: T } | { readonly error: string };

/** The value of a token; undefined if it is not a literal. `negative`: a minus precedes the number. */
export function literalOf(type: number, text: string, negative: boolean): Literal | undefined {
  switch (type) {
    case TokenType.INT:
      return orError(intValue(text, negative), 'invalid int literal');
    case TokenType.UINT:
      return orError(uintValue(text), 'invalid uint literal');
    case TokenType.FLOAT:
      return orError(doubleValue(text, negative), 'invalid double literal');
    case TokenType.STRING:
      return stringValue(text);
    case TokenType.BYTES:
      return bytesValue(text);
    case TokenType.TRUE:
      return { value: true };
    case TokenType.FALSE:
      return { value: false };
    case TokenType.NULL:
      return { value: null };
    default:
      return undefined;
  }
}

function orError<T>(value: T | undefined, error: string): Literal<T> {
  return value === undefined ? { error } : { value };
}

/** Parses a decimal or `0x` number; undefined if it does not fit into 64 bits. */
function intValue(text: string, negative: boolean): bigint | undefined {
  const value = wholeNumber(text);
  if (value === undefined) return undefined;
  if (negative) return value <= MAX_INT + 1n ? -value : undefined;
  return value <= MAX_INT ? value : undefined;
}

/** Parses a number with suffix `u`. */
function uintValue(text: string): CelUint | undefined {
  const value = wholeNumber(text.slice(0, -1));
  return value === undefined || value > MAX_UINT ? undefined : new CelUint(value);
}

function doubleValue(text: string, negative: boolean): number | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return negative ? -value : value;
}

function wholeNumber(text: string): bigint | undefined {
  const hexadecimal = text.startsWith('0x');
  const digits = (hexadecimal ? text.slice(2) : text).replace(/^0+(?=.)/, '');
  if (digits.length > MAX_DIGITS) return undefined;
  return BigInt(hexadecimal ? `0x${digits}` : digits);
}

/** Decodes a string token. The scanner ensures complete escape sequences; they may encode invalid code points. */
function stringValue(text: string): Literal<string> {
  const { body, escapes } = unquote(text);
  if (!escapes) return { value: body };
  let value = '';
  for (let index = 0; index < body.length; ) {
    if (body[index] !== '\\') {
      const next = body.indexOf('\\', index);
      const end = next === -1 ? body.length : next;
      value += body.slice(index, end);
      index = end;
      continue;
    }
    const sequence = escapeAt(body, index + 1);
    if (sequence.code === undefined) value += sequence.character;
    else if (sequence.code > 0x10ffff || (sequence.code >= 0xd800 && sequence.code < 0xe000)) {
      return { error: 'invalid unicode code point' };
    } else value += String.fromCodePoint(sequence.code);
    index = sequence.end;
  }
  return { value };
}

/** Decodes a bytes token with prefix `b`. */
function bytesValue(text: string): Literal<CelBytes> {
  const { body, escapes } = unquote(text.slice(1));
  const encoder = new TextEncoder();
  if (!escapes) return { value: new CelBytes(encoder.encode(body)) };
  const bytes: number[] = [];
  for (let index = 0; index < body.length; ) {
    const next = body.indexOf('\\', index);
    const end = next === -1 ? body.length : next;
    for (const byte of encoder.encode(body.slice(index, end))) bytes.push(byte);
    if (next === -1) break;
    const sequence = escapeAt(body, next + 1);
    if (sequence.wide) return { error: 'unable to unescape string' };
    bytes.push(sequence.code ?? sequence.character.charCodeAt(0));
    index = sequence.end;
  }
  return { value: new CelBytes(Uint8Array.from(bytes)) };
}

/** Removes prefix and quotes; normalizes line breaks to `\n`, even in raw strings. */
function unquote(text: string): { readonly body: string; readonly escapes: boolean } {
  const raw = text[0] === 'r' || text[0] === 'R';
  const quoted = (raw ? text.slice(1) : text).replace(/\r\n?/g, '\n');
  const long = quoted.length >= 6 && (quoted.startsWith("'''") || quoted.startsWith('"""'));
  const body = long ? quoted.slice(3, -3) : quoted.slice(1, -1);
  return { body, escapes: !raw && body.includes('\\') };
}

interface Escape {
  /** The character of a simple escape. */
  readonly character: string;
  /** The code point of a numeric escape. */
  readonly code: number | undefined;
  /** Written with `\u` or `\U`, which bytes literals do not allow. */
  readonly wide: boolean;
  readonly end: number;
}

/** The escape sequence whose backslash is before `start`. */
function escapeAt(body: string, start: number): Escape {
  const first = body[start] ?? '';
  const digits = DIGITS.get(first);
  if (digits !== undefined) {
    const end = start + 1 + digits;
    return { character: '', code: Number.parseInt(body.slice(start + 1, end), 16), wide: digits > 2, end };
  }
  if (first >= '0' && first <= '3') {
    const end = start + 3;
    return { character: '', code: Number.parseInt(body.slice(start, end), 8), wide: false, end };
  }
  return { character: SIMPLE_ESCAPES.get(first) ?? first, code: undefined, wide: false, end: start + 1 };
}
