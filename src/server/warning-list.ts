/**
 * The warnings of one request. Webhooks, policies and the objects of a collection can add any number, of which a
 * response over HTTP contains the first few thousand characters.
 */

import { copyText } from '../util/copy-text.js';

/** Longer texts are cut. A header contains less of them. */
const MAX_TEXT = 8 * 1024;
/** What all warnings of a request may have together; later ones are dropped. */
const MAX_CHARACTERS = 1024 * 1024;
/** What a text needs besides its characters. */
const TEXT_COST = 64;

/** Keeps each text once, in order. */
export class WarningList extends Array<string> {
  /** Copies are usual arrays. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  #known: Set<string> | undefined;
  #left = MAX_CHARACTERS;

  override push(...texts: string[]): number {
    for (const text of texts) this.#add(text);
    return this.length;
  }

  #add(text: string): void {
    if (this.#left <= 0) return;
    const kept = text.length > MAX_TEXT ? cut(text) : text;
    this.#known ??= new Set();
    if (this.#known.has(kept)) return;
    this.#known.add(kept);
    this.#left -= kept.length + TEXT_COST;
    super.push(kept);
  }
}

/** The start of a text, without half a character. */
function cut(text: string): string {
  return copyText(text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, ''));
}
