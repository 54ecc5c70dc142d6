/**
 * Validation of `metav1.Condition` lists, for kinds that validate the conditions in their status.
 */

import type { FieldError } from '../../meta/field-error.js';
import { duplicate, invalid, keyPath, required, tooLong } from '../../meta/field-error.js';
import { byteLength, patternMessage, qualifiedNameProblems } from '../../meta/names.js';
import { append } from '../../util/arrays.js';
import { valueErrors } from './field-rules.js';

/** A condition before validation: every field may be absent. */
interface UnvalidatedCondition {
  readonly type?: string;
  readonly status?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

const STATUSES = ['False', 'True', 'Unknown'];
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_MESSAGE = patternMessage(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
  ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'],
);

/** Validates a list of conditions at `path`. */
export function conditionErrors(conditions: readonly UnvalidatedCondition[] | undefined, path: string): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, condition] of (conditions ?? []).entries()) {
    const at = keyPath(path, index);
    const { type = '' } = condition;
    if (seen.has(type)) found.push(duplicate(`${at}.type`, type));
    seen.add(type);
    append(found, oneConditionErrors(condition, at));
  }
  return found;
}

function oneConditionErrors(condition: UnvalidatedCondition, at: string): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition;
  const found = qualifiedNameProblems(type).map((detail) => invalid(`${at}.type`, type, detail));
  append(found, valueErrors(`${at}.status`, status, STATUSES));
  if (observedGeneration < 0) {
    found.push(invalid(`${at}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'));
  }
  if (lastTransitionTime === undefined || lastTransitionTime === null) {
    found.push(required(`${at}.lastTransitionTime`, 'must be set'));
  }
  if (reason === '') found.push(required(`${at}.reason`, 'must be set'));
  else {
    if (!REASON.test(reason)) found.push(invalid(`${at}.reason`, reason, REASON_MESSAGE));
    if (byteLength(reason) > MAX_REASON_BYTES) found.push(tooLong(`${at}.reason`, MAX_REASON_BYTES));
  }
  if (byteLength(message) > MAX_MESSAGE_BYTES) found.push(tooLong(`${at}.message`, MAX_MESSAGE_BYTES));
  return found;
}
