/**
 * Work that the cost of an expression does not count: comparing deep values, gluing texts of unknown type, lists that
 * double. Whoever does such work says so here, and an evaluation that does far too much of it is given up as if it had
 * cost too much. A unit is about a nanosecond.
 *
 * The account is one variable of the module, because the functions that spend are called from everywhere and expressions
 * are evaluated one at a time. Outside of an evaluation nothing is counted.
 */
import { CelBudgetError } from './values.js';

export const COST_LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

/** A unit of cost is a step of the reference, which takes it tens of nanoseconds. */
const WORK_PER_COST = 200;

let left = Number.POSITIVE_INFINITY;

/** Throws a CelBudgetError when the evaluation has worked too much. */
export function spend(units: number): void {
  left -= units;
  if (left < 0) throw new CelBudgetError(COST_LIMIT_EXCEEDED);
}

/** What an evaluation pays for, it may also work for. */
export function earn(cost: number): void {
  left += cost * WORK_PER_COST;
}

/** Opens an account and returns what {@link closeAccount} needs to go back to the one before. */
export function openAccount(units: number): number {
  const before = left;
  left = units;
  return before;
}

export function closeAccount(before: number): void {
  left = before;
}
