/** Sizes as cost counts them. */

import { spend } from '../effort.js';
import { Failure, type Result } from '../failure.js';
import { characterCount } from '../library/text.js';
import { CelBytes, CelList, CelMap, CelObject, CelOpaque, CelOptional } from '../values.js';

/** The same long text is asked for its size by every round of a loop; it is counted once. */
const LONG = 200;
let lastText = '';
let lastCount = 0;

function sizeOfText(text: string): number {
  if (text.length < LONG) return characterCount(text);
  // To see that it is the same may mean to compare it.
  spend(text.length === lastText.length ? text.length / 8 : 0);
  if (text !== lastText) {
    spend(text.length * 2);
    lastCount = characterCount(text);
    lastText = text;
  }
  return lastCount;
}

/** Characters, bytes, items, entries; 1 for everything that has no size. */
export function actualSize(value: Result): number {
  if (typeof value === 'string') return sizeOfText(value);
  if (typeof value !== 'object' || value === null || value instanceof Failure) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof CelObject) return value.fieldNames().length;
  if (value instanceof CelBytes) return value.bytes.length;
  if (value instanceof CelOptional && value.value !== undefined) return actualSize(value.value);
  return value instanceof CelOpaque ? (value.size ?? 1) : 1;
}
