/**
 * The two halves of the one rule for aborts: a stream ends quietly, a promise rejects with the signal's reason.
 */
import type { Undo } from '../util/clock.js';

const NOTHING: Undo = () => undefined;

/** Calls `run` when the signal aborts; at once if it has already. The undo takes the listener off the signal. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): Undo {
  if (signal === undefined) return NOTHING;
  if (signal.aborted) {
    run();
    return NOTHING;
  }
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** The promise's own outcome, unless the signal aborts first: then a rejection with its reason. */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const undo = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(undo);
  });
}
