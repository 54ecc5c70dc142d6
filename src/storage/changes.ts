/**
 * Counts the changes of tables. Unlike the revision, the count never goes back.
 */
import { getOrInsertComputed } from '../util/once.js';

/** A number that grows with every change of a set of resources. */
export interface ChangeCounter {
  readonly value: number;
}

export class Changes {
  #count = 0;
  /** The count when the content of all tables was replaced. */
  #countOfAll = 0;
  readonly #last = new Map<string, number>();
  /** The counters to update when a table changes. */
  readonly #counters = new Map<string, { value: number }[]>();

  /** Grows with every change of a resource, also by a restore. */
  last(storageKey: string): number {
    return Math.max(this.#last.get(storageKey) ?? 0, this.#countOfAll);
  }

  /** A counter of the changes of several resources, cheap enough to read with every request. */
  counterOf(storageKeys: Iterable<string>): ChangeCounter {
    const counter = { value: this.#countOfAll };
    for (const storageKey of new Set(storageKeys)) this.extend(counter, storageKey);
    return counter;
  }

  /** Adds a resource to a counter. */
  extend(counter: ChangeCounter, storageKey: string): void {
    const extended: { value: number } = counter;
    extended.value = Math.max(counter.value, this.last(storageKey));
    getOrInsertComputed(this.#counters, storageKey, () => []).push(extended);
  }

  count(storageKey: string): void {
    const value = ++this.#count;
    this.#last.set(storageKey, value);
    const counters = this.#counters.get(storageKey);
    if (counters !== undefined) for (const counter of counters) counter.value = value;
  }

  /** The content of all tables has been replaced. */
  countAll(): void {
    this.#countOfAll = ++this.#count;
    for (const counters of this.#counters.values()) for (const counter of counters) counter.value = this.#countOfAll;
  }
}
