/**
 * Metadata in a template: labels and annotations, and nothing else.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden } from '../../../meta/field-error.js';
import { labelErrors } from '../../../meta/labels.js';
import type { ObjectMetaInput } from '../../../meta/object.js';
import { annotationErrors } from '../../shared/annotations.js';

/** Every other field, as messages spell it, in their order. */
const NOT_FOR_TEMPLATES: Readonly<Record<string, string>> = {
  name: 'name',
  generateName: 'generateName',
  namespace: 'namespace',
  selfLink: 'selfLink',
  uid: 'uID',
  resourceVersion: 'resourceVersion',
  generation: 'generation',
  creationTimestamp: 'creationTimestamp',
  deletionTimestamp: 'deletionTimestamp',
  deletionGracePeriodSeconds: 'deletionGracePeriodSeconds',
  ownerReferences: 'ownerReferences',
  finalizers: 'finalizers',
  managedFields: 'managedFields',
};

export function templateMetaProblems(path: string, metadata: ObjectMetaInput): FieldError[] {
  const given = metadata as Readonly<Record<string, unknown>>;
  // An empty creation time is null.
  const refused = Object.entries(NOT_FOR_TEMPLATES).filter(([field]) => (given[field] ?? null) !== null);
  return [
    ...annotationErrors(metadata.annotations ?? {}, childPath(path, 'annotations')),
    ...labelErrors(metadata.labels ?? {}, childPath(path, 'labels')),
    ...refused.map(([, spelling]) => forbidden(childPath(path, spelling), 'cannot be set')),
  ];
}
