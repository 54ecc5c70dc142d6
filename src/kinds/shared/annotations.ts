/**
 * Validation of annotations, of objects and in metadata that is part of another object, such as a pod template.
 */
import { type FieldError, invalid, tooLong } from '../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../meta/names.js';

const MAX_BYTES = 256 * 1024;

/** Validates a map of annotations. All errors are reported at the map's path, in the order of the keys. */
export function annotationErrors(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const found: FieldError[] = [];
  let total = 0;
  for (const key of Object.keys(annotations).sort()) {
    // Keys are validated in lower case: the prefix may contain capital letters.
    for (const problem of qualifiedNameProblems(key.toLowerCase())) found.push(invalid(path, key, problem));
    total += byteLength(key) + byteLength(annotations[key] ?? '');
  }
  if (total > MAX_BYTES) found.push(tooLong(path, MAX_BYTES));
  return found;
}
