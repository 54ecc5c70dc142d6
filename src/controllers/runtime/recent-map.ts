/**
 * A map that forgets what was not asked for longest, once it holds too much.
 */
export class RecentMap<Value> {
  readonly #most: number;
  /** A Map keeps the order of insertion, so the first entry is the one to forget. */
  readonly #entries = new Map<string, Value>();
  /** What was asked for last: it need not be moved to the end. */
  #newest: string | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && key !== this.#newest) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    if (key !== this.#newest) this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
