/**
 * Data that was declared immutable stays as it is: the flag of ConfigMaps and Secrets.
 */
import type { FieldError } from '../../meta/field-error.js';
import { forbidden } from '../../meta/field-error.js';
import type { ApiObject } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';

const WHEN_SET = 'field is immutable when `immutable` is set';

/** Once `immutable` is true, neither it nor the fields named here can change. */
export function immutableDataProblems(next: ApiObject, live: ApiObject, fields: readonly string[]): FieldError[] {
  if (live['immutable'] !== true) return [];
  const changed = fields.filter((field) => !deepEqual(next[field], live[field]));
  return (next['immutable'] === true ? changed : ['immutable', ...changed]).map((field) => forbidden(field, WHEN_SET));
}
