/**
 * Equality as defined for `==`: numbers are compared by value across types, NaN equals nothing, lists are compared item
 * by item, maps and objects entry by entry. Values of different kinds are unequal, which is not an error.
 */

import { compareDoubleInt, compareDoubleUint } from './numbers.js';
import { typeName } from './types.js';
import {
  CelBytes,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from './values.js';
import { spendWork } from './work-budget.js';

/** Work to compare two non-primitive values, and two items of lists. */
const STEP = 50;
const ITEM = 30;

/**
 * Compares two values; the left operand's custom equality applies. Throws a CelError if the values cannot be compared.
 */
export function celEquals(left: CelValue, right: CelValue): boolean {
  switch (typeof left) {
    case 'string':
      return typeof right === 'string' && sameText(left, right);
    case 'boolean':
      return left === right;
    case 'bigint':
      if (typeof right === 'bigint') return left === right;
      if (typeof right === 'number') return compareDoubleInt(right, left) === 0;
      return right instanceof CelUint && right.value === left;
    case 'number':
      if (typeof right === 'number') return left === right;
      if (typeof right === 'bigint') return compareDoubleInt(left, right) === 0;
      return right instanceof CelUint && compareDoubleUint(left, right.value) === 0;
    default:
      return left === null || right === null ? left === right : sameStructure(left, right);
  }
}

/** Both are read if they have the same length, which is not part of the cost of lists and maps. */
function sameText(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  spendWork(left.length / 8);
  return left === right;
}

function sameStructure(left: Exclude<CelValue, null | string | boolean | bigint | number>, right: CelValue): boolean {
  spendWork(STEP);
  if (left instanceof CelList) return left.equals?.(right) ?? sameList(left, right);
  if (left instanceof CelMap || left instanceof CelObject) return left.equals?.(right) ?? sameEntries(left, right);
  if (left instanceof CelOpaque) return left.equals(right);
  if (left instanceof CelUint) {
    if (typeof right === 'number') return compareDoubleUint(right, left.value) === 0;
    return left.value === (right instanceof CelUint ? right.value : right);
  }
  if (left instanceof CelTimestamp) return right instanceof CelTimestamp && left.nanos === right.nanos;
  if (left instanceof CelDuration) return right instanceof CelDuration && left.nanos === right.nanos;
  if (left instanceof CelTypeValue) {
    return right instanceof CelTypeValue && typeName(left.type) === typeName(right.type);
  }
  return left instanceof CelBytes && right instanceof CelBytes && sameBytes(left.bytes, right.bytes);
}

function sameList(left: CelList, right: CelValue): boolean {
  if (!(right instanceof CelList) || left.size !== right.size) return false;
  for (let index = 0; index < left.size; index++) {
    spendWork(ITEM);
    if (differ(left.at(index), right.at(index))) return false;
  }
  return true;
}

/** Objects compare like maps keyed by field name. */
function sameEntries(left: CelMap | CelObject, right: CelValue): boolean {
  if (!(right instanceof CelMap) && !(right instanceof CelObject)) return false;
  if (sizeOf(left) !== sizeOf(right)) return false;
  for (const key of left instanceof CelMap ? left.keys() : left.fieldNames()) {
    spendWork(STEP);
    const mine = entry(left, key);
    const theirs = entry(right, key);
    if (mine === undefined || theirs === undefined || differ(mine, theirs)) return false;
  }
  return true;
}

/** Within lists and maps, values that cannot be compared count as equal. */
function differ(left: CelValue, right: CelValue): boolean {
  try {
    return !celEquals(left, right);
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function sizeOf(value: CelMap | CelObject): number {
  return value instanceof CelMap ? value.size : value.fieldNames().length;
}

function entry(value: CelMap | CelObject, key: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.get(key);
  return typeof key === 'string' ? value.get(key) : undefined;
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  spendWork(left.length);
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}
