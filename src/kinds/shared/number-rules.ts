/**
 * Validation rules of plain numbers: counts and ports.
 */
import { type FieldError, invalid } from '../../meta/field-error.js';

/** Most counts must not be negative. An absent count is valid. */
export function nonNegative(path: string, value: number | undefined): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')];
}

/** The range of port numbers; 0 is invalid. */
export function portNumberProblems(path: string, port: number): FieldError[] {
  return port >= 1 && port <= 65535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')];
}
