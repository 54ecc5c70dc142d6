/**
 * Limits the search for the devices of a pod on all nodes, because it blocks the event loop.
 */
import { SchedulingError } from '../plugin.js';

/** The number of combinations grows exponentially with the devices of a claim. */
const MAX_TRIES = 1_000_000;
/** Enough for a node on which most combinations are solutions. */
const MIN_TRIES = 10_000;
/** The cost of all selectors: about a second. */
const MAX_COST = 20_000_000;

export class SearchBudget {
  /** The devices that other claims use; undefined: not known yet. */
  inUse: ReadonlySet<string> | undefined;
  /** By request: whether it selects a device. */
  readonly selected = new Map<object, Map<object, boolean>>();
  #tries: number;
  #cost: number;

  constructor({ tries = MAX_TRIES, cost = MAX_COST } = {}) {
    this.#tries = tries;
    this.#cost = cost;
  }

  /** The tries on one node. The next node gets half of what it leaves. */
  triesOfNode(): number {
    return Math.max(MIN_TRIES, Math.trunc(this.#tries / 2));
  }

  spendTries(tries: number): void {
    this.#tries = Math.max(0, this.#tries - tries);
  }

  /** Throws a SchedulingError when the selectors have cost too much. */
  readonly spendCost = (cost: number): void => {
    this.#cost -= cost;
    if (this.#cost < 0) throw new SchedulingError('the selectors of devices exceed the cost limit');
  };
}
