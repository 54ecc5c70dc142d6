/**
 * The operations that mutating policies can match: not DELETE, because a deleted object cannot be changed.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { notSupported } from '../../../meta/field-error.js';
import type { MatchResources } from '../../generated/admissionregistration-v1.js';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** Rejects other operations. */
export function operationErrors({ resourceRules = [] }: MatchResources, path: string): FieldError[] {
  return resourceRules
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !OPERATIONS.includes(operation))
    .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, OPERATIONS));
}
