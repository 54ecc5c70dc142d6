/** The source text of an expression by code point, with line and column lookup, parser limits and issue formatting. */
import type { CelIssue, Source } from '../ast.js';

/** Maximum nesting of grammar rules and of nodes. The limits below equal those of the API server. */
export const MAX_DEPTH = 250;

/** Maximum characters of an expression. */
export const MAX_CHARACTERS = 100_000;

/** Maximum syntax errors before parsing stops. */
export const MAX_SYNTAX_ERRORS = 100;

/** Maximum attempts to recover from a syntax error. */
export const MAX_RECOVERIES = 30;

/** Maximum tokens that one recovery may skip. */
export const MAX_SKIPPED_TOKENS = 256;

/** Maximum issues in the formatted text; of the others only the number is shown. */
const MAX_REPORTED_ISSUES = 100;

/** Maximum bytes of a source line that is included in the formatted text. */
const LONGEST_LINE = 16_384;

/** Wide characters are marked with wide dots to align the mark with its character. */
const WIDE_DOT = '\uff0e';

const WIDE_MARK = '\uff3e';

/** The offset of issues without a location, such as a text that is too long. */
export const NO_LOCATION = -2;

export class TextSource implements Source {
  /** The code points of the text. */
  readonly codes: ArrayLike<number>;
  #characters: readonly string[] | undefined;
  #lineStarts: readonly number[] | undefined;
  /** Whether no character needs two UTF-16 units, so that offsets are string indexes. */
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

  /** The start offsets of all lines after the first. */
  #lines(): readonly number[] {
    if (this.#lineStarts === undefined) {
      const starts: number[] = [];
      for (let i = 0; i < this.codes.length; i++) if (this.codes[i] === 0x0a) starts.push(i + 1);
      this.#lineStarts = starts;
    }
    return this.#lineStarts;
  }
}

/**
 * Formats issues as API clients see them: location, message, source line and a mark. Issues at the same location keep
 * their order.
 */
export function issuesText(source: Source, issues: readonly CelIssue[]): string {
  const placed = issues.slice(0, MAX_REPORTED_ISSUES).map((issue) => ({ issue, at: source.locate(issue.offset) }));
  placed.sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  const texts = placed.map(({ issue, at }) => issueText(source, issue.message, at));
  if (issues.length > MAX_REPORTED_ISSUES)
    texts.push(`${issues.length - MAX_REPORTED_ISSUES} more errors were truncated`);
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
