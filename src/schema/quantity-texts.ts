/**
 * Remembers quantities in the client's spelling where it differs from the canonical one, because some messages print
 * what the reference server parsed (`15` tenths, not `1500` thousandths). The entries live as long as the decoded map.
 */
import { getOrInsertComputed } from '../util/once.js';

const texts = new WeakMap<object, Map<string, string>>();

/** Remembers the spelling of one value. */
export function rememberQuantityText(holder: object, key: string, text: string): void {
  getOrInsertComputed(texts, holder, () => new Map()).set(key, text);
}

/** Returns the client's spelling; undefined if it is not known to differ. */
export function originalQuantityText(holder: object, key: string): string | undefined {
  return texts.get(holder)?.get(key);
}

/** Copies the spellings to a copy of the map. */
export function copyQuantityTexts(from: object, to: object): void {
  const present = texts.get(from);
  if (present !== undefined) texts.set(to, present);
}
