/**
 * Update rules of some kinds begin with all the rules of a new object, its metadata included. What the server has found
 * there for any object is then reported once more.
 */
import type { FieldError } from '../../meta/field-error.js';
import { labelErrors } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { annotationErrors } from './annotations.js';
import { finalizerProblems } from './finalizer-problems.js';

export function repeatedMetadataProblems(object: ApiObject): FieldError[] {
  return [...repeatedMapsProblems(object), ...finalizerProblems(object)];
}

/** The same where bare names of finalizers are not refused. */
export function repeatedMapsProblems({ metadata }: ApiObject): FieldError[] {
  const { labels = {}, annotations = {} } = metadata;
  return [...labelErrors(labels, 'metadata.labels'), ...annotationErrors(annotations, 'metadata.annotations')];
}
