/**
 * Reads a text character by character and tracks the position for errors. YAML 1.1 has five line breaks;
 * `normalizeBreaks` maps three of them to line feeds, which leaves line feeds and the two Unicode separators.
 */

import { copyText } from '../../util/copy-text.js';

/** The text is not valid YAML. The message equals the reference server's, with the line if it has one. */
export class YamlSyntaxError extends Error {
  override readonly name = 'YamlFault';
}

/** Replaces carriage returns and next-line characters with line feeds. */
export function normalizeBreaks(text: string): string {
  return /[\r\u0085]/.test(text) ? text.replace(/\r\n?|\u0085/g, '\n') : text;
}

/** The error for the first character that YAML does not allow; undefined if there is none. */
export function forbiddenCharacterError(text: string): YamlSyntaxError | undefined {
  const found = FORBIDDEN.exec(text)?.[0];
  if (found === undefined) return undefined;
  // The reference server rejects the encoding of a lone surrogate as an invalid character.
  return new YamlSyntaxError(
    /[\ud800-\udfff]/.test(found) ? 'invalid Unicode character' : 'control characters are not allowed',
  );
}

/** Control characters other than tabs and line breaks, lone surrogates, and the two noncharacters. */
const FORBIDDEN = /(?![\t\n\r\u0085])\p{Cc}|[\p{Surrogate}\ufffe\uffff]/u;

/** Reads a text from its start; the end is the empty string. */
export class CharacterReader {
  readonly #text: string;
  offset = 0;
  /** Characters before this one in the text (`index`) and in the line (`column`); lines before this one (`line`). */
  index = 0;
  column = 0;
  line: number;

  /** `linesBefore`: lines before the text in the whole stream. */
  constructor(text: string, linesBefore = 0) {
    this.#text = text;
    this.line = linesBefore;
  }

  /** The UTF-16 unit ahead; all characters with a meaning are single units. */
  peek(ahead = 0): string {
    return this.#text[this.offset + ahead] ?? '';
  }

  skip(count = 1): void {
    for (let left = count; left > 0; left--) {
      const code = this.#text.charCodeAt(this.offset);
      const isPair = code >= 0xd800 && code < 0xdc00;
      this.offset += isPair ? 2 : 1;
      this.index++;
      if (code === 0x0a || code === 0x2028 || code === 0x2029) {
        this.column = 0;
        this.line++;
      } else {
        this.column++;
      }
    }
  }

  /** Consumes and returns a whole character. */
  takeCharacter(): string {
    const from = this.offset;
    this.skip();
    return this.since(from);
  }

  /** The end of the text ends its last line, even without a line break. */
  endLine(): void {
    if (this.column === 0) return;
    this.column = 0;
    this.line++;
  }

  since(offset: number): string {
    // What is stored may be a small part of the text, and must not keep all of it in memory.
    return copyText(this.#text.slice(offset, this.offset));
  }

  /** Whether `---` or `...` starts here as a document mark. */
  atDocumentMark(): boolean {
    if (this.column !== 0) return false;
    const mark = this.#text.slice(this.offset, this.offset + 3);
    return (mark === '---' || mark === '...') && isBlankOrEnd(this.peek(3));
  }

  /** A scanner error at this line. The reference server omits the number of the first line. */
  error(problem: string): YamlSyntaxError {
    return new YamlSyntaxError(this.line === 0 ? problem : `line ${this.line + 1}: ${problem}`);
  }
}

export function isBreak(character: string): boolean {
  return character === '\n' || character === '\u2028' || character === '\u2029';
}

export function isBreakOrEnd(character: string): boolean {
  return character === '' || isBreak(character);
}

export function isBlank(character: string): boolean {
  return character === ' ' || character === '\t';
}

export function isBlankOrEnd(character: string): boolean {
  return isBlank(character) || isBreakOrEnd(character);
}

/** Whether a character may be part of an anchor name or tag handle. */
export function isAlpha(character: string): boolean {
  return /^[0-9A-Za-z_-]$/.test(character);
}
