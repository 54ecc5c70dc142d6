/** What the tokens of literals stand for. */
import type { LiteralExpr } from '../ast.js';
import { CelBytes, CelUint } from '../values.js';
import { TokenType } from './tokens.js';

const GREATEST_INT = 2n ** 63n - 1n;
const GREATEST_UINT = 2n ** 64n - 1n;

/** Longer numbers are beyond all limits; the zeros before them do not count. */
const MOST_DIGITS = 20;

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** How many hexadecimal digits follow. */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['X', 2],
  ['u', 4],
  ['U', 8],
]);

/** What a literal stands for, or why it stands for nothing. */
export type Literal<T = LiteralExpr['value']> = { readonly value: T } | { readonly mistake: string };

/** `negative`: the token, an int or a float, has a minus before it. Undefined for tokens that are no literals. */
export function literalOf(type: number, text: string, negative: boolean): Literal | undefined {
  switch (type) {
    case TokenType.INT:
      return known(intValue(text, negative), 'invalid int literal');
    case TokenType.UINT:
      return known(uintValue(text), 'invalid uint literal');
    case TokenType.FLOAT:
      return known(doubleValue(text, negative), 'invalid double literal');
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

function known<T>(value: T | undefined, mistake: string): Literal<T> {
  return value === undefined ? { mistake } : { value };
}

/** `text` is decimal or begins with `0x`; undefined when it does not fit into 64 bits. */
function intValue(text: string, negative: boolean): bigint | undefined {
  const value = wholeNumber(text);
  if (value === undefined) return undefined;
  if (negative) return value <= GREATEST_INT + 1n ? -value : undefined;
  return value <= GREATEST_INT ? value : undefined;
}

/** `text` with its suffix `u`. */
function uintValue(text: string): CelUint | undefined {
  const value = wholeNumber(text.slice(0, -1));
  return value === undefined || value > GREATEST_UINT ? undefined : new CelUint(value);
}

function doubleValue(text: string, negative: boolean): number | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return negative ? -value : value;
}

function wholeNumber(text: string): bigint | undefined {
  const hexadecimal = text.startsWith('0x');
  const digits = (hexadecimal ? text.slice(2) : text).replace(/^0+(?=.)/, '');
  if (digits.length > MOST_DIGITS) return undefined;
  return BigInt(hexadecimal ? `0x${digits}` : digits);
}

/** `text` is a token of the scanner, so its escape sequences are whole; they may name characters that do not exist. */
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
      return { mistake: 'invalid unicode code point' };
    } else value += String.fromCodePoint(sequence.code);
    index = sequence.end;
  }
  return { value };
}

/** `text` is a token of the scanner with its prefix `b`. */
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
    if (sequence.wide) return { mistake: 'unable to unescape string' };
    bytes.push(sequence.code ?? sequence.character.charCodeAt(0));
    index = sequence.end;
  }
  return { value: new CelBytes(Uint8Array.from(bytes)) };
}

/** Line ends become `\n`, in all texts. */
function unquote(text: string): { readonly body: string; readonly escapes: boolean } {
  const raw = text[0] === 'r' || text[0] === 'R';
  const quoted = (raw ? text.slice(1) : text).replace(/\r\n?/g, '\n');
  const long = quoted.length >= 6 && (quoted.startsWith("'''") || quoted.startsWith('"""'));
  const body = long ? quoted.slice(3, -3) : quoted.slice(1, -1);
  return { body, escapes: !raw && body.includes('\\') };
}

interface Escape {
  /** Of those that stand for themselves or for a control character. */
  readonly character: string;
  /** Of those written with digits. */
  readonly code: number | undefined;
  /** Written with `\u` or `\U`, which bytes do not have. */
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
