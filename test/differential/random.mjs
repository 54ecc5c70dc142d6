/** Pseudo-random choices that depend only on the seed. */
import { seededRandom } from '../../dist/testing/index.js';

export function randomChoices(seed) {
  const { next, below } = seededRandom(seed);
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
