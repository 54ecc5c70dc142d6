/**
 * Checks for a single RFC 5322 mail address, with or without a display name: `a@b.de`, `Ann <a@b.de>`, `team: a@b.de;`.
 * Comments and encoded words are parsed only as far as needed.
 */
import { parseIp } from '../../meta/ip.js';
import { Base64Error, canonicalBase64 } from '../../util/base64.js';

/** Reports whether a text is a single mail address. */
export function isEmailAddress(text: string): boolean {
  const reader = new AddressReader(text);
  return reader.addresses(true) === 1 && reader.skipComments() && reader.isAtEnd;
}

/** Characters that need no quotes (including dots), and characters allowed between quotes. */
const ATOM = /[!#-'*+\--9=?A-Z^-~\u0080-\uffff]+/y;
const QUOTED_TEXT = /(?:[\t !#-[\]-~\u0080-\uffff]|\\[\t -~\u0080-\uffff])*/y;
const DOMAIN_TEXT = /[!-Z^-~\u0080-\uffff]*/y;

class AddressReader {
  #at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.#at === this.text.length;
  }

  /** Parses one address or one group and returns the number of addresses; undefined if the syntax is invalid. */
  addresses(mayBeGroup: boolean): number | undefined {
    this.#skipSpace();
    if (this.isAtEnd) return undefined;
    const start = this.#at;
    if (this.#plainAddress()) {
      this.#skipSpace();
      return this.#peek() !== '(' || this.#displayComment() ? 1 : undefined;
    }
    this.#at = start;
    if (this.#peek() !== '<' && !this.#displayName()) return undefined;
    this.#skipSpace();
    if (mayBeGroup && this.#take(':')) return this.#group();
    return this.#take('<') && this.#plainAddress() && this.#take('>') ? 1 : undefined;
  }

  /** Skips white space and comments. Returns false if a comment is not closed. */
  skipComments(): boolean {
    this.#skipSpace();
    while (this.#take('(')) {
      if (this.#comment() === undefined) return false;
      this.#skipSpace();
    }
    return true;
  }

  #group(): number | undefined {
    let count = 0;
    this.#skipSpace();
    if (this.#take(';')) return this.skipComments() ? 0 : undefined;
    for (;;) {
      this.#skipSpace();
      const inner = this.addresses(false);
      if (inner === undefined || !this.skipComments()) return undefined;
      count += inner;
      if (this.#take(';')) return this.skipComments() ? count : undefined;
      if (!this.#take(',')) return undefined;
    }
  }

  /** `local@domain`. */
  #plainAddress(): boolean {
    this.#skipSpace();
    const local = this.#peek() === '"' ? this.#quoted() : this.#dotAtom();
    if (local === undefined || local === '' || !this.#take('@')) return false;
    this.#skipSpace();
    return this.#peek() === '[' ? this.#domainLiteral() : this.#dotAtom() !== undefined;
  }

  #domainLiteral(): boolean {
    this.#take('[');
    const text = this.#match(DOMAIN_TEXT) ?? '';
    return this.#take(']') && parseIp(text) !== undefined;
  }

  /** Parses one or more words. Input that is invalid after the first word is left for the caller to reject. */
  #displayName(): boolean {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.skipComments()) return false;
      this.#skipSpace();
      if (this.isAtEnd) return true;
      const isQuoted = this.#peek() === '"';
      const word = isQuoted ? this.#quoted() : this.#match(ATOM);
      if (word === undefined || (!isQuoted && isOfUnknownCharset(word))) return words > 0;
    }
  }

  /** The text between quotes, escapes included; undefined if the quotes are not closed. */
  #quoted(): string | undefined {
    const start = this.#at;
    this.#take('"');
    const text = this.#match(QUOTED_TEXT) ?? '';
    if (this.#take('"')) return text;
    this.#at = start;
    return undefined;
  }

  #dotAtom(): string | undefined {
    const atom = this.#match(ATOM);
    return atom === undefined || /^\.|\.\.|\.$/.test(atom) ? undefined : atom;
  }

  #displayComment(): boolean {
    this.#take('(');
    const comment = this.#comment();
    if (comment === undefined) return false;
    return !comment.split(/[ \t]+/).some(isOfUnknownCharset);
  }

  /** The text of a comment whose opening parenthesis has been read; undefined if it is not closed. */
  #comment(): string | undefined {
    let comment = '';
    for (let depth = 1; ; this.#at++) {
      if (this.isAtEnd) return undefined;
      const last = this.#at + 1 === this.text.length;
      if (this.#peek() === '\\' && !last) this.#at++;
      else if (this.#peek() === '(') depth++;
      else if (this.#peek() === ')') depth--;
      if (depth === 0) {
        this.#at++;
        return comment;
      }
      comment += this.#peek();
    }
  }

  #peek(): string {
    return this.text.charAt(this.#at);
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#at++;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return found;
  }
}

const CHARSETS = ['utf-8', 'iso-8859-1', 'us-ascii'];

/** True for an encoded word (`=?utf-8?q?text?=`) with valid text and an unknown character set. */
function isOfUnknownCharset(word: string): boolean {
  const [, charset = '', encoding = '', text = ''] = /^=\?([^?]+)\?([^?])\?([^?]*)\?=$/.exec(word) ?? [];
  const isText = /^[bB]$/.test(encoding) ? isBase64(text) : /^[qQ]$/.test(encoding) && isQuotedPrintable(text);
  return isText && !CHARSETS.includes(charset.toLowerCase());
}

function isQuotedPrintable(text: string): boolean {
  return /^(?:[ -<>-~\n\r\t]|=[0-9a-fA-F]{2})*$/.test(text);
}

function isBase64(text: string): boolean {
  try {
    canonicalBase64(text);
    return true;
  } catch (error) {
    if (error instanceof Base64Error) return false;
    throw error;
  }
}
