/**
 * Splits characters into tokens. The longest match wins. An incomplete token is skipped up to and including the first
 * character that does not match, and reported as a whole.
 */
import { TokenType } from './tokens.js';

const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Single-character tokens that are not a prefix of a longer one. */
const SINGLE: ReadonlyMap<number, number> = new Map(
  Object.entries({
    '[': TokenType.OPEN_BRACKET,
    ']': TokenType.CLOSE_BRACKET,
    '{': TokenType.OPEN_BRACE,
    '}': TokenType.CLOSE_BRACE,
    '(': TokenType.OPEN_PAREN,
    ')': TokenType.CLOSE_PAREN,
    ',': TokenType.COMMA,
    '-': TokenType.MINUS,
    '?': TokenType.QUESTION,
    ':': TokenType.COLON,
    '+': TokenType.PLUS,
    '*': TokenType.STAR,
    '%': TokenType.PERCENT,
  }).map(([text, type]) => [text.charCodeAt(0), type]),
);

/** The number of hexadecimal digits after `\x`, `\X`, `\u` and `\U`. */
const ESCAPE_DIGITS: ReadonlyMap<number, number> = new Map([
  [0x78, 2],
  [0x58, 2],
  [0x75, 4],
  [0x55, 8],
]);

/** Keywords by length. */
const KEYWORDS: readonly (readonly (readonly [readonly number[], number])[])[] = [
  [],
  [],
  [[codesOf('in'), TokenType.IN]],
  [],
  [
    [codesOf('true'), TokenType.TRUE],
    [codesOf('null'), TokenType.NULL],
  ],
  [[codesOf('false'), TokenType.FALSE]],
];

const PLAIN_ESCAPES: ReadonlySet<number> = new Set(codesOf('abfnrtv"\'\\?`'));

export class Scanner {
  /** The type of the last token; INVALID if there was none. */
  type: number = TokenType.END;
  /** The end of the last token, where the next one starts. */
  end = 0;
  /** The first character that did not match in an incomplete string or escaped name. */
  #misfit = 0;

  constructor(readonly codes: ArrayLike<number>) {}

  /** Reads the token that starts here and returns its end. */
  scan(start: number): number {
    const code = this.#at(start);
    if (isLetter(code)) return this.#word(start, code);
    if (isSpace(code)) return this.#run(TokenType.WHITESPACE, start, isSpace);
    if (isDigit(code)) return this.#number(start);
    if (isQuote(code)) return this.#text(TokenType.STRING, start, start, false);
    if (start >= this.codes.length) return this.#found(TokenType.END, start);
    return this.#symbol(start, code);
  }

