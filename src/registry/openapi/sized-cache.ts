/**
 * A cache of large values by object identity. It holds its keys weakly and drops the values that were used least recently
 * when their total size exceeds a bound.
 */

class Entry<Value> {
  readonly reference: WeakRef<Entry<Value>> = new WeakRef(this);
  value: Value | undefined;
  readonly size: number;

  constructor(value: Value, size: number) {
    this.value = value;
    this.size = size;
  }
}

export class SizedCache<Key extends object, Value> {
  readonly #maxSize: number;
  readonly #entries = new WeakMap<Key, Entry<Value>>();
  /** The entries with a value and their sizes, the least recently used one first. Weak: a dropped key drops its value. */
  readonly #recent = new Map<WeakRef<Entry<Value>>, number>();
  #size = 0;

  /** `maxSize` is in the unit of the sizes that `set` gets. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry?.value === undefined) return undefined;
    this.#recent.delete(entry.reference);
    this.#recent.set(entry.reference, entry.size);
    return entry.value;
  }

  /** Keeps a value; one that is larger than the bound is not kept. */
  set(key: Key, value: Value, size: number): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#drop(before.reference, before.size);
    if (size > this.#maxSize) return;
    const entry = new Entry(value, size);
    this.#entries.set(key, entry);
    this.#recent.set(entry.reference, size);
    this.#size += size;
    for (const [reference, itsSize] of this.#recent) {
      if (this.#size <= this.#maxSize) break;
      this.#drop(reference, itsSize);
    }
  }

  #drop(reference: WeakRef<Entry<Value>>, size: number): void {
    if (!this.#recent.delete(reference)) return;
    this.#size -= size;
    const entry = reference.deref();
    if (entry !== undefined) entry.value = undefined;
  }
}
