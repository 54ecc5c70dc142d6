/** What one evaluation has in hand while the closures of a program run. */

import type { Variables } from '../engine.js';
import { failureOf, MissingVariable, type Result } from '../failure.js';
import { CelBudgetError, type CelValue } from '../values.js';
import { COST_LIMIT_EXCEEDED, earn } from '../work-budget.js';

/** A part of a program. */
export type Step = (frame: Frame) => Result;

export class Frame {
  cost = 0;
  /** Variables of comprehensions; the planner gave each its place. `undefined` is one that was not computed yet. */
  readonly locals: (Result | undefined)[];
  #computed: Map<string, Result> | undefined;

  constructor(
    readonly variables: Variables,
    readonly limit: number,
    locals: number,
  ) {
    this.locals = new Array<undefined>(locals);
  }

  /** Throws when the evaluation has cost too much. */
  charge(cost: number): void {
    this.cost += cost;
    // Below zero only where a presence test gives back what was never charged; the reference counts without a sign,
    // so that it is over any limit then.
    if (this.cost > this.limit || this.cost < 0) throw new CelBudgetError(COST_LIMIT_EXCEEDED);
    earn(cost);
  }

  /** Undefined when there is no such variable. */
  variable(name: string): Result | undefined {
    const value = this.variables.get(name);
    return typeof value === 'function' ? this.#compute(name, value) : value;
  }

  #compute(name: string, compute: () => CelValue): Result {
    this.#computed ??= new Map();
    const known = this.#computed.get(name);
    if (known !== undefined) return known;
    let value: Result;
    try {
      value = compute();
    } catch (error) {
      value = failureOf(error);
    }
    this.#computed.set(name, value);
    return value;
  }
}

export function missingVariable(names: readonly string[]): MissingVariable {
  return new MissingVariable(`no such attribute(s): ${names.join(', ')}`);
}
