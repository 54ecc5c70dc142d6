/**
 * The rules of annotations, for metadata that stands inside another object.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, tooLong } from '../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../meta/names.js';

const MAX_BYTES = 256 * 1024;

/** What is wrong with a map of annotations; every fault is reported at the map itself, in the order of the keys. */
export function annotationErrors(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const keys = Object.keys(annotations).sort();
  // Keys are judged in lower case: a prefix may be written in capitals.
  const found = keys.flatMap((key) => qualifiedNameProblems(key.toLowerCase()).map((why) => invalid(path, key, why)));
  const total = keys.reduce((sum, key) => sum + byteLength(key) + byteLength(annotations[key] ?? ''), 0);
  return total > MAX_BYTES ? [...found, tooLong(path, MAX_BYTES)] : found;
}
