/** Operators and functions that look at the types of their values themselves, by name. */
import type { Result } from '../failure.js';
import { celCompare } from '../ordering.js';
import type { CelValue } from '../values.js';
import { add, divide, modulo, multiply, negate, not, subtract } from './arithmetic.js';
import { isIn, size } from './collections.js';
import { missingOperator } from './missing.js';
import { contains, endsWith, matches, startsWith } from './text.js';

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
