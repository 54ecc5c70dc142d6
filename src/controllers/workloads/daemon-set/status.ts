/**
 * What a DaemonSet's status says: how many nodes want a pod, have one, and have one that is of use.
 */
import { isPodAvailable, isPodReady } from '../pod-state.js';
import type { Managing } from './manage.js';
import { isUpToDate, oldestFirst } from './node-pods.js';
import type { StoredDaemonSet } from './placement.js';

export interface DaemonCounts {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly updatedNumberScheduled: number;
  readonly numberAvailable: number;
  readonly numberUnavailable: number;
}

/** On a node with several pods the first one counts. */
export function countDaemons({ set, nodes, pods, hash, nowMs, placement }: Omit<Managing, 'onFinished'>): DaemonCounts {
  const { minReadySeconds = 0 } = set.spec;
  let [desired, current, misscheduled, ready, updated, available] = [0, 0, 0, 0, 0, 0];
  for (const node of nodes) {
    const [pod] = oldestFirst(pods.get(node.metadata.name) ?? []);
    if (!placement(node).shouldRun) {
      if (pod !== undefined) misscheduled++;
      continue;
    }
    desired++;
    if (pod === undefined) continue;
    current++;
    if (isUpToDate(set, pod, hash)) updated++;
    if (!isPodReady(pod)) continue;
    ready++;
    if (isPodAvailable(pod, minReadySeconds, nowMs)) available++;
  }
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
}

export function isStatusNews({ metadata, status }: StoredDaemonSet, counts: DaemonCounts): boolean {
  const keys = Object.keys(counts) as (keyof DaemonCounts)[];
  return (
    (status.observedGeneration ?? 0) < (metadata.generation ?? 0) ||
    keys.some((key) => (status[key] ?? 0) !== counts[key])
  );
}
