/**
 * Remembers quantities in the client's spelling where it differs from the canonical one, because some messages print
 * what the reference server parsed (`15` tenths, not `1500` thousandths). The entries live as long as the decoded object or map.
 */
import { getOrInsertComputed } from '../util/once.js';

const texts = new WeakMap<object, Map<string, string>>();

/** Remembers the spelling of one value; empty if the client sent none. */
export function rememberQuantityText(holder: object, key: string, text: string): void {
  getOrInsertComputed(texts, holder, () => new Map()).set(key, text);
}

/** Returns the client's spelling; undefined if it is not known to differ. */
export function originalQuantityText(holder: object, key: string): string | undefined {
  return printedQuantityText(holder, key) || undefined;
}

/** The same for messages that print all parts of a quantity: empty for one that the client did not send, or sent as null. */
export function printedQuantityText(holder: object, key: string): string | undefined {
  return texts.get(holder)?.get(key);
}

/** Whether a quantity of this object or map was sent in another spelling, or not at all. */
export function hasQuantityText(holder: object): boolean {
  return texts.has(holder);
}

/** Copies the spellings of the values that another map has too, except for those that come from a third one. */
export function copyQuantityTexts(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  except: Readonly<Record<string, unknown>> = NONE,
): void {
  for (const [key, text] of texts.get(from) ?? []) {
    if (to[key] === from[key] && !Object.hasOwn(except, key)) rememberQuantityText(to, key, text);
  }
}

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});
