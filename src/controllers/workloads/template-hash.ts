/**
 * Short names for templates: equal templates have equal ones. The reference derives its names from a printout of its own
 * structures; ours differ from them, and mean the same.
 */

import { NAME_ALPHABET } from '../../util/ids.js';
import { encodeSorted } from '../../util/json.js';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A hash of JSON data as text for a name. `collisions` tells data apart whose hashes were found to be the same. */
export function nameHash(data: unknown, collisions?: number): string {
  let hash = FNV_OFFSET;
  const text = `${encodeSorted(data)}${collisions ?? ''}`;
  for (let at = 0; at < text.length; at++) {
    hash ^= text.charCodeAt(at);
    hash = Math.imul(hash, FNV_PRIME) >>> 0;
  }
  // Digits of the number in letters that never spell a word.
  return [...String(hash)].map((digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join('');
}
