/** Operators and functions that look at the types of their values themselves, by name. */

import { re2Matches, re2Problem } from '../../text/re2/index.js';
import { celEquals } from '../equality.js';
import { actualSize } from '../evaluate/call-cost.js';
import { ArrayList } from '../evaluate/views.js';
import type { Result } from '../failure.js';
import { Failure, failureOf, NO_SUCH_OVERLOAD } from '../failure.js';
import { intOf, MAX_INT, MAX_UINT, MIN_INT } from '../numbers.js';
import { celCompare } from '../ordering.js';
import { typeNameOf } from '../runtime-type.js';
import type { CelValue } from '../values.js';
import { CelBudgetError, CelBytes, CelDuration, CelList, CelMap, CelObject, CelTimestamp, CelUint } from '../values.js';
import { COST_LIMIT_EXCEEDED, spend } from '../work-budget.js';
import { addTime, negateDuration, subtractTime } from './time.js';

/** What one step of a regular expression takes. */
const STEP = 20;

/** Reading an item and comparing it. */
const ITEM = 30;

const INT_OVERFLOW = new Failure('integer overflow');

const UINT_OVERFLOW = new Failure('unsigned integer overflow');

const DIVISION_BY_ZERO = new Failure('division by zero');

const MODULUS_BY_ZERO = new Failure('modulus by zero');

/** Nothing that comes in a request is as long; only texts glued to themselves again and again are. */
const MAX_TEXT = 16 * 1024 * 1024;

const below = relation('_<_', (comparison) => comparison < 0);

const atMost = relation('_<=_', (comparison) => comparison <= 0);

const above = relation('_>_', (comparison) => comparison > 0);

const atLeast = relation('_>=_', (comparison) => comparison >= 0);

// Ints, which are compared most, do not go the long way.
const less: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left < right : below(left, right);

const lessEquals: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left <= right : atMost(left, right);

const greater: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left > right : above(left, right);

const greaterEquals: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left >= right : atLeast(left, right);

export type Unary = (value: CelValue) => Result;
export type Binary = (left: CelValue, right: CelValue) => Result;

export const UNARY_OPERATORS: ReadonlyMap<string, Unary> = new Map([
  ['!_', not],
  ['-_', negate],
  ['size', size],
]);

export const BINARY_OPERATORS: ReadonlyMap<string, Binary> = new Map([
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

type Relation = (left: CelValue, right: CelValue) => Result;

function relation(name: string, holds: (comparison: number) => boolean): Relation {
  return (left, right) => {
    const comparison = celCompare(left, right);
    if (typeof comparison === 'number') return holds(comparison);
    return comparison ?? missingOperator(name, left);
  };
}

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
    // The quotient would not fit, and the reference says so though the remainder would.
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
  // A bool can be negated, but not by this operator.
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

/**
 * Items that cannot be compared do not matter once another one is found. Of stored lists the items are asked, and say
 * so if none is; of others the value is asked, and what it cannot be compared with is another one.
 */
function isItem(value: CelValue, list: CelList): Result {
  let failure: Failure | undefined;
  spend(list.size * ITEM);
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
  spend(text.length);
  return text.includes(part);
}

function startsWith(text: CelValue, prefix: CelValue): Result {
  return typeof text === 'string' && typeof prefix === 'string' ? text.startsWith(prefix) : NO_SUCH_OVERLOAD;
}

function endsWith(text: CelValue, suffix: CelValue): Result {
  return typeof text === 'string' && typeof suffix === 'string' ? text.endsWith(suffix) : NO_SUCH_OVERLOAD;
}

/** An expression of few characters may stand for many instructions: it is paid by what is done, not by its length. */
export function onRegexSteps(steps: number): void {
  spend(steps * STEP);
}

function matches(text: CelValue, pattern: CelValue): Result {
  if (typeof text !== 'string') return missingOperator('matches', text);
  if (typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
  const problem = re2Problem(pattern, { onSteps: onRegexSteps });
  if (problem !== undefined) return new Failure(problem);
  return re2Matches(pattern, text, { onSteps: onRegexSteps });
}

/** Texts, times and durations look for functions of their own before they give up, and then name none. */
export function missingOperator(name: string, first: CelValue): Failure {
  const receives = typeof first === 'string' || first instanceof CelTimestamp || first instanceof CelDuration;
  return receives ? NO_SUCH_OVERLOAD : new Failure(`no such overload: ${name}`);
}

/** `no such overload: int(bool)`. */
export function missingOverload(name: string, args: readonly CelValue[]): Failure {
  return new Failure(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}
