/**
 * Update rules of some kinds begin with all the rules of a new object, its metadata included. What the server has found
 * there for any object is then reported once more, and a bare finalizer is refused that other kinds would take.
 */
import type { FieldError } from '../../meta/field-error.js';
import { labelErrors } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { finalizerProblems } from './finalizer-problems.js';

export function repeatedMetadataProblems(object: ApiObject): FieldError[] {
  return [...labelErrors(object.metadata.labels ?? {}, 'metadata.labels'), ...finalizerProblems(object)];
}
