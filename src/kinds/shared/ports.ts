/**
 * The rules of port numbers.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';

/** 0 is none of them. */
export function portNumberProblems(path: string, port: number): FieldError[] {
  return port >= 1 && port <= 65535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')];
}
