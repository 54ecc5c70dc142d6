/**
 * Computes the status of a StatefulSet: the number of pods by state and revision.
 */
import { isPodAvailable, isTerminating, type StoredPod } from '../pod-state.js';
import type { StoredRevision } from '../revisions.js';
import { isRunningAndReady, revisionOf, type StoredSet } from './pods.js';

export interface SetStatus {
  readonly observedGeneration: number;
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly currentReplicas: number;
  readonly updatedReplicas: number;
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  readonly availableReplicas: number;
}

/** The two revisions of a set's pods. They are equal unless the set is being updated. */
export interface Revisions {
  readonly current: StoredRevision;
  readonly update: StoredRevision;
  readonly collisions: number;
}

export function countedStatus(
  set: StoredSet,
  pods: readonly StoredPod[],
  { current, update, collisions, nowMs }: Revisions & { readonly nowMs: number },
): SetStatus {
  const ready = pods.filter(isRunningAndReady);
  const { minReadySeconds = 0 } = set.spec;
  const revisions = pods.filter((pod) => !isTerminating(pod)).map(revisionOf);
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    currentReplicas: revisions.filter((revision) => revision === current.metadata.name).length,
    updatedReplicas: revisions.filter((revision) => revision === update.metadata.name).length,
    currentRevision: current.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: collisions,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
  };
}

/** Completes an update: when all pods are updated and ready, the update revision becomes the current one. */
export function withUpdateCompleted({ spec }: StoredSet, status: SetStatus): SetStatus {
  const isCompleted =
    spec.updateStrategy.type === 'RollingUpdate' &&
    status.updatedReplicas === spec.replicas &&
    status.readyReplicas === spec.replicas &&
    status.replicas === spec.replicas;
  if (!isCompleted) return status;
  return { ...status, currentReplicas: status.updatedReplicas, currentRevision: status.updateRevision };
}

/** Whether the status must be written. A changed collision count alone is not written. */
export function isStatusChanged({ status: written }: StoredSet, status: SetStatus): boolean {
  return (
    status.observedGeneration > (written.observedGeneration ?? 0) ||
    status.replicas !== written.replicas ||
    status.currentReplicas !== (written.currentReplicas ?? 0) ||
    status.readyReplicas !== (written.readyReplicas ?? 0) ||
    status.updatedReplicas !== (written.updatedReplicas ?? 0) ||
    status.currentRevision !== (written.currentRevision ?? '') ||
    status.availableReplicas !== written.availableReplicas ||
    status.updateRevision !== (written.updateRevision ?? '')
  );
}
