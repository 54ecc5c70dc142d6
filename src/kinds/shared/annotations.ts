/**
 * Validation of annotations, and of metadata that is part of another object, such as a claim template.
 */
import { childPath, type FieldError, forbidden, invalid, tooLong } from '../../meta/field-error.js';
import { labelErrors } from '../../meta/labels.js';
import { byteLength, qualifiedNameProblems } from '../../meta/names.js';
import { METADATA_FIELDS, type ObjectMetaInput } from '../../meta/object.js';
import { wasSentEmpty } from '../../schema/empty-values.js';

export const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Validates a map of annotations. All errors are reported at the map's path, in the order of the keys. */
export function annotationErrors(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const found: FieldError[] = [];
  let total = 0;
  for (const key of Object.keys(annotations).sort()) {
    // Keys are validated in lower case: the prefix may contain capital letters.
    for (const problem of qualifiedNameProblems(key.toLowerCase())) found.push(invalid(path, key, problem));
    total += byteLength(key) + byteLength(annotations[key] ?? '');
  }
  if (total > MAX_ANNOTATION_BYTES) found.push(tooLong(path, MAX_ANNOTATION_BYTES));
  return found;
}

/** Validates the metadata of a claim template: it has only labels and annotations. */
export function templateMetaProblems(path: string, metadata: ObjectMetaInput): FieldError[] {
  const all = metadata as Readonly<Record<string, unknown>>;
  const forbiddenFields = METADATA_FIELDS.filter((field) => field !== 'labels' && field !== 'annotations');
  // An absent creationTimestamp is null.
  const given = forbiddenFields.filter((field) => (all[field] ?? null) !== null || wasSentEmpty(metadata, field));
  return [
    ...annotationErrors(metadata.annotations ?? {}, childPath(path, 'annotations')),
    ...labelErrors(metadata.labels ?? {}, childPath(path, 'labels')),
    ...given.map((field) => forbidden(childPath(path, field === 'uid' ? 'uID' : field), 'cannot be set')),
  ];
}
