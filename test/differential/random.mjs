/** Pseudo-random choices that depend only on the seed. */

/** A generator of numbers in [0, 1) (mulberry32) with the choices that generators make. */
export function seededRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit) => Math.floor(next() * limit);
  return {
    below,
    chance: (share) => next() < share,
    pick: (items) => items[below(items.length)],
    /** `[[weight, value], …]`: a value, as often as its weight says. */
    weighted(entries) {
      let rest = next() * entries.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of entries) {
        rest -= weight;
        if (rest < 0) return value;
      }
      return entries.at(-1)[1];
    },
  };
}
