/** The text of an expression by characters (code points), as lines and columns count them. */
import type { Source } from '../ast.js';

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
