/**
 * Zero values for fields that are always on the wire.
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

/** Reports whether `omitempty` omits a value. */
export function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _key in value) return false;
  return true;
}
