/** `<`, `<=`, `>`, `>=`. */
import type { Result } from '../failure.js';
import { celCompare } from '../ordering.js';
import type { CelValue } from '../values.js';
import { missingOperator } from './missing.js';

type Relation = (left: CelValue, right: CelValue) => Result;

function relation(name: string, holds: (comparison: number) => boolean): Relation {
  return (left, right) => {
    const comparison = celCompare(left, right);
    if (typeof comparison === 'number') return holds(comparison);
    return comparison ?? missingOperator(name, left);
  };
}

const below = relation('_<_', (comparison) => comparison < 0);
const atMost = relation('_<=_', (comparison) => comparison <= 0);
const above = relation('_>_', (comparison) => comparison > 0);
const atLeast = relation('_>=_', (comparison) => comparison >= 0);

// Ints, which are compared most, do not go the long way.
export const less: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left < right : below(left, right);
export const lessEquals: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left <= right : atMost(left, right);
export const greater: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left > right : above(left, right);
export const greaterEquals: Relation = (left, right) =>
  typeof left === 'bigint' && typeof right === 'bigint' ? left >= right : atLeast(left, right);
