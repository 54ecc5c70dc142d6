/**
 * Short names for pod templates: equal templates have equal ones, and the same as the reference gives them.
 */
import { NAME_ALPHABET } from '../../util/ids.js';
import { printPodTemplate } from './pod-template-printout.js';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const COUNT_BYTES = 8;

/** The hash of a pod template as text for a name. `collisions` tells templates apart whose hashes were the same. */
export function nameHash(template: unknown, collisions?: number): string {
  let hash = fnv(FNV_OFFSET, new TextEncoder().encode(printPodTemplate(template)));
  if (collisions !== undefined) {
    const count = new Uint8Array(COUNT_BYTES);
    new DataView(count.buffer).setUint32(0, collisions, true);
    hash = fnv(hash, count);
  }
  // Digits of the number in letters that never spell a word.
  return [...String(hash)].map((digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join('');
}

function fnv(start: number, bytes: Uint8Array): number {
  let hash = start;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash >>> 0;
}
