/**
 * Validation of annotations in metadata that is part of another object, such as a pod template.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, tooLong } from '../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../meta/names.js';

const MAX_BYTES = 256 * 1024;

/** Validates a map of annotations. All errors are reported at the map's path, in the order of the keys. */
export function annotationErrors(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const keys = Object.keys(annotations).sort();
  // Keys are validated in lower case: the prefix may contain capital letters.
  const found = keys.flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalid(path, key, problem)),
  );
  const total = keys.reduce((sum, key) => sum + byteLength(key) + byteLength(annotations[key] ?? ''), 0);
  return total > MAX_BYTES ? [...found, tooLong(path, MAX_BYTES)] : found;
}
