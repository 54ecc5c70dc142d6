/**
 * A table as it was: its present with every later change undone, newest first. It costs as much as has changed since,
 * whatever the number of objects, because trees share what is the same.
 */
import type { LogBounds } from './event-log.js';
import { cutHistory, eventsBack } from './past.js';
import { keyOf, type TableState } from './table.js';

/** The state right after a revision, with the history that it had then. Throws CompactedError. */
export function rewind(state: TableState, revision: number, bounds: LogBounds): TableState {
  const tree = state.tree.clone();
  const counts = new Map(state.counts);
  for (const { namespace, name, previous } of eventsBack(state.history, revision, bounds)) {
    const key = keyOf(namespace, name);
    if (previous === undefined) {
      if (tree.delete(key)) count(counts, namespace, -1);
    } else if (tree.set(key, previous)) count(counts, namespace, 1);
  }
  return { tree, counts, history: cutHistory(state.history, revision, bounds) };
}

function count(counts: Map<string, number>, namespace: string, by: 1 | -1): void {
  const now = (counts.get(namespace) ?? 0) + by;
  if (now > 0) counts.set(namespace, now);
  else counts.delete(namespace);
}
