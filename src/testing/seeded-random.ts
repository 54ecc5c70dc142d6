/**
 * Chance that a test can repeat: the same seed gives the same numbers on every machine.
 */

export interface SeededRandom {
  /** Evenly from 0 to 1, 1 left out. */
  next(): number;
  /** A whole number from 0 to `count`, `count` left out. */
  below(count: number): number;
  /** A copy in another order. */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/**
 * @example
 * const random = seededRandom(7);
 * random.below(6) + 1;
 */
export function seededRandom(seed: number): SeededRandom {
  if (!Number.isFinite(seed)) throw new TypeError(`orchplane: a seed is a number, not ${String(seed)}`);
  // Neighbouring seeds start far apart, so that seeds 1, 2, 3 do not tell nearly the same story.
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
