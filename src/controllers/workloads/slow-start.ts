/**
 * Doing many things of a kind to a server that may refuse them all.
 */

/**
 * Does something for each, more and more at a time, until one fails: what is wrong with it is likely wrong with the
 * others. Those of its batch are still done; then the first failure is thrown.
 */
export async function slowStart<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  largest = Infinity,
): Promise<void> {
  for (let done = 0, size = 1; done < items.length; done += size, size = Math.min(2 * size, largest)) {
    await allOf(items.slice(done, done + size).map(act));
  }
}

/** Waits for all of them, then rejects with the first that was rejected. */
export async function allOf(all: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(all)) if (result.status === 'rejected') throw result.reason;
}
