/**
 * After how many seconds a client that was turned away should come back. One, as long as few are; while many are, it is
 * doubled, and it comes down again one by one.
 */

const MOST = 32;
/** So many in each second are many. */
const MANY = 3;
const MS_PER_SECOND = 1000;

/** For one level. */
export class RetryAfter {
  #seconds = 1;
  /** How many were turned away in which second; the last entry is still growing. */
  #dropped: { readonly second: number; count: number }[] = [];
  #raisedAt = Number.NEGATIVE_INFINITY;

  /** One was turned away. Returns what to tell it. */
  drop(nowMs: number): number {
    const second = Math.floor(nowMs / MS_PER_SECOND);
    const last = this.#dropped.at(-1);
    if (last?.second === second) {
      last.count++;
      return this.#seconds;
    }
    // Judged when a second is over: the new one has told nothing yet.
    this.#judge(second);
    this.#dropped.push({ second, count: 1 });
    return this.#seconds;
  }

  #judge(second: number): void {
    const isOld = (entry: { second: number }, age: number): boolean => second - entry.second > age;
    const lately = this.#dropped.filter((entry) => !isOld(entry, this.#seconds) && entry.second < second);
    const count = lately.reduce((sum, entry) => sum + entry.count, 0);
    if (second - this.#raisedAt >= this.#seconds && count >= MANY * this.#seconds) {
      this.#seconds = Math.min(MOST, this.#seconds * 2);
      this.#raisedAt = second;
    } else if (count < this.#seconds && this.#seconds > 1) {
      this.#seconds--;
    }
    this.#dropped = this.#dropped.filter((entry) => !isOld(entry, MOST));
  }
}
