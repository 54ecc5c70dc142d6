/** The text of an expression by characters (code points), as lines and columns count them. */
import type { CelIssue, Source } from '../ast.js';

/** How deep the rules of the grammar, and the nodes that are made of them, may be nested. */
export const MOST_DEPTH = 250;

/** Characters of a text. */
export const MOST_CHARACTERS = 100_000;

/** Mistakes of syntax after which reading stops. */
export const MOST_SYNTAX_ERRORS = 100;

/** How often reading goes on after a mistake. */
export const MOST_RECOVERIES = 30;

/** How many tokens one such attempt may skip. */
export const MOST_SKIPPED_TOKENS = 256;

/** How many are shown; of the others, only the number. */
const SHOWN = 100;

/** Lines with more bytes than this are not shown. */
const LONGEST_LINE = 16_384;

/** Wide characters are marked by wide dots, so that the mark stands below its character. */
const WIDE_DOT = '\uff0e';

const WIDE_MARK = '\uff3e';

/** The offset of what has no place, such as a text that is too long. */
export const NO_PLACE = -2;

export class TextSource implements Source {
  /** One code point per character. */
  readonly codes: ArrayLike<number>;
  #characters: readonly string[] | undefined;
  #lineStarts: readonly number[] | undefined;
  /** Offsets are indexes of the string too: no character takes two of its units. */
  readonly #plain: boolean;

  constructor(readonly text: string) {
    const units = new Uint16Array(text.length);
    let plain = true;
    for (let i = 0; i < units.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0xd800 && unit < 0xe000) {
        plain = false;
        break;
      }
      units[i] = unit;
    }
    this.#plain = plain;
    this.codes = plain ? units : Uint32Array.from(this.characters, (character) => character.codePointAt(0) ?? 0);
  }

  get characters(): readonly string[] {
    this.#characters ??= Array.from(this.text);
    return this.#characters;
  }

  slice(start: number, end: number): string {
    return this.#plain ? this.text.slice(start, end) : this.characters.slice(start, end).join('');
  }

  locate(offset: number): { readonly line: number; readonly column: number } {
    if (offset < -1) return { line: -1, column: -1 };
    let line = 1;
    let start = 0;
    for (const next of this.#lines()) {
      if (next > offset) break;
      start = next;
      line++;
    }
    return { line, column: offset - start };
  }

  line(line: number): string | undefined {
    if (this.text === '' || line < 1) return undefined;
    const starts = this.#lines();
    const start = line === 1 ? 0 : starts[line - 2];
    if (start === undefined) return undefined;
    const next = starts[line - 1];
    return this.slice(start, next === undefined ? this.codes.length : next - 1);
  }

  /** Where the second line and those after it start. */
  #lines(): readonly number[] {
    if (this.#lineStarts === undefined) {
      const starts: number[] = [];
      for (let i = 0; i < this.codes.length; i++) if (this.codes[i] === 0x0a) starts.push(i + 1);
      this.#lineStarts = starts;
    }
    return this.#lineStarts;
  }
}

/** `issues` are in the order in which they were found: it decides between those at the same place. */
export function issuesText(source: Source, issues: readonly CelIssue[]): string {
  const placed = issues.slice(0, SHOWN).map((issue) => ({ issue, at: source.locate(issue.offset) }));
  placed.sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  const texts = placed.map(({ issue, at }) => issueText(source, issue.message, at));
  if (issues.length > SHOWN) texts.push(`${issues.length - SHOWN} more errors were truncated`);
  return texts.join('\n');
}

function issueText(source: Source, message: string, at: { readonly line: number; readonly column: number }): string {
  const text = `ERROR: <input>:${at.line}:${at.column + 1}: ${message}`;
  const line = source.line(at.line);
  if (line === undefined || new TextEncoder().encode(line).length > LONGEST_LINE) return text;
  const shown = line.replaceAll('\t', ' ');
  const characters = Array.from(shown);
  let marks = '';
  for (const character of characters.slice(0, Math.max(at.column, 0))) marks += isWide(character) ? WIDE_DOT : '.';
  marks += isWide(characters[Math.max(at.column, 0)]) ? WIDE_MARK : '^';
  return `${text}\n | ${shown}\n | ${marks}`;
}

function isWide(character: string | undefined): boolean {
  return character !== undefined && (character.codePointAt(0) ?? 0) >= 0x80;
}
