/**
 * The rule of most counts.
 */
import { type FieldError, invalid } from '../../meta/field-error.js';

export function nonNegative(path: string, value: number | undefined): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')];
}
