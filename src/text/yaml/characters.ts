/**
 * A text read character by character, with the place that a fault is reported at. Line breaks are the five of YAML 1.1;
 * `normalizeBreaks` has made three of them one, so what is left are line feeds and the two separators of Unicode.
 */

/** The text is not the YAML that the reference server reads. The message is its own, with the line where it has one. */
export class YamlFault extends Error {
  override readonly name = 'YamlFault';
}

/** Carriage returns and next-line characters end a line like a line feed, and are read as one. */
export function normalizeBreaks(text: string): string {
  return /[\r\u0085]/.test(text) ? text.replace(/\r\n?|\u0085/g, '\n') : text;
}

/** The first character that no YAML text may hold, as a fault; undefined when there is none. */
export function characterFault(text: string): YamlFault | undefined {
  const found = FORBIDDEN.exec(text)?.[0];
  if (found === undefined) return undefined;
  // Half a surrogate pair has no bytes of its own; encoded all the same, it is refused as no character at all.
  return new YamlFault(
    /[\ud800-\udfff]/.test(found) ? 'invalid Unicode character' : 'control characters are not allowed',
  );
}

/** Control characters other than tabs and line breaks, halves of surrogate pairs, and the two that are no characters. */
const FORBIDDEN = /(?![\t\n\r\u0085])\p{Cc}|[\p{Surrogate}\ufffe\uffff]/u;

/** Reads one text from its start; the end is the empty string. */
export class CharacterReader {
  readonly #text: string;
  offset = 0;
  /** Characters before this one, in the whole text and in its line; lines before this one. */
  index = 0;
  column = 0;
  line: number;

  /** `linesBefore`: of what the text is a part of. */
  constructor(text: string, linesBefore = 0) {
    this.#text = text;
    this.line = linesBefore;
  }

  /** A character ahead, as one unit of text: enough, because all that have a meaning are single units. */
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

  /** The character here, whole, taken off. */
  takeCharacter(): string {
    const from = this.offset;
    this.skip();
    return this.since(from);
  }

  /** The end of the text ends its last line, also without a break. */
  endLine(): void {
    if (this.column === 0) return;
    this.column = 0;
    this.line++;
  }

  since(offset: number): string {
    return this.#text.slice(offset, this.offset);
  }

  /** Whether `---` or `...` stands here by itself. */
  atDocumentMark(): boolean {
    if (this.column !== 0) return false;
    const mark = this.#text.slice(this.offset, this.offset + 3);
    return (mark === '---' || mark === '...') && isBlankOrEnd(this.peek(3));
  }

  /** A fault of the tokens, at this line. The first line is not worth a mention to the reference server. */
  fault(problem: string): YamlFault {
    return new YamlFault(this.line === 0 ? problem : `line ${this.line + 1}: ${problem}`);
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

/** Of names and handles. */
export function isAlpha(character: string): boolean {
  return /^[0-9A-Za-z_-]$/.test(character);
}
