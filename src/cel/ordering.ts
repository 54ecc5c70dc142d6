/** Ordering of values as defined for `<`. */

import { Failure, NO_SUCH_OVERLOAD } from './failure.js';
import { compareDoubleInt, compareDoubles, compareDoubleUint } from './numbers.js';
import { CelBytes, CelDuration, CelTimestamp, CelUint, type CelValue } from './values.js';
import { spendWork } from './work-budget.js';

const NOT_A_NUMBER = new Failure('NaN values cannot be ordered');

/**
 * Returns a negative number, zero or a positive number; a failure if the two values have no order; undefined if the
 * left value's type has no ordering at all.
 */
export function celCompare(left: CelValue, right: CelValue): number | Failure | undefined {
  switch (typeof left) {
    case 'bigint':
      if (typeof right === 'bigint') return left < right ? -1 : left > right ? 1 : 0;
      if (typeof right === 'number') return ordered(-compareDoubleInt(right, left));
      return right instanceof CelUint ? compareBig(left, right.value) : NO_SUCH_OVERLOAD;
    case 'number':
      if (Number.isNaN(left)) return NOT_A_NUMBER;
      if (typeof right === 'number') return ordered(compareDoubles(left, right));
      if (typeof right === 'bigint') return compareDoubleInt(left, right);
      return right instanceof CelUint ? compareDoubleUint(left, right.value) : NO_SUCH_OVERLOAD;
    case 'string':
      return typeof right === 'string' ? compareText(left, right) : NO_SUCH_OVERLOAD;
    case 'boolean':
      return typeof right === 'boolean' ? Number(left) - Number(right) : NO_SUCH_OVERLOAD;
    default:
  }
  if (left instanceof CelUint) {
    if (right instanceof CelUint) return compareBig(left.value, right.value);
    if (typeof right === 'bigint') return compareBig(left.value, right);
    return typeof right === 'number' ? ordered(-compareDoubleUint(right, left.value)) : NO_SUCH_OVERLOAD;
  }
  if (left instanceof CelTimestamp) {
    return right instanceof CelTimestamp ? compareBig(left.nanos, right.nanos) : NO_SUCH_OVERLOAD;
  }
  if (left instanceof CelDuration) {
    return right instanceof CelDuration ? compareBig(left.nanos, right.nanos) : NO_SUCH_OVERLOAD;
  }
  if (!(left instanceof CelBytes)) return undefined;
  return right instanceof CelBytes ? compareBytes(left.bytes, right.bytes) : NO_SUCH_OVERLOAD;
}

function ordered(comparison: number): number | Failure {
  return Number.isNaN(comparison) ? NOT_A_NUMBER : comparison;
}

function compareBig(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compares by code points (the byte order of UTF-8); JavaScript compares UTF-16 units. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  spendWork(at);
  if (at === length) return left.length - right.length;
  const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
  // Surrogates encode code points above all others.
  return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  spendWork(length);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] as number) - (right[at] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
