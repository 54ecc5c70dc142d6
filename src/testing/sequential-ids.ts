/**
 * Identities that are the same on every run.
 */
import type { Ids } from '../util/ids.js';
import { NAME_ALPHABET } from '../util/ids.js';

/**
 * Uids count up (`00000000-0000-4000-8000-000000000001`, …), name suffixes too (`bbbbb`, `bbbbc`, …), and `random`
 * goes through the same numbers from one half on.
 *
 * @example
 * createCluster({ ids: sequentialIds() })
 */
export function sequentialIds(): Ids {
  let uids = 0;
  let suffixes = 0;
  let randoms = 0;
  return {
    uid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`,
    suffix(length) {
      let text = '';
      for (let rest = suffixes++; text.length < length; rest = Math.floor(rest / NAME_ALPHABET.length)) {
        text = (NAME_ALPHABET[rest % NAME_ALPHABET.length] ?? '') + text;
      }
      return text;
    },
    // Steps of the golden ratio: they never come close to where they have been.
    random: () => (0.5 + randoms++ * 0.618033988749895) % 1,
  };
}
