/**
 * A strict JSON parser for request bodies. JSON.parse is not sufficient: it drops duplicate keys, rounds large
 * integers, keeps lone surrogates and has other error messages. Clients see the messages of the reference server (Go's
 * encoding/json scanner).
 *
 * Using JSON.parse as a fast path does not pay off: checking that its result is valid (no duplicate keys, no large
 * integers) takes as long as parsing here.
 */

import { copyText } from '../../util/copy-text.js';
import { type MutableRecord, NumberText, type ParsedBody, setOwn } from '../../util/json.js';
import { quote } from '../go/go-text.js';

/** The text is not valid JSON. The message equals the reference server's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** Maximum nesting depth, so that recursive code cannot exhaust the stack later. */
const MAX_DEPTH = 10_000;

/**
 * Parses a document. Integers that a number cannot represent exactly become bigints; `__proto__` is an ordinary key; a
 * lone surrogate becomes U+FFFD. Throws {@link JsonSyntaxError}.
 *
 * @example
 * parseJson('{"a":1,"a":2}').value // { a: 2 }, and `duplicates` contains the 1
 */
export function parseJson(text: string, options: ParseOptions = {}): ParsedBody {
  return new Parser(text, options).parse();
}

export interface ParseOptions {
  /** Nested numbers whose text differs from their canonical form become {@link NumberText}s. */
  readonly keepSpelling?: boolean;
  /** Each character of the text is a byte. */
  readonly isBinary?: boolean;
}

/** Parts of a longer text are copied: what is stored may be a small part of it, and must not keep all of it in memory. */
const LONGEST_SHARED = 4 * 1024;

/** An open `{` or `[`. */
type Frame =
  | { readonly type: 'object'; readonly value: MutableRecord; key: string }
  | { readonly type: 'array'; readonly value: unknown[] };

/**
 * Parses one text. Open containers are on an explicit stack, so nesting needs no call frames.
 *
 * Example, `[{"a":1}]`: `[` opens an array; `{` opens an object and reads the key and colon; `1` is a complete value
 * and is stored under `a`; `}` completes the object, which is appended to the array; `]` completes the array.
 */
class Parser {
  readonly #text: string;
  readonly #keepSpelling: boolean;
  readonly #isBinary: boolean;
  #at = 0;
  readonly #open: Frame[] = [];
  readonly #duplicates = new Map<object, Map<string, unknown[]>>();

  constructor(text: string, { keepSpelling = false, isBinary = false }: ParseOptions) {
    this.#text = text;
    this.#keepSpelling = keepSpelling;
    this.#isBinary = isBinary;
  }

  parse(): ParsedBody {
    for (;;) {
      let value = this.#beginValue();
      if (value === OPENED) continue;
      let parent = this.#open.at(-1);
      while (parent !== undefined && this.#place(value, parent)) {
        value = parent.value;
        this.#open.pop();
        parent = this.#open.at(-1);
      }
      if (parent !== undefined) continue;
      if (!Number.isNaN(this.#peek())) throw this.#unexpected('after top-level value');
      return this.#duplicates.size === 0 ? { value } : { value, duplicates: this.#duplicates };
    }
  }

  /**
   * Reads a scalar or an empty container. Returns {@link OPENED} if a container was opened and its first value follows.
   */
  #beginValue(): unknown {
    const code = this.#peek();
    switch (code) {
      case OPEN_BRACE:
        return this.#beginObject();
      case OPEN_BRACKET:
        return this.#beginArray();
      case QUOTE:
        return this.#string();
      case LOWER_T:
        return this.#literal('true', true);
      case LOWER_F:
        return this.#literal('false', false);
      case LOWER_N:
        return this.#literal('null', null);
      default:
        if (code === MINUS || isDigit(code)) return this.#number();
        throw this.#unexpected('looking for beginning of value');
    }
  }

  #beginObject(): unknown {
    this.#checkDepth();
    this.#at++;
    const value: MutableRecord = {};
    if (this.#peek() === CLOSE_BRACE) {
      this.#at++;
      return value;
    }
    this.#open.push({ type: 'object', value, key: this.#key() });
    return OPENED;
  }

