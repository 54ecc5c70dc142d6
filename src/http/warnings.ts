/**
 * Warnings → values of the Warning header. spec: Warnings
 */
import { toBytes } from './header-bytes.js';

/** Beyond this many characters in all, every warning is cut to {@link CUT} characters. */
const LIMIT = 4096;
const CUT = 256;

/** What a header cannot carry. */
const CONTROL = /\p{Cc}/u;

/**
 * One value per warning: `299 - "text"`. Texts are taken once, in order; one with control characters is left out. From
 * the warning on that makes them too long together, all are cut, and no more are added once the limit is reached again.
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  let shown: string[][] = [];
  let cutting = false;
  for (const text of new Set(warnings)) {
    if (text === '' || CONTROL.test(text)) continue;
    if (cutting && lengthOf(shown) >= LIMIT) break;
    const characters = [...text];
    shown.push(cutting ? characters.slice(0, CUT) : characters);
    if (cutting || lengthOf(shown) <= LIMIT) continue;
    cutting = true;
    shown = shown.map((earlier) => earlier.slice(0, CUT));
  }
  return shown.map((characters) => `299 - "${toBytes(characters.join('').replace(/["\\]/g, '\\$&'))}"`);
}

function lengthOf(texts: readonly (readonly string[])[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
