/**
 * The one rule of metadata that only the create rules of a kind have: bare finalizer names are refused. For kinds that
 * judge an update as they would a new object, and do nothing else a second time.
 */
import type { FieldError } from '../../meta/field-error.js';
import { keyPath } from '../../meta/field-error.js';
import type { ApiObject } from '../../meta/object.js';
import { bareFinalizerProblems } from './finalizers.js';

export function finalizerProblems({ metadata }: ApiObject): FieldError[] {
  return (metadata.finalizers ?? []).flatMap((name, index) =>
    bareFinalizerProblems(keyPath('metadata.finalizers', index), name),
  );
}
