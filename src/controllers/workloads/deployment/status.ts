/**
 * The status of a Deployment: what its ReplicaSets add up to, whether enough pods are available, and how the rollout
 * goes on.
 */
import { timeToMs } from '../../../text/time/time.js';
import type { Bounds, StoredDeployment } from './bounds.js';
import {
  type Condition,
  type Conditions,
  conditionIn,
  conditionNow,
  failureAmong,
  withCondition,
  withoutCondition,
} from './conditions.js';
import { actualOf, availableOf, readyOf, type StoredReplicaSet, terminatingOf, wantedBy } from './replica-set-list.js';

export type DeploymentStatus = StoredDeployment['status'];

/** What a status is made of. */
export interface Seen {
  readonly deployment: StoredDeployment;
  /** The conditions so far. */
  readonly conditions: Conditions;
  readonly collisionCount: number | undefined;
  readonly bounds: Bounds;
  readonly sets: readonly StoredReplicaSet[];
  readonly newSet: StoredReplicaSet | undefined;
  readonly tellsTerminating: boolean;
  readonly nowMs: number;
  readonly now: string;
}

const NO_LIMIT = 2 ** 31 - 1;

export function hasDeadline({ spec }: StoredDeployment): boolean {
  return spec.progressDeadlineSeconds !== NO_LIMIT;
}

export function hasHistoryLimit({ spec }: StoredDeployment): boolean {
  return spec.revisionHistoryLimit !== NO_LIMIT;
}

/** All that was asked for is of the newest template and available, and nothing else is left. */
export function isComplete({ metadata, spec }: StoredDeployment, status: DeploymentStatus): boolean {
  return (
    (status.updatedReplicas ?? 0) === spec.replicas &&
    (status.replicas ?? 0) === spec.replicas &&
    (status.availableReplicas ?? 0) === spec.replicas &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

/** The status where no rollout is judged: while paused, or while only the size changes. */
export function plainStatus(seen: Seen): DeploymentStatus {
  const { deployment, bounds, sets, newSet, now } = seen;
  const available = availableOf(sets);
  const isEnough = available >= deployment.spec.replicas - bounds.maxUnavailable;
  const reason = isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable';
  const message = isEnough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.';
  const availability = conditionNow('Available', isEnough ? 'True' : 'False', { reason, message, now });
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: actualOf(sets),
    updatedReplicas: newSet?.status.replicas ?? 0,
    readyReplicas: readyOf(sets),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wantedBy(sets) - available),
  };
  const terminatingReplicas = seen.tellsTerminating ? terminatingOf(sets) : undefined;
  return {
    // Counts of nothing are left out, as they are in what is stored.
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    conditions: withCondition(seen.conditions, availability),
    ...(seen.collisionCount === undefined ? {} : { collisionCount: seen.collisionCount }),
  };
}

/** The status of a rollout: how it goes on, and what hinders it. */
export function rolloutStatus(seen: Seen): DeploymentStatus {
  const { deployment, sets, newSet } = seen;
  const status = plainStatus(seen);
  let conditions = status.conditions ?? [];
  const current = conditionIn(seen.conditions, 'Progressing');
  if (!hasDeadline(deployment)) conditions = withoutCondition(conditions, 'Progressing');
  else {
    // Only one ReplicaSet is at work, and it has been successful: this is no rollout, so there is no progress to judge.
    const isDone =
      (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === 'NewReplicaSetAvailable';
    if (!isDone) conditions = progress(seen, { ...status, conditions }, current);
  }
  const failure = failureAmong(sets, newSet);
  conditions =
    failure === undefined ? withoutCondition(conditions, 'ReplicaFailure') : withCondition(conditions, failure);
  return { ...status, conditions };
}

function progress(seen: Seen, status: DeploymentStatus, current: Condition | undefined): Conditions {
  const { deployment, newSet, now, nowMs } = seen;
  const { conditions = [] } = status;
  const who =
    newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const about = { reason: 'NewReplicaSetAvailable', message: `${who} has successfully progressed.`, now };
    return withCondition(conditions, conditionNow('Progressing', 'True', about));
  }
  if (hasProgressed(deployment.status, status)) {
    const about = { reason: 'ReplicaSetUpdated', message: `${who} is progressing.`, now };
    const next = conditionNow('Progressing', 'True', about);
    // Any progress counts from now on, though neither status nor reason may have changed.
    const lastTransitionTime = current?.status === 'True' ? (current.lastTransitionTime ?? null) : now;
    return [...withoutCondition(conditions, 'Progressing'), { ...next, lastTransitionTime }];
  }
  if (!isTimedOut(deployment, conditionIn(conditions, 'Progressing'), nowMs)) return conditions;
  const about = { reason: 'ProgressDeadlineExceeded', message: `${who} has timed out progressing.`, now };
  return withCondition(conditions, conditionNow('Progressing', 'False', about));
}

/** More pods are new, or ready, or available; or fewer are old. */
function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: StoredDeployment, progressing: Condition | undefined, nowMs: number): boolean {
  if (progressing === undefined || progressing.reason === 'NewReplicaSetAvailable') return false;
  return progressing.reason === 'ProgressDeadlineExceeded' || deadlineOf(deployment, progressing) <= nowMs;
}

/** When it is too late: at once without a time to count from. */
function deadlineOf({ spec }: StoredDeployment, progressing: Condition): number {
  return updatedAt(progressing) + spec.progressDeadlineSeconds * 1000;
}

function updatedAt({ lastUpdateTime }: Condition): number {
  return lastUpdateTime === undefined || lastUpdateTime === null ? -Infinity : timeToMs(lastUpdateTime);
}

/** How long to wait before a rollout that stands still has to be judged again; undefined: it has not. */
export function msUntilJudged(seen: Seen, status: DeploymentStatus): number | undefined {
  const { deployment, nowMs } = seen;
  const current = conditionIn(status.conditions ?? [], 'Progressing');
  if (!hasDeadline(deployment) || current === undefined) return undefined;
  if (current.reason === 'NewReplicaSetAvailable' || current.reason === 'ProgressDeadlineExceeded') return undefined;
  // Times are written in whole seconds: what was noted in this second may have happened just now, and is given all its
  // time; of what is older nobody knows the moment.
  const late = Math.min(nowMs - updatedAt(current), 1000);
  return Math.max(0, deadlineOf(deployment, current) + late - nowMs);
}
