/**
 * A map that forgets what was not asked for longest, once it holds too much.
 */
export class RecentMap<Value> {
  readonly #most: number;
  readonly #entries = new Map<string, Entry<Value>>();
  /** Grows with everything that is asked for. */
  #time = 0;
  /** Keys in the order in which they were asked for last at some moment, the first last. */
  #oldest: string[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.asked = ++this.#time;
    return entry.value;
  }

  set(key: string, value: Value): void {
    const entry = this.#entries.get(key);
    const asked = ++this.#time;
    if (entry !== undefined) {
      entry.value = value;
      entry.asked = asked;
      return;
    }
    this.#entries.set(key, { value, asked, ranked: 0 });
    if (this.#entries.size > this.#most) this.#forgetOne();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Who is older than all others is looked for when there are too many, and for many at once. */
  #forgetOne(): void {
    for (let key = this.#oldest.pop(); key !== undefined; key = this.#oldest.pop()) {
      const entry = this.#entries.get(key);
      // Asked for since then, or deleted, perhaps to come again.
      if (entry === undefined || entry.asked !== entry.ranked) continue;
      this.#entries.delete(key);
      return;
    }
    const entries = [...this.#entries].sort(([, left], [, right]) => right.asked - left.asked);
    for (const [, entry] of entries) entry.ranked = entry.asked;
    this.#oldest = entries.map(([key]) => key);
    this.#forgetOne();
  }
}

interface Entry<Value> {
  value: Value;
  /** When it was asked for last. */
  asked: number;
  /** What that was when the oldest were looked for. */
  ranked: number;
}
