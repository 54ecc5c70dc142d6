/** Operators and standard functions that dispatch on the runtime types of their arguments, by name. */

import { re2Matches, re2Problem } from '../../text/re2/index.js';
import { celEquals } from '../equality.js';
import { actualSize } from '../evaluate/call-cost.js';
import { ArrayList } from '../evaluate/views.js';
import { Failure, failureOf, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { firstIndexOf } from '../library/text-search.js';
import { intOf, MAX_INT, MAX_UINT, MIN_INT } from '../numbers.js';
import { celCompare } from '../ordering.js';
import { typeNameOf } from '../runtime-type.js';
import {
  CelBytes,
  CelCostLimitError,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelTimestamp,
  CelUint,
  type CelValue,
} from '../values.js';
import { COST_LIMIT_EXCEEDED, spendWork } from '../work-budget.js';
import { addTime, negateDuration, subtractTime } from './time.js';

export type UnaryFunction = (value: CelValue) => Result;

export type BinaryFunction = (left: CelValue, right: CelValue) => Result;

type Relation = (left: CelValue, right: CelValue) => Result;

const below = relation('_<_', (comparison) => comparison < 0);

const atMost = relation('_<=_', (comparison) => comparison <= 0);

const above = relation('_>_', (comparison) => comparison > 0);

const atLeast = relation('_>=_', (comparison) => comparison >= 0);

// Fast path for ints, the most common operands.
const less: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left < right : below(left, right);

const lessEquals: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left <= right : atMost(left, right);

const greater: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left > right : above(left, right);

const greaterEquals: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left >= right : atLeast(left, right);

export const UNARY_OPERATORS: ReadonlyMap<string, UnaryFunction> = new Map([
  ['!_', not],
  ['-_', negate],
  ['size', size],
]);

export const BINARY_OPERATORS: ReadonlyMap<string, BinaryFunction> = new Map([
  ['_+_', add],
  ['_-_', subtract],
  ['_*_', multiply],
  ['_/_', divide],
  ['_%_', modulo],
  ['_<_', less],
  ['_<=_', lessEquals],
  ['_>_', greater],
  ['_>=_', greaterEquals],
  ['@in', isIn],
  ['contains', contains],
  ['startsWith', startsWith],
  ['endsWith', endsWith],
  ['matches', matches],
]);

function relation(name: string, holds: (comparison: number) => boolean): Relation {
  return (left, right) => {
    const comparison = celCompare(left, right);
    if (typeof comparison === 'number') return holds(comparison);
    return comparison ?? missingOperator(name, left);
  };
}

const INT_OVERFLOW = new Failure('integer overflow');

const UINT_OVERFLOW = new Failure('unsigned integer overflow');

const DIVISION_BY_ZERO = new Failure('division by zero');

const MODULUS_BY_ZERO = new Failure('modulus by zero');

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

/** Longer than any request; only strings that are repeatedly concatenated with themselves get this long. */
const MAX_TEXT = 16 * 1024 * 1024;

function addText(left: string, right: string): string {
  if (left.length + right.length > MAX_TEXT) throw new CelCostLimitError(COST_LIMIT_EXCEEDED);
  // JavaScript engines concatenate lazily when the string is read.
  spendWork(right.length);
  return left + right;
}

function addList(left: CelList, right: CelList): CelList {
  if (left.concat !== undefined) return left.concat(right);
  if (left.size === 0) return right;
  return right.size === 0 ? left : ArrayList.joined(left, right);
}

function addBytes(left: CelBytes, right: CelBytes): CelBytes {
  const size = left.bytes.length + right.bytes.length;
  if (size > MAX_TEXT) throw new CelCostLimitError(COST_LIMIT_EXCEEDED);
  spendWork(size);
  const bytes = new Uint8Array(size);
  bytes.set(left.bytes);
  bytes.set(right.bytes, left.bytes.length);
  return new CelBytes(bytes);
}

function subtract(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? int(left - right) : NO_SUCH_OVERLOAD;
  if (typeof left === 'number') return typeof right === 'number' ? left - right : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? uint(left.value - right.value) : NO_SUCH_OVERLOAD;
  if (left instanceof CelTimestamp || left instanceof CelDuration) return subtractTime(left, right);
  return missingOperator('_-_', left);
}

function multiply(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? int(left * right) : NO_SUCH_OVERLOAD;
  if (typeof left === 'number') return typeof right === 'number' ? left * right : NO_SUCH_OVERLOAD;
  if (left instanceof CelUint) return right instanceof CelUint ? uint(left.value * right.value) : NO_SUCH_OVERLOAD;
  return missingOperator('_*_', left);
}

function divide(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') {
    if (typeof right !== 'bigint') return NO_SUCH_OVERLOAD;
    return right === 0n ? DIVISION_BY_ZERO : int(left / right);
  }
  if (typeof left === 'number') return typeof right === 'number' ? left / right : NO_SUCH_OVERLOAD;
  if (!(left instanceof CelUint)) return missingOperator('_/_', left);
  if (!(right instanceof CelUint)) return NO_SUCH_OVERLOAD;
  return right.value === 0n ? DIVISION_BY_ZERO : new CelUint(left.value / right.value);
}

