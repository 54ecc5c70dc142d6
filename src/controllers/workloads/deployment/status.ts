/**
 * Computes the status of a Deployment: the sums over its ReplicaSets, and the conditions about availability and progress. A
 * condition that changes moves to the end of the list.
 */
import { timeToMs } from '../../../text/time/time.js';
import type { Bounds, StoredDeployment } from './replica-sets.js';
import { actualOf, availableOf, readyOf, type StoredReplicaSet, terminatingOf, wantedBy } from './replica-sets.js';

export type DeploymentStatus = StoredDeployment['status'];

export interface RolloutObservation {
  readonly deployment: StoredDeployment;
  /** The current conditions. */
  readonly conditions: Conditions;
  readonly collisionCount: number | undefined;
  readonly bounds: Bounds;
  readonly sets: readonly StoredReplicaSet[];
  readonly newSet: StoredReplicaSet | undefined;
  readonly reportsTerminating: boolean;
  readonly nowMs: number;
  readonly now: string;
}

/** The API's value for an unlimited progress deadline (the largest int32). */
const NO_DEADLINE = 2 ** 31 - 1;

export function hasDeadline({ spec }: StoredDeployment): boolean {
  return spec.progressDeadlineSeconds !== NO_DEADLINE;
}

/** Whether all replicas are of the new template and available, and no old one is left. */
export function isComplete({ metadata, spec }: StoredDeployment, status: DeploymentStatus): boolean {
  return (
    (status.updatedReplicas ?? 0) === spec.replicas &&
    (status.replicas ?? 0) === spec.replicas &&
    (status.availableReplicas ?? 0) === spec.replicas &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

/** The status without an assessment of progress: while paused, or while only the size changes. */
export function plainStatus(observation: RolloutObservation): DeploymentStatus {
  const { deployment, bounds, sets, newSet, now } = observation;
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
  const terminatingReplicas = observation.reportsTerminating ? terminatingOf(sets) : undefined;
  return {
    // Zero counts are omitted, as in storage.
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    conditions: withCondition(observation.conditions, availability),
    ...(observation.collisionCount === undefined ? {} : { collisionCount: observation.collisionCount }),
  };
}

/** The status during a rollout, with the Progressing and ReplicaFailure conditions. */
export function rolloutStatus(observation: RolloutObservation): DeploymentStatus {
  const { deployment, sets, newSet } = observation;
  const status = plainStatus(observation);
  let conditions = status.conditions ?? [];
  const current = conditionIn(observation.conditions, 'Progressing');
  if (!hasDeadline(deployment)) conditions = withoutCondition(conditions, 'Progressing');
  else {
    // Only the new ReplicaSet has pods and its rollout has succeeded: no rollout is in progress.
    const isDone =
      (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === 'NewReplicaSetAvailable';
    if (!isDone) conditions = progress(observation, { ...status, conditions }, current);
  }
  const failure = failureAmong(sets, newSet);
  conditions =
    failure === undefined ? withoutCondition(conditions, 'ReplicaFailure') : withCondition(conditions, failure);
  return { ...status, conditions };
}

function progress(
  observation: RolloutObservation,
  status: DeploymentStatus,
  current: Condition | undefined,
): Conditions {
  const { deployment, newSet, now, nowMs } = observation;
  const { conditions = [] } = status;
  const subject =
    newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const details = { reason: 'NewReplicaSetAvailable', message: `${subject} has successfully progressed.`, now };
    return withCondition(conditions, conditionNow('Progressing', 'True', details));
  }
  if (hasProgressed(deployment.status, status)) {
    const details = { reason: 'ReplicaSetUpdated', message: `${subject} is progressing.`, now };
    const next = conditionNow('Progressing', 'True', details);
    // Progress updates lastUpdateTime, though status and reason may be unchanged.
    const lastTransitionTime = current?.status === 'True' ? (current.lastTransitionTime ?? null) : now;
    return [...withoutCondition(conditions, 'Progressing'), { ...next, lastTransitionTime }];
  }
  if (!isTimedOut(deployment, conditionIn(conditions, 'Progressing'), nowMs)) return conditions;
  const details = { reason: 'ProgressDeadlineExceeded', message: `${subject} has timed out progressing.`, now };
  return withCondition(conditions, conditionNow('Progressing', 'False', details));
}

/** Whether more pods are new, ready or available, or fewer are old. */
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

/** The time of the progress deadline; in the past if there is no time to count from. */
function deadlineOf({ spec }: StoredDeployment, progressing: Condition): number {
  return updatedAt(progressing) + spec.progressDeadlineSeconds * 1000;
}

function updatedAt({ lastUpdateTime }: Condition): number {
  return lastUpdateTime === undefined || lastUpdateTime === null ? -Infinity : timeToMs(lastUpdateTime);
}

/** The delay until the progress deadline must be checked; undefined: no check needed. */
export function msUntilDeadlineCheck(observation: RolloutObservation, status: DeploymentStatus): number | undefined {
  const { deployment, nowMs } = observation;
  const current = conditionIn(status.conditions ?? [], 'Progressing');
  if (!hasDeadline(deployment) || current === undefined) return undefined;
  if (current.reason === 'NewReplicaSetAvailable' || current.reason === 'ProgressDeadlineExceeded') return undefined;
  // Times are stored in whole seconds. The actual update may be up to a second later than the stored time, so up to one
  // second is added.
  const late = Math.min(nowMs - updatedAt(current), 1000);
  return Math.max(0, deadlineOf(deployment, current) + late - nowMs);
}

export type Conditions = NonNullable<StoredDeployment['status']['conditions']>;

type Condition = Conditions[number];

type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';

/** A condition with the current time. */
export function conditionNow(
  type: ConditionType,
  status: Condition['status'],
  details: { readonly reason: string; readonly message: string; readonly now: string },
): Condition {
  const { reason, message, now } = details;
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

export function conditionIn(conditions: Conditions, wanted: ConditionType): Condition | undefined {
  return conditions.find(({ type }) => type === wanted);
}

/** Sets a condition. One with the same status and reason is left unchanged, including its message. */
export function withCondition(conditions: Conditions, next: Condition): Conditions {
  const current = conditions.find(({ type }) => type === next.type);
  if (current === undefined) return [...conditions, next];
  if (current.status === next.status && current.reason === next.reason) return conditions;
  const { lastTransitionTime = null } = current.status === next.status ? current : next;
  return [...conditions.filter(({ type }) => type !== next.type), { ...next, lastTransitionTime }];
}

function withoutCondition(conditions: Conditions, unwanted: ConditionType): Conditions {
  return conditions.some(({ type }) => type === unwanted)
    ? conditions.filter(({ type }) => type !== unwanted)
    : conditions;
}

/** The ReplicaFailure condition of the new ReplicaSet, or of any. */
function failureAmong(sets: readonly StoredReplicaSet[], newSet: StoredReplicaSet | undefined): Condition | undefined {
  for (const set of newSet === undefined ? sets : [newSet, ...sets]) {
    const failure = set.status.conditions?.find(({ type }) => type === 'ReplicaFailure');
    if (failure !== undefined) return { ...failure, lastUpdateTime: failure.lastTransitionTime ?? null };
  }
  return undefined;
}
