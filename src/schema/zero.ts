/**
 * What stands where there must be something and nothing was given.
 */
import type { ScalarNode } from './structural.js';

export const ZERO: Readonly<Record<ScalarNode['scalar'], unknown>> = {
  string: '',
  int32: 0,
  int64: 0,
  number: 0,
  boolean: false,
  bytes: '',
  time: null,
  microTime: null,
  quantity: '0',
  intOrString: 0,
  duration: '0s',
};

/** What `omitempty` leaves out. */
export function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _key in value) return false;
  return true;
}
