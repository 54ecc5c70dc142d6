/**
 * The most of something at one time during the last second: what is gone before anybody looks still shows.
 */
const PERIOD_MS = 1000;

export class Watermark {
  readonly #now: () => number;
  #current = 0;
  #highest = 0;
  /** Of the second before. */
  #before = 0;
  #period = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns what takes it away again; more than once is once. */
  add(): () => void {
    this.#turn();
    this.#current++;
    if (this.#current > this.#highest) this.#highest = this.#current;
    let isThere = true;
    return () => {
      if (!isThere) return;
      isThere = false;
      this.#turn();
      this.#current--;
    };
  }

  get value(): number {
    this.#turn();
    return Math.max(this.#before, this.#highest);
  }

  #turn(): void {
    const period = Math.floor(this.#now() / PERIOD_MS);
    if (period === this.#period) return;
    this.#before = period === this.#period + 1 ? this.#highest : this.#current;
    this.#highest = this.#current;
    this.#period = period;
  }
}
