/**
 * What was typed before, and where the arrow keys are in it. A line that is being typed is not lost by looking back.
 */

const MOST = 200;

export class LineHistory {
  #lines: readonly string[];
  /** Counted from the end; 0 is the line that is being typed. */
  #back = 0;
  #draft = '';

  constructor(lines: readonly string[] = []) {
    this.#lines = lines.slice(-MOST);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Remembers a line; the same line twice in a row is remembered once. */
  add(line: string): void {
    this.#back = 0;
    this.#draft = '';
    if (line.trim() === '' || line === this.#lines.at(-1)) return;
    this.#lines = [...this.#lines, line].slice(-MOST);
  }

  /** The line before. `typed` is what stands there now. */
  previous(typed: string): string {
    if (this.#back === 0) this.#draft = typed;
    this.#back = Math.min(this.#back + 1, this.#lines.length);
    return this.#at();
  }

  /** The line after; in the end what was being typed. */
  next(typed: string): string {
    if (this.#back === 0) return typed;
    this.#back -= 1;
    return this.#at();
  }

  #at(): string {
    return this.#back === 0 ? this.#draft : (this.#lines.at(-this.#back) ?? this.#draft);
  }
}