function modulo(left: CelValue, right: CelValue): Result {
  if (typeof left === 'bigint') {
    if (typeof right !== 'bigint') return NO_SUCH_OVERLOAD;
    if (right === 0n) return MODULUS_BY_ZERO;
    // The quotient would overflow, which cel-go reports although the remainder fits.
    return left === MIN_INT && right === -1n ? INT_OVERFLOW : left % right;
  }
  if (!(left instanceof CelUint)) return missingOperator('_%_', left);
  if (!(right instanceof CelUint)) return NO_SUCH_OVERLOAD;
  return right.value === 0n ? MODULUS_BY_ZERO : new CelUint(left.value % right.value);
}

function negate(value: CelValue): Result {
  if (typeof value === 'bigint') return int(-value);
  if (typeof value === 'number') return -value;
  if (value instanceof CelDuration) return negateDuration(value);
  // cel-go's bool implements negation for `!`, so the message differs.
  return typeof value === 'boolean' ? NO_SUCH_OVERLOAD : missingOperator('-_', value);
}

function not(value: CelValue): Result {
  return typeof value === 'boolean' ? !value : NO_SUCH_OVERLOAD;
}

export function isIn(value: CelValue, container: CelValue): Result {
  if (container instanceof CelList) return isItem(value, container);
  try {
    if (container instanceof CelMap) return container.contains?.(value) ?? container.get(value) !== undefined;
    if (container instanceof CelObject) return typeof value === 'string' ? container.has(value) : NO_SUCH_OVERLOAD;
  } catch (error) {
    return failureOf(error);
  }
  return NO_SUCH_OVERLOAD;
}

/** Work to read and compare one item. */
const ITEM = 30;

/**
 * Incomparable items do not matter if another one matches. For stored lists the item is the left operand and a failure
 * is reported if nothing matches; for others the value is the left operand and incomparable items count as unequal.
 */
function isItem(value: CelValue, list: CelList): Result {
  let failure: Failure | undefined;
  spendWork(list.size * ITEM);
  for (let index = 0; index < list.size; index++) {
    try {
      const item = list.at(index);
      if (list.isStored === true ? celEquals(item, value) : celEquals(value, item)) return true;
    } catch (error) {
      failure ??= failureOf(error);
    }
  }
  return list.isStored === true && failure !== undefined ? failure : false;
}

function size(value: CelValue): Result {
  const isSized =
    typeof value === 'string' ||
    value instanceof CelList ||
    value instanceof CelMap ||
    value instanceof CelBytes ||
    value instanceof CelObject;
  return isSized ? intOf(actualSize(value)) : missingOperator('size', value);
}

function contains(text: CelValue, part: CelValue): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return NO_SUCH_OVERLOAD;
  return firstIndexOf(text, part) >= 0;
}

function startsWith(text: CelValue, prefix: CelValue): Result {
  return typeof text === 'string' && typeof prefix === 'string' ? text.startsWith(prefix) : NO_SUCH_OVERLOAD;
}

function endsWith(text: CelValue, suffix: CelValue): Result {
  return typeof text === 'string' && typeof suffix === 'string' ? text.endsWith(suffix) : NO_SUCH_OVERLOAD;
}

/** Work per step of a regular expression match. */
const STEP = 20;

/** A short regular expression may expand to many instructions, so the work is counted in steps, not in characters. */
export function onRegexSteps(steps: number): void {
  spendWork(steps * STEP);
}

function matches(text: CelValue, pattern: CelValue): Result {
  if (typeof text !== 'string') return missingOperator('matches', text);
  if (typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
  const problem = re2Problem(pattern, { onSteps: onRegexSteps });
  if (problem !== undefined) return new Failure(problem);
  return re2Matches(pattern, text, { onSteps: onRegexSteps });
}

/**
 * The failure of an operator that a value does not support. cel-go omits the name for strings, timestamps and
 * durations, because it dispatches to their member functions first.
 */
export function missingOperator(name: string, first: CelValue): Failure {
  const receives = typeof first === 'string' || first instanceof CelTimestamp || first instanceof CelDuration;
  return receives ? NO_SUCH_OVERLOAD : new Failure(`no such overload: ${name}`);
}

/** The failure of a call without a matching overload: `no such overload: int(bool)`. */
export function missingOverload(name: string, args: readonly CelValue[]): Failure {
  return new Failure(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}
