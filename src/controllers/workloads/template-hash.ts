/**
 * Hashes of pod templates, equal to those of the reference server.
 */
import { NAME_ALPHABET } from '../../util/ids.js';
import { printPodTemplate } from './pod-template-printout.js';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const COUNT_BYTES = 8;

/** The hash of a pod template for use in a name. `collisions` distinguishes templates with equal hashes. */
export function nameHash(template: unknown, collisions?: number): string {
  let hash = fnv(FNV_OFFSET, new TextEncoder().encode(printPodTemplate(template)));
  if (collisions !== undefined) {
    const count = new Uint8Array(COUNT_BYTES);
    new DataView(count.buffer).setUint32(0, collisions, true);
    hash = fnv(hash, count);
  }
  // Maps each digit to a letter of an alphabet without vowels.
  return [...String(hash)].map((digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join('');
}

function fnv(start: number, bytes: Uint8Array): number {
  let hash = start;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash >>> 0;
}
