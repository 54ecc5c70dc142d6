/**
 * Pauses between the evaluations of policies for one request, and the time limit of its calls to webhooks.
 */
import { errors } from '../meta/errors.js';
import { timedOut, timeLimitOf } from '../protocol/time-limit.js';
import { nextTurn, realTime } from '../util/clock.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { getOrInsertComputed } from '../util/once.js';

const LONGEST_TURN_MS = 50;
const MAX_EVALUATION_MS = 30_000;

/**
 * Lets other requests run while policies are evaluated for one request. Each evaluation has a cost limit, but there is one for
 * each parameter and each object of a deleted collection, which users create who may not write policies.
 */
export class EvaluationPace {
  #inTurnMs = 0;
  #totalMs = 0;
  #callingSinceMs: number | undefined;

  /** Call it before an evaluation, where others may run. Throws 504 after 30 seconds of evaluations. */
  pause(): Promise<void> | undefined {
    if (this.#inTurnMs < LONGEST_TURN_MS) return undefined;
    if (this.#totalMs > MAX_EVALUATION_MS)
      throw errors.timeout('request did not complete within requested timeout - context deadline exceeded');
    this.#inTurnMs = 0;
    return nextTurn();
  }

  /**
   * Call it before a webhook is called. Throws 504 if the request has had its time since the first call: its client has been
   * answered, and it would occupy its seat for the timeouts of all further webhooks and attempts.
   */
  requireTime(nowMs: number): void {
    this.#callingSinceMs ??= nowMs;
    if (nowMs - this.#callingSinceMs > timeLimitOf({ verb: 'create' })) throw timedOut('create');
  }

  /** Measures an evaluation. */
  run<Result>(evaluate: () => MaybePromise<Result>): MaybePromise<Result> {
    const began = realTime();
    return chain(evaluate(), (result) => {
      const ms = realTime() - began;
      this.#inTurnMs += ms;
      this.#totalMs += ms;
      return result;
    });
  }
}

const paces = new WeakMap<readonly string[], EvaluationPace>();

/** The pace of a request. All of its objects and attempts have the same list of warnings. */
export function paceOf({ warnings }: { readonly warnings: readonly string[] }): EvaluationPace {
  return getOrInsertComputed(paces, warnings, () => new EvaluationPace());
}
