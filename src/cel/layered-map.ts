/** A map that has its own entries and behind them those of another one, without a copy of them. */
export class LayeredMap<Key, Value> implements ReadonlyMap<Key, Value> {
  readonly #base: ReadonlyMap<Key, Value>;
  readonly #own: ReadonlyMap<Key, Value>;

  private constructor(base: ReadonlyMap<Key, Value>, own: ReadonlyMap<Key, Value>) {
    this.#base = base;
    this.#own = own;
  }

  static over<Key, Value>(base: ReadonlyMap<Key, Value>, own: ReadonlyMap<Key, Value>): ReadonlyMap<Key, Value> {
    if (own.size === 0) return base;
    return base.size === 0 ? own : new LayeredMap(base, own);
  }

  get size(): number {
    let size = this.#base.size;
    for (const key of this.#own.keys()) if (!this.#base.has(key)) size++;
    return size;
  }

  get(key: Key): Value | undefined {
    return (this.#own.has(key) ? this.#own : this.#base).get(key);
  }

  has(key: Key): boolean {
    return this.#own.has(key) || this.#base.has(key);
  }

  *entries(): MapIterator<[Key, Value]> {
    for (const entry of this.#base) if (!this.#own.has(entry[0])) yield entry;
    yield* this.#own;
  }

  *keys(): MapIterator<Key> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.entries();
  }

  forEach(run: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void): void {
    for (const [key, value] of this.entries()) run(value, key, this);
  }
}
