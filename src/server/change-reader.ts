/**
 * Tells a server reconciler which objects have changed since it last asked.
 */
import type { ReconcilerHost } from '../kinds/reconciler.js';
import type { GroupResource } from '../meta/gvk.js';
import type { Cursor } from '../storage/cursor.js';
import type { Store } from '../storage/store.js';
import { CompactedError } from '../storage/types.js';

/** Reads the events of resources like a watch, to know which objects changed between two calls. */
export function createChangeReader(
  store: Store,
  storageKeyOf: (resource: GroupResource) => string,
): ReconcilerHost['changedNames'] {
  const cursors = new Map<string, Cursor>();
  return (resource) => {
    const storageKey = storageKeyOf(resource);
    try {
      const cursor = cursors.get(storageKey);
      if (cursor !== undefined) return namesOf(cursor);
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
    }
    cursors.set(storageKey, store.watch({ storageKey, after: store.revision }));
    return undefined;
  };
}

function namesOf(cursor: Cursor): ReadonlySet<string> {
  const names = new Set<string>();
  for (let event = cursor.poll(); event !== undefined; event = cursor.poll()) names.add(event.object.metadata.name);
  return names;
}
