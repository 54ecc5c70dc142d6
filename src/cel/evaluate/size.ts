/** Sizes as cost counts them. */

import { Failure, type Result } from '../failure.js';
import { characterCount } from '../library/text.js';
import { CelBytes, CelList, CelMap, CelObject, CelOpaque, CelOptional } from '../values.js';

/** Characters, bytes, items, entries; 1 for everything that has no size. */
export function actualSize(value: Result): number {
  if (typeof value === 'string') return characterCount(value);
  if (typeof value !== 'object' || value === null || value instanceof Failure) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof CelObject) return value.fieldNames().length;
  if (value instanceof CelBytes) return value.bytes.length;
  if (value instanceof CelOptional && value.value !== undefined) return actualSize(value.value);
  return value instanceof CelOpaque ? (value.size ?? 1) : 1;
}