  #beginArray(): unknown {
    this.#checkDepth();
    this.#at++;
    const value: unknown[] = [];
    if (this.#peek() === CLOSE_BRACKET) {
      this.#at++;
      return value;
    }
    this.#open.push({ type: 'array', value });
    return OPENED;
  }

  #checkDepth(): void {
    if (this.#open.length >= MAX_DEPTH) throw this.#unexpected('exceeded max depth');
  }

  /**
   * Stores a complete value in its container and reads the following delimiter. Returns true if that closes the
   * container.
   */
  #place(value: unknown, parent: Frame): boolean {
    if (parent.type === 'array') {
      parent.value.push(value);
      return this.#closes(CLOSE_BRACKET, 'after array element');
    }
    if (Object.hasOwn(parent.value, parent.key)) this.#recordDuplicate(parent.value, parent.key);
    setOwn(parent.value, parent.key, value);
    if (this.#closes(CLOSE_BRACE, 'after object key:value pair')) return true;
    parent.key = this.#key();
    return false;
  }

  #closes(close: number, context: string): boolean {
    const code = this.#peek();
    if (code !== COMMA && code !== close) throw this.#unexpected(context);
    this.#at++;
    return code === close;
  }

  #recordDuplicate(object: MutableRecord, key: string): void {
    let keys = this.#duplicates.get(object);
    if (keys === undefined) {
      keys = new Map();
      this.#duplicates.set(object, keys);
    }
    const earlier = keys.get(key);
    if (earlier === undefined) keys.set(key, [object[key]]);
    else earlier.push(object[key]);
  }

  /** Reads a key and the colon. */
  #key(): string {
    if (this.#peek() !== QUOTE) throw this.#unexpected('looking for beginning of object key string');
    const key = this.#string();
    if (this.#peek() !== COLON) throw this.#unexpected('after object key');
    this.#at++;
    return key;
  }

  #string(): string {
    const text = this.#text;
    const from = this.#at + 1;
    let at = from;
    let code = text.charCodeAt(at);
    while (code >= SPACE && code !== QUOTE && code !== BACKSLASH) code = text.charCodeAt(++at);
    this.#at = at;
    if (code === QUOTE) return this.#own(text.slice(from, this.#at++));
    if (code === BACKSLASH) return this.#own(this.#escapedString(text.slice(from, at)));
    throw this.#unexpected('in string literal');
  }

  /** A part of a long text that may be stored without the rest. */
  #own(part: string): string {
    return this.#text.length > LONGEST_SHARED ? copyText(part) : part;
  }

  /** Reads the rest of a string from its first escape; `head` is the text before it. */
  #escapedString(head: string): string {
    let out = head;
    for (let code = this.#code(); code >= SPACE; code = this.#code()) {
      const character = this.#text[this.#at++];
      if (code === QUOTE) return out;
      out += code === BACKSLASH ? this.#escape() : character;
    }
    throw this.#unexpected('in string literal');
  }

  #escape(): string {
    const character = this.#text[this.#at];
    if (character === 'u') return this.#unicodeEscape();
    const plain = character === undefined ? undefined : ESCAPES.get(character);
    if (plain === undefined) throw this.#unexpected('in string escape code', true);
    this.#at++;
    return plain;
  }

  #unicodeEscape(): string {
    const unit = this.#hexUnit();
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    // A high surrogate followed by a low one is one character; otherwise it is replaced and the following text is kept.
    const isFirstHalf = unit < 0xdc00;
    if (isFirstHalf && /^\\u[dD][c-fC-F][0-9a-fA-F]{2}$/.test(this.#text.slice(this.#at, this.#at + 6))) {
      this.#at++;
      return String.fromCharCode(unit, this.#hexUnit());
    }
    return '\ufffd';
  }

  /** Reads the four hexadecimal digits after `u`. */
  #hexUnit(): number {
    const from = ++this.#at;
    for (; this.#at < from + 4; this.#at++) {
      if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) {
        throw this.#unexpected('in \\u hexadecimal character escape', true);
      }
    }
    return Number.parseInt(this.#text.slice(from, this.#at), 16);
  }

  #number(): number | bigint | NumberText {
    const from = this.#at;
    if (this.#code() === MINUS) this.#at++;
    if (this.#code() === DIGIT_0) this.#at++;
    else this.#digits('in numeric literal');
    const integer = this.#at;
    if (this.#code() === DOT) {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (this.#code() === LOWER_E || this.#code() === UPPER_E) {
      this.#at++;
      if (this.#code() === PLUS || this.#code() === MINUS) this.#at++;
      this.#digits('in exponent of numeric literal');
    }
    const text = this.#text.slice(from, this.#at);
    const value = Number(text);
    if (!Number.isFinite(value)) {
      throw new JsonSyntaxError(`json: cannot unmarshal number ${text} into Go value of type float64`);
    }
    if (integer === this.#at) return Number.isSafeInteger(value) ? value : BigInt(text);
    // A top-level number is rejected later, regardless of its text.
    const spelling = this.#keepSpelling && this.#open.length > 0 && String(value) !== text;
    return spelling ? new NumberText(this.#own(text)) : value;
  }

  /** Reads one or more digits. */
  #digits(context: string): void {
    if (!isDigit(this.#code())) throw this.#unexpected(context, true);
    while (isDigit(this.#code())) this.#at++;
  }

  #literal<Value>(keyword: string, value: Value): Value {
    for (const expected of keyword) {
      if (this.#text[this.#at] !== expected) {
        throw this.#unexpected(`in literal ${keyword} (expecting '${expected}')`, true);
      }
      this.#at++;
    }
    return value;
  }

  /** The next non-white-space character code without consuming it; NaN at the end. */
  #peek(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code > SPACE || (code !== SPACE && code !== LINE_FEED && code !== TAB && code !== CARRIAGE_RETURN))
        return code;
      this.#at++;
    }
  }

  /** The current character code; NaN at the end, which is no digit. */
  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  /**
   * The error at the current character. Go's scanner appends a space at the end of input, so an incomplete token
   * (`tru`, `1.`) reports the space; everywhere else the input has ended unexpectedly.
   */
  #unexpected(context: string, inToken = false): JsonSyntaxError {
    const code = this.#at < this.#text.length ? this.#text.codePointAt(this.#at) : undefined;
    if (code === undefined && !inToken) return new JsonSyntaxError('unexpected end of JSON input');
    const byte = this.#isBinary && code !== undefined ? code : firstByte(code ?? SPACE);
    return new JsonSyntaxError(`invalid character ${quoteByte(byte)} ${context}`);
  }
}

/** Marks an opened container; no JSON value is a symbol. */
const OPENED = Symbol('opened');

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

/** Go's scanner reads bytes, so messages name only the first byte of a non-ASCII character. */
function firstByte(codePoint: number): number {
  if (codePoint < 0x80) return codePoint;
  if (codePoint < 0x800) return 0xc0 | (codePoint >> 6);
  return codePoint < 0x10000 ? 0xe0 | (codePoint >> 12) : 0xf0 | (codePoint >> 18);
}

/** Formats a byte in single quotes as Go's scanner does. */
function quoteByte(byte: number): string {
  if (byte === 0x27) return `'\\''`;
  if (byte === QUOTE) return `'"'`;
  return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`;
}