  /** The code point at an index; -1 beyond the end. */
  #at(index: number): number {
    return this.codes[index] ?? -1;
  }

  #found(type: number, end: number): number {
    this.type = type;
    this.end = end;
    return end;
  }

  /** Skips up to and including the character that did not match. */
  #wrong(misfit: number): number {
    return this.#found(TokenType.INVALID, Math.min(misfit + 1, this.codes.length));
  }

  #run(type: number, from: number, isPart: (code: number) => boolean): number {
    let end = from;
    while (isPart(this.#at(end))) end++;
    return this.#found(type, end);
  }

  #symbol(start: number, code: number): number {
    const next = this.#at(start + 1);
    const single = SINGLE.get(code);
    if (single !== undefined) return this.#found(single, start + 1);
    switch (code) {
      case 0x2e: // .
        if (isDigit(next)) return this.#found(TokenType.FLOAT, this.#exponent(this.#digits(start + 1)));
        return this.#found(TokenType.DOT, start + 1);
      case 0x3d: // =
        return next === 0x3d ? this.#found(TokenType.EQUALS, start + 2) : this.#wrong(start + 1);
      case 0x21: // !
        return next === 0x3d ? this.#found(TokenType.NOT_EQUALS, start + 2) : this.#found(TokenType.NOT, start + 1);
      case 0x3c: // <
        return next === 0x3d ? this.#found(TokenType.LESS_EQUALS, start + 2) : this.#found(TokenType.LESS, start + 1);
      case 0x3e: // >
        if (next === 0x3d) return this.#found(TokenType.GREATER_EQUALS, start + 2);
        return this.#found(TokenType.GREATER, start + 1);
      case 0x26: // &
        return next === 0x26 ? this.#found(TokenType.AND, start + 2) : this.#wrong(start + 1);
      case 0x7c: // |
        return next === 0x7c ? this.#found(TokenType.OR, start + 2) : this.#wrong(start + 1);
      case 0x2f: // /
        if (next !== 0x2f) return this.#found(TokenType.SLASH, start + 1);
        return this.#run(TokenType.COMMENT, start + 2, (part) => part !== NEWLINE && part !== -1);
      case 0x60: // `
        return this.#escapedName(start);
      default:
        return this.#wrong(start);
    }
  }

  /** An identifier, a keyword, or a string with a prefix: `r''`, `b''`, `br''`. */
  #word(start: number, code: number): number {
    const lower = code | 0x20;
    if (lower === 0x72 && isQuote(this.#at(start + 1))) return this.#text(TokenType.STRING, start, start + 1, true);
    if (lower === 0x62) {
      const next = this.#at(start + 1);
      if (isQuote(next)) return this.#text(TokenType.BYTES, start, start + 1, false);
      if ((next | 0x20) === 0x72 && isQuote(this.#at(start + 2))) {
        return this.#text(TokenType.BYTES, start, start + 2, true);
      }
    }
    this.#run(TokenType.IDENTIFIER, start, isWordPart);
    for (const [keyword, type] of KEYWORDS[this.end - start] ?? []) if (this.#matches(start, keyword)) this.type = type;
    return this.end;
  }

  #matches(start: number, codes: readonly number[]): boolean {
    return codes.every((code, index) => this.codes[start + index] === code);
  }

  #escapedName(start: number): number {
    let end = start + 1;
    while (isEscapedNamePart(this.#at(end))) end++;
    if (end === start + 1 || this.#at(end) !== 0x60) return this.#wrong(end);
    return this.#found(TokenType.ESCAPED_IDENTIFIER, end + 1);
  }

  #number(start: number): number {
    if (this.#at(start) === 0x30 && this.#at(start + 1) === 0x78 && isHex(this.#at(start + 2))) {
      this.#run(TokenType.INT, start + 2, isHex);
    } else {
      const whole = this.#digits(start);
      let end = whole;
      if (this.#at(whole) === 0x2e && isDigit(this.#at(whole + 1))) end = this.#digits(whole + 1);
      end = this.#exponent(end);
      if (end > whole) return this.#found(TokenType.FLOAT, end);
      this.#found(TokenType.INT, whole);
    }
    return (this.#at(this.end) | 0x20) === 0x75 ? this.#found(TokenType.UINT, this.end + 1) : this.end;
  }

  #digits(from: number): number {
    let end = from;
    while (isDigit(this.#at(end))) end++;
    return end;
  }

  /** The end of the exponent that starts here, or `from` if there is none. */
  #exponent(from: number): number {
    if ((this.#at(from) | 0x20) !== 0x65) return from;
    const sign = this.#at(from + 1);
    const digits = sign === 0x2b || sign === 0x2d ? from + 2 : from + 1;
    return isDigit(this.#at(digits)) ? this.#digits(digits) : from;
  }

  /** A string whose quotes start at `quote`. A prefix without a string is an identifier. */
  #text(type: number, start: number, quote: number, raw: boolean): number {
    const end = this.#quoted(quote, raw);
    if (end !== undefined) return this.#found(type, end);
    if (quote === start) return this.#wrong(this.#misfit);
    return this.#run(TokenType.IDENTIFIER, start, isWordPart);
  }

  #quoted(start: number, raw: boolean): number | undefined {
    const quote = this.#at(start);
    if (this.#at(start + 1) !== quote) return this.#shortText(start + 1, quote, raw);
    if (this.#at(start + 2) !== quote) return start + 2;
    // An unterminated triple-quoted string is an empty string followed by other tokens.
    return this.#longText(start + 3, quote, raw) ?? start + 2;
  }

  #shortText(from: number, quote: number, raw: boolean): number | undefined {
    let index = from;
    for (;;) {
      const code = this.#at(index);
      if (code === quote) return index + 1;
      if (code === NEWLINE || code === RETURN || code === -1) {
        this.#misfit = index;
        return undefined;
      }
      if (code !== BACKSLASH || raw) index++;
      else {
        const next = this.#escape(index + 1);
        if (next === undefined) return undefined;
        index = next;
      }
    }
  }

  #longText(from: number, quote: number, raw: boolean): number | undefined {
    let index = from;
    for (;;) {
      const code = this.#at(index);
      if (code === -1) return undefined;
      if (code === quote && this.#at(index + 1) === quote && this.#at(index + 2) === quote) return index + 3;
      if (code !== BACKSLASH || raw) index++;
      else {
        const next = this.#escape(index + 1);
        if (next === undefined) return undefined;
        index = next;
      }
    }
  }

  /** The end of the escape sequence whose backslash precedes `from`. */
  #escape(from: number): number | undefined {
    const code = this.#at(from);
    if (PLAIN_ESCAPES.has(code)) return from + 1;
    const digits = ESCAPE_DIGITS.get(code);
    if (digits !== undefined) return this.#repeated(from + 1, digits, isHex);
    if (code >= 0x30 && code <= 0x33) return this.#repeated(from + 1, 2, isOctal);
    this.#misfit = from;
    return undefined;
  }

  #repeated(from: number, count: number, fits: (code: number) => boolean): number | undefined {
    for (let index = from; index < from + count; index++) {
      if (fits(this.#at(index))) continue;
      this.#misfit = index;
      return undefined;
    }
    return from + count;
  }
}

function codesOf(text: string): readonly number[] {
  return Array.from(text, (character) => character.charCodeAt(0));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isOctal(code: number): boolean {
  return code >= 0x30 && code <= 0x37;
}

function isHex(code: number): boolean {
  const lower = code | 0x20;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66);
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x5f;
}

function isWordPart(code: number): boolean {
  return isLetter(code) || isDigit(code);
}

/** Identifier characters and `-`, `.`, `/` and space. */
function isEscapedNamePart(code: number): boolean {
  return isWordPart(code) || (code >= 0x2d && code <= 0x2f) || code === 0x20;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === NEWLINE || code === RETURN || code === 0x09 || code === 0x0c;
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27;
}
