/**
 * Limits work that the cost of an expression does not cover: comparing deep values, concatenating strings, lists that
 * double. Functions report such work here, and an evaluation that exceeds its work budget fails as if it had exceeded
 * its cost limit. One unit is about a nanosecond.
 *
 * The budget is a module variable because functions in many modules spend from it and expressions are evaluated one at
 * a time. Outside of an evaluation the budget is unlimited.
 */
import { CelCostLimitError } from './values.js';

export const COST_LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

/** A unit of cost is one cel-go step, which takes tens of nanoseconds. */
const WORK_PER_COST = 200;

let remaining = Number.POSITIVE_INFINITY;

/** Deducts work. Throws a CelCostLimitError if the budget is exhausted. */
export function spendWork(units: number): void {
  remaining -= units;
  if (remaining < 0) throw new CelCostLimitError(COST_LIMIT_EXCEEDED);
}

/** Adds to the budget the work that a charged cost covers. */
export function grantWork(cost: number): void {
  remaining += cost * WORK_PER_COST;
}

/** Starts a budget and returns the previous one for {@link closeWorkBudget}. */
export function openWorkBudget(units: number): number {
  const before = remaining;
  remaining = units;
  return before;
}

export function closeWorkBudget(before: number): void {
  remaining = before;
}
