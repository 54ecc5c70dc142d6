/**
 * Validates the conditions of both kinds of the group: types are required and unique.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { duplicate, keyPath, required } from '../../../meta/field-error.js';

/** Validates a list of conditions. */
export function validateConditions(conditions: readonly { readonly type?: string }[] | undefined): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { type = '' }] of (conditions ?? []).entries()) {
    const at = `${keyPath('status.conditions', index)}.type`;
    if (seen.has(type)) found.push(duplicate(at, type));
    seen.add(type);
    if (type === '') found.push(required(at, 'must not be empty'));
  }
  return found;
}
