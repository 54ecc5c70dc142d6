/**
 * Batched requests that stop early when the server rejects them.
 */

/**
 * Performs an action for each item in batches of doubling size and stops after the first batch with a failure, because the
 * other items would probably fail too. The batch is completed; then the first failure is thrown.
 */
export async function slowStart<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  maxBatchSize = Infinity,
): Promise<void> {
  for (let done = 0, size = 1; done < items.length; done += size, size = Math.min(2 * size, maxBatchSize)) {
    await allOf(items.slice(done, done + size).map(act));
  }
}

/** Awaits all promises, then throws the first rejection. */
export async function allOf(all: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(all)) if (result.status === 'rejected') throw result.reason;
}
