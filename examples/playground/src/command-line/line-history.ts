/**
 * The history of lines and the position of the arrow keys in it. The line that is being typed is kept while the user
 * browses.
 */

const MAX_LINES = 200;

export class LineHistory {
  #lines: readonly string[];
  /** Counted from the end; 0 is the line that is being typed. */
  #back = 0;
  #draft = '';

  constructor(lines: readonly string[] = []) {
    this.#lines = lines.slice(-MAX_LINES);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Adds a line, unless it equals the previous one. */
  add(line: string): void {
    this.#back = 0;
    this.#draft = '';
    if (line.trim() === '' || line === this.#lines.at(-1)) return;
    this.#lines = [...this.#lines, line].slice(-MAX_LINES);
  }

  /** The previous line. `typed` is the current text of the input. */
  previous(typed: string): string {
    if (this.#back === 0) this.#draft = typed;
    this.#back = Math.min(this.#back + 1, this.#lines.length);
    return this.#at();
  }

  /** The next line; after the newest, the line that was being typed. */
  next(typed: string): string {
    if (this.#back === 0) return typed;
    this.#back -= 1;
    return this.#at();
  }

  #at(): string {
    return this.#back === 0 ? this.#draft : (this.#lines.at(-this.#back) ?? this.#draft);
  }
}
