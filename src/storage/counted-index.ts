/**
 * A counted index: several objects may have the same key, which exists until the last of them is removed. A table keeps it
 * current.
 */
import type { ApiObject } from '../meta/object.js';
import type { KeyIndex, KeysOf } from './types.js';

export class CountedIndex<Key> implements KeyIndex<Key> {
  readonly #keysOf: KeysOf<Key>;
  readonly #countByKey = new Map<Key, number>();

  constructor(keysOf: KeysOf<Key>, objects: Iterable<ApiObject>) {
    this.#keysOf = keysOf;
    for (const object of objects) this.add(object);
  }

  has(key: Key): boolean {
    return this.#countByKey.has(key);
  }

  keys(): Iterable<Key> {
    return this.#countByKey.keys();
  }

  add(object: ApiObject): void {
    for (const key of this.#keysIn(object)) this.#countByKey.set(key, (this.#countByKey.get(key) ?? 0) + 1);
  }

  /** The object must be one that was added. */
  remove(object: ApiObject): void {
    for (const key of this.#keysIn(object)) {
      const left = (this.#countByKey.get(key) ?? 0) - 1;
      if (left > 0) this.#countByKey.set(key, left);
      else this.#countByKey.delete(key);
    }
  }

  /** An object of another program may lack what the keys are read from. It is stored and served like others, without keys. */
  #keysIn(object: ApiObject): readonly Key[] {
    try {
      return [...this.#keysOf(object)];
    } catch {
      return [];
    }
  }
}
