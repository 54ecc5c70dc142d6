/** The state of one evaluation. */

import type { Variables } from '../engine.js';
import { failureOf, MissingVariable, type Result } from '../failure.js';
import { CelCostLimitError, type CelValue } from '../values.js';
import { COST_LIMIT_EXCEEDED, grantWork } from '../work-budget.js';

/** A node of a program. */
export type Step = (frame: Frame) => Result;

export class Frame {
  cost = 0;
  /** Comprehension variables by the slot that the planner assigned. `undefined` means not computed yet. */
  readonly locals: (Result | undefined)[];
  #computed: Map<string, Result> | undefined;

  constructor(
    readonly variables: Variables,
    readonly limit: number,
    locals: number,
  ) {
    this.locals = new Array<undefined>(locals);
  }

  /** Adds to the cost. Throws a CelCostLimitError if it exceeds the limit. */
  charge(cost: number): void {
    this.cost += cost;
    // The cost is negative only if a presence test refunds what was never charged; cel-go's unsigned counter then
    // exceeds any limit.
    if (this.cost > this.limit || this.cost < 0) throw new CelCostLimitError(COST_LIMIT_EXCEEDED);
    grantWork(cost);
  }

  /** The value of a variable; undefined if it does not exist. */
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
