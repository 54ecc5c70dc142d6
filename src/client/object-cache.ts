/**
 * The objects of an informer, by key and by index. It neither fetches nor notifies.
 *
 * Worked example, with `indexes: { node: (p) => [p.spec.node] }` and two objects on node `n1`:
 *
 *   objects   default/a → a, default/b → b
 *   node      n1 → { default/a → a, default/b → b }
 *
 * When b moves to n2, its previous index keys (remembered, not recomputed) lead to the bucket it leaves.
 */
import type { ApiObject } from '../meta/object.js';

/** Returns the index keys of an object; none: the object is not in the index. */
export type IndexFunction<Object> = (object: Object) => readonly string[];

/** Index functions by name. */
export type Indexes<Object, IndexName extends string> = { readonly [Name in IndexName]: IndexFunction<Object> };

const NO_KEYS: readonly string[] = [];

/** Objects by key, with indexes. */
export class ObjectCache<Object> {
  readonly #objects = new Map<string, Object>();
  readonly #indexes = new Map<string, Index<Object>>();
  #snapshot: readonly Object[] | undefined;

  constructor(indexes: Readonly<Record<string, IndexFunction<Object>>>) {
    for (const [name, keysOf] of Object.entries(indexes)) this.#indexes.set(name, new Index(keysOf));
  }

  get(key: string): Object | undefined {
    return this.#objects.get(key);
  }

  entries(): IterableIterator<[string, Object]> {
    return this.#objects.entries();
  }

  /** The same array until something changes, in the order in which objects were first added. */
  snapshot(): readonly Object[] {
    this.#snapshot ??= Object.freeze([...this.#objects.values()]);
    return this.#snapshot;
  }

  /** Undefined when the index does not exist. */
  by(index: string, key: string): readonly Object[] | undefined {
    return this.#indexes.get(index)?.find(key);
  }

  /** Stores the object. If an index function throws, the object has no keys in that index; the errors are returned. */
  put(key: string, object: Object): unknown[] {
    this.#objects.set(key, object);
    this.#snapshot = undefined;
    const failures: unknown[] = [];
    for (const index of this.#indexes.values()) {
      try {
        index.put(key, object);
      } catch (error) {
        failures.push(error);
      }
    }
    return failures;
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#snapshot = undefined;
    for (const index of this.#indexes.values()) index.delete(key);
  }
}

class Index<Object> {
  readonly #keysOf: IndexFunction<Object>;
  readonly #buckets = new Map<string, Map<string, Object>>();
  readonly #keysByObject = new Map<string, readonly string[]>();

  constructor(keysOf: IndexFunction<Object>) {
    this.#keysOf = keysOf;
  }

  find(key: string): readonly Object[] {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? [] : [...bucket.values()];
  }

  put(key: string, object: Object): void {
    this.delete(key);
    const filedUnder = this.#keysOf(object);
    this.#keysByObject.set(key, filedUnder);
    for (const indexKey of filedUnder) {
      const bucket = this.#buckets.get(indexKey);
      if (bucket === undefined) this.#buckets.set(indexKey, new Map([[key, object]]));
      else bucket.set(key, object);
    }
  }

  delete(key: string): void {
    for (const indexKey of this.#keysByObject.get(key) ?? NO_KEYS) {
      const bucket = this.#buckets.get(indexKey);
      bucket?.delete(key);
      if (bucket?.size === 0) this.#buckets.delete(indexKey);
    }
    this.#keysByObject.delete(key);
  }
}

/** The metadata of an untyped object; every object of a server has it. */
export function metaOf(object: unknown): ApiObject['metadata'] {
  return (object as ApiObject).metadata;
}
