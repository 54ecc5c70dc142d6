/**
 * `+ - * / %` and the sign: by the types that the values turn out to have, with the overflows of 64 bits. Times and
 * durations have their own in time.ts.
 */
import { COST_LIMIT_EXCEEDED, spend } from '../effort.js';
import { ArrayList } from '../evaluate/views.js';
import { Failure, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { MAX_INT, MAX_UINT, MIN_INT } from '../numbers.js';
import { CelBudgetError, CelBytes, CelDuration, CelList, CelTimestamp, CelUint, type CelValue } from '../values.js';
import { missingOperator } from './missing.js';
import { addTime, negateDuration, subtractTime } from './time.js';

const INT_OVERFLOW = new Failure('integer overflow');
const UINT_OVERFLOW = new Failure('unsigned integer overflow');
const DIVISION_BY_ZERO = new Failure('division by zero');
const MODULUS_BY_ZERO = new Failure('modulus by zero');

/** Nothing that comes in a request is as long; only texts glued to themselves again and again are. */
const MAX_TEXT = 16 * 1024 * 1024;

function int(value: bigint): Result {
  return value > MAX_INT || value < MIN_INT ? INT_OVERFLOW : value;
}

function uint(value: bigint): Result {
  return value > MAX_UINT || value < 0n ? UINT_OVERFLOW : new CelUint(value);
}

export function add(left: CelValue, right: CelValue): Result {
  switch (typeof left) {
    case 'bigint':
      return typeof right === 'bigint' ? int(left + right) : NO_SUCH_OVERLOAD;
    case 'number':
      return typeof right === 'number' ? left + right : NO_SUCH_OVERLOAD;
    case 'string':
      return typeof right === 'string' ? addText(left, right) : NO_SUCH_OVERLOAD;
    default:
  }
  if (left instanceof CelList) return right instanceof CelList ? addList(left, right) : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? uint(left.value + right.value) : NO_SUCH_OVERLOAD;
  if (left instanceof CelBytes) return right instanceof CelBytes ? addBytes(left, right) : NO_SUCH_OVERLOAD;
  if (left instanceof CelTimestamp || left instanceof CelDuration) return addTime(left, right);
  return missingOperator('_+_', left);
}

function addText(left: string, right: string): string {
  if (left.length + right.length > MAX_TEXT) throw new CelBudgetError(COST_LIMIT_EXCEEDED);
  // The engine glues texts when they are read, all at once.
  spend(right.length);
  return left + right;
}

function addList(left: CelList, right: CelList): CelList {
  if (left.concat !== undefined) return left.concat(right);
  if (left.size === 0) return right;
  return right.size === 0 ? left : ArrayList.joined(left, right);
}

function addBytes(left: CelBytes, right: CelBytes): CelBytes {
  const size = left.bytes.length + right.bytes.length;
  if (size > MAX_TEXT) throw new CelBudgetError(COST_LIMIT_EXCEEDED);
  spend(size);
  const bytes = new Uint8Array(size);
  bytes.set(left.bytes);
  bytes.set(right.bytes, left.bytes.length);
  return new CelBytes(bytes);
}

export function subtract(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? int(left - right) : NO_SUCH_OVERLOAD;
  if (typeof left === 'number') return typeof right === 'number' ? left - right : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? uint(left.value - right.value) : NO_SUCH_OVERLOAD;
  if (left instanceof CelTimestamp || left instanceof CelDuration) return subtractTime(left, right);
  return missingOperator('_-_', left);
}

export function multiply(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? int(left * right) : NO_SUCH_OVERLOAD;
  if (typeof left === 'number') return typeof right === 'number' ? left * right : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? uint(left.value * right.value) : NO_SUCH_OVERLOAD;
  return missingOperator('_*_', left);
}

export function divide(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') {
    if (typeof right !== 'bigint') return NO_SUCH_OVERLOAD;
    return right === 0n ? DIVISION_BY_ZERO : int(left / right);
  }
  if (typeof left === 'number') return typeof right === 'number' ? left / right : NO_SUCH_OVERLOAD;
  if (!(left instanceof CelUint)) return missingOperator('_/_', left);
  if (!(right instanceof CelUint)) return NO_SUCH_OVERLOAD;
  return right.value === 0n ? DIVISION_BY_ZERO : new CelUint(left.value / right.value);
}

export function modulo(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') {
    if (typeof right !== 'bigint') return NO_SUCH_OVERLOAD;
    if (right === 0n) return MODULUS_BY_ZERO;
    // The quotient would not fit, and the reference says so though the remainder would.
    return left === MIN_INT && right === -1n ? INT_OVERFLOW : left % right;
  }
  if (!(left instanceof CelUint)) return missingOperator('_%_', left);
  if (!(right instanceof CelUint)) return NO_SUCH_OVERLOAD;
  return right.value === 0n ? MODULUS_BY_ZERO : new CelUint(left.value % right.value);
}

export function negate(value: CelValue): Result {
  if (typeof value === 'bigint') return int(-value);
  if (typeof value === 'number') return -value;
  if (value instanceof CelDuration) return negateDuration(value);
  // A bool can be negated, but not by this operator.
  return typeof value === 'boolean' ? NO_SUCH_OVERLOAD : missingOperator('-_', value);
}

export function not(value: CelValue): Result {
  return typeof value === 'boolean' ? !value : NO_SUCH_OVERLOAD;
}
