/**
 * The two halves of the one rule for aborts: a stream ends quietly, a promise rejects with the signal's reason.
 */
import type { Undo } from './clock.js';

const NOTHING: Undo = () => undefined;

/**
 * Calls `run` when the signal aborts; at once if it has already. The undo takes it back.
 *
 * However many ask for one signal, it has one listener: Node warns of a leak at eleven, and a hundred watches may well
 * share a signal.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): Undo {
  if (signal === undefined) return NOTHING;
  if (signal.aborted) {
    run();
    return NOTHING;
  }
  const group = groupOf(signal);
  // Each call is its own, also when two are made with one function.
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

/** The promise's own outcome, unless the signal aborts first: then a rejection with its reason. */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const undo = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(undo);
  });
}
