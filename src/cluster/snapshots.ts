/** The content of the snapshots that `cluster.snapshot()` returns. */
import type { Store, StoreSnapshot } from '../storage/store.js';
import type { ClusterSnapshot } from './contract.js';

interface SnapshotParts {
  readonly store: Store;
  readonly lineage: object;
}

export function snapshotOf({ store, lineage }: SnapshotParts): ClusterSnapshot {
  const state = store.snapshot();
  const snapshot = Object.freeze({ resourceVersion: String(state.revision) });
  snapshots.set(snapshot, { state, lineage });
  return snapshot;
}

/** The content of a snapshot. Throws TypeError for a snapshot of another cluster. */
export function stateOf(snapshot: ClusterSnapshot, { lineage }: SnapshotParts): StoreSnapshot {
  const content = snapshots.get(snapshot);
  if (content === undefined) throw new TypeError('orchplane: restore takes what snapshot() returned');
  if (content.lineage !== lineage) {
    throw new TypeError(
      'orchplane: this snapshot is of another cluster; restore takes those of a cluster and its forks',
    );
  }
  return content.state;
}

/** Snapshots are opaque to users. */
const snapshots = new WeakMap<ClusterSnapshot, { readonly state: StoreSnapshot; readonly lineage: object }>();
