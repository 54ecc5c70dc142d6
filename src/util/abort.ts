/**
 * Helpers for AbortSignal. On abort, a stream ends without an error and a promise rejects with the signal's reason.
 */
import type { Undo } from './clock.js';

const NOTHING: Undo = () => undefined;

/**
 * Calls `run` when the signal aborts, or at once if it has already aborted. The returned function unsubscribes.
 *
 * All callers share one event listener for each signal: Node warns of a leak at eleven listeners, and many watches may
 * share a signal.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): Undo {
  if (signal === undefined) return NOTHING;
  if (signal.aborted) {
    run();
    return NOTHING;
  }
  const group = groupOf(signal);
  // A new function, so that two calls with the same `run` are separate subscriptions.
  const listener = () => run();
  group.listeners.add(listener);
  return () => {
    group.listeners.delete(listener);
    if (group.listeners.size > 0) return;
    signal.removeEventListener('abort', group.runAll);
    if (groups.get(signal) === group) groups.delete(signal);
  };
}

interface Group {
  readonly listeners: Set<() => void>;
  readonly runAll: () => void;
}

const groups = new WeakMap<AbortSignal, Group>();

function groupOf(signal: AbortSignal): Group {
  const present = groups.get(signal);
  if (present !== undefined) return present;
  const listeners = new Set<() => void>();
  const runAll = () => {
    for (const listener of [...listeners]) listener();
    listeners.clear();
  };
  const group = { listeners, runAll };
  groups.set(signal, group);
  signal.addEventListener('abort', runAll, { once: true });
  return group;
}

/** Settles like the promise, or rejects with the signal's reason if the signal aborts first. */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const undo = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(undo);
  });
}
