/**
 * Past revisions of a cluster: which exist, the objects at each, and restoring or forking from one.
 */
import { type ApiObject, StatusError } from 'orchplane';
import { captureCluster, type TestCluster } from 'orchplane/testing';
import { makeCluster } from '../session/make-cluster.js';
import { refKey, refOf } from '../session/refs.js';
import type { Session } from '../session/session.js';
import type { ObjectRef, Past } from '../session/types.js';

/** The revisions that can be read: from the oldest that is not compacted to the current one. */
export interface RevisionSpan {
  readonly first: number;
  readonly last: number;
}

/** The first readable revision at the last check. Compaction only moves it forward. */
const oldestRevisions = new WeakMap<TestCluster, number>();

export function spanOf(cluster: TestCluster): RevisionSpan {
  const last = Number(cluster.resourceVersion);
  const known = oldestRevisions.get(cluster);
  if (known !== undefined && known <= last && isReadable(cluster, known)) return { first: known, last };
  // Compaction removes the oldest revisions first, so a binary search finds the first readable one.
  let [compacted, readable] = [0, last];
  while (readable - compacted > 1) {
    const middle = Math.floor((compacted + readable) / 2);
    if (isReadable(cluster, middle)) readable = middle;
    else compacted = middle;
  }
  oldestRevisions.set(cluster, readable);
  return { first: readable, last };
}

function isReadable(cluster: TestCluster, version: number): boolean {
  try {
    void cluster.at(String(version)).close();
    return true;
  } catch (error) {
    if (StatusError.is(error, 'Expired')) return false;
    throw error;
  }
}

/** All objects right after a revision. */
export function pastAt(cluster: TestCluster, version: number): Past {
  const past = cluster.at(String(version));
  const objects = new Map(past.storageReader.everything().map((object) => [refKey(refOf(object)), object] as const));
  void past.close();
  return { resourceVersion: String(version), objects };
}

/** The time of a revision on the cluster's clock. */
export function timeAt(cluster: TestCluster, version: number): number {
  const past = cluster.at(String(version));
  const time = past.clock.now();
  void past.close();
  return time;
}

export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly time: number;
  readonly manager: string | undefined;
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
}

/** The changes of one object, oldest first. */
export function changesOf(cluster: TestCluster, ref: ObjectRef): readonly Change[] {
  const { apiVersion, kind, name, namespace } = ref;
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return cluster.history({ apiVersion, kind, metadata }).map((record) => ({
    version: Number(record.resourceVersion),
    type: record.type,
    time: record.time,
    manager: record.manager,
    object: record.object,
    previous: record.previous,
  }));
}

/** Restores the cluster to a revision. Later writes are undone, and controllers continue from there. */
export function restoreTo(session: Session, version: number): void {
  const { cluster } = session;
  const past = cluster.at(String(version));
  cluster.restore(past.snapshot());
  void past.close();
  session.showPast(undefined);
}

/** Switches to a new cluster that starts at a revision of the current one, which is kept. */
export function forkAt(session: Session, version: number): void {
  const past = session.cluster.at(String(version));
  const fork = makeCluster({ from: captureCluster(past), now: past.clock.now() });
  void past.close();
  session.switchCluster('fork', `of version ${version}`, fork);
}

/** The cluster that the current one was forked from, if any. */
export function originOf(session: Session): TestCluster | undefined {
  const { temporary } = session.state;
  return temporary?.type === 'fork' ? temporary.kept.cluster : undefined;
}

/** Returns to the cluster that the current one was forked from. Its clock was stopped meanwhile. */
export async function leaveFork(session: Session): Promise<void> {
  if (session.state.temporary?.type === 'fork') await session.returnToKeptCluster();
}
