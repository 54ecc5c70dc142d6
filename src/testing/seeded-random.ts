/**
 * A reproducible random source: the same seed gives the same numbers on every machine.
 */

export interface SeededRandom {
  /** A number in [0, 1), uniformly distributed. */
  next(): number;
  /** An integer in [0, count). */
  below(count: number): number;
  /** A shuffled copy. */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/**
 * @example
 * const random = seededRandom(7);
 * random.below(6) + 1;
 */
export function seededRandom(seed: number): SeededRandom {
  if (!Number.isFinite(seed)) throw new TypeError(`orchplane: a seed is a number, not ${String(seed)}`);
  // Mixes the seed, so that the seeds 1, 2, 3 give unrelated sequences.
  let state = Math.imul(Math.trunc(seed) ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    below,
    shuffle(items) {
      const copy = [...items];
      for (let last = copy.length - 1; last > 0; last--) {
        const other = below(last + 1);
        const kept = copy[last];
        const moved = copy[other];
        if (kept === undefined || moved === undefined) continue;
        copy[last] = moved;
        copy[other] = kept;
      }
      return copy;
    },
  };
}
