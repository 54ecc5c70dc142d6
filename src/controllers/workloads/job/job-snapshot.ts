/**
 * Classifies the pods of a Job for one reconcile. Pure functions.
 */
import type { Job } from '../../../kinds/batch/v1/job/job.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { isPodActive, isPodFinished, isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { failuresBefore, ignoredFailuresBefore, indexOf, isTracked, type JobKeys } from './control.js';
import { continueRun, evaluateFailure, type FailureRun, finishedAt } from './failures.js';
import { IndexSet } from './index-set.js';

export type StoredJob = ObjectOf<typeof Job>;
export type StoredJobSpec = StoredJob['spec'];

/** The pods of a Job at one point in time, classified. */
export interface JobSnapshot {
  readonly job: StoredJob;
  /** All pods of the Job; those of an indexed Job sorted by index. */
  readonly pods: readonly StoredPod[];
  readonly active: readonly StoredPod[];
  readonly ready: number;
  readonly terminating: number;
  /** The number of succeeded pods or indexes, counted in the status or not. */
  readonly succeeded: number;
  /** The number of failed pods that count, counted in the status or not. */
  readonly failed: number;
  /** Including new failures. */
  readonly run: FailureRun;
  /** Only for indexed Jobs. */
  readonly indexes: IndexSnapshot | undefined;
}

export interface IndexSnapshot {
  readonly completions: number;
  /** The completed indexes in the status. */
  readonly known: IndexSet;
  readonly succeeded: IndexSet;
  /** With backoffLimitPerIndex: the indexes that have exceeded it. */
  readonly failed: IndexSet | undefined;
  /** With backoffLimitPerIndex: the last failed pod of each index without a replacement, which has the failure count. */
  readonly toReplace: ReadonlyMap<number, StoredPod>;
}

export interface SnapshotOptions {
  readonly keys: JobKeys;
  /** The failures so far. */
  readonly run: FailureRun;
}

export function snapshotOf(job: StoredJob, pods: readonly StoredPod[], { keys, run }: SnapshotOptions): JobSnapshot {
  const { spec, status } = job;
  const uncounted = status.uncountedTerminatedPods ?? {};
  const isNew = (pod: StoredPod, counted: readonly string[] | undefined) =>
    isTracked(pod, keys) && !(counted?.includes(pod.metadata.uid) ?? false) && hasValidIndex(pod, spec, keys);
  const newSucceeded = pods.filter((pod) => hasSucceeded(pod) && isNew(pod, uncounted.succeeded));
  const newFailed = pods.filter((pod) => hasFailed(pod, spec) && isNew(pod, uncounted.failed));
  const active = pods.filter(isPodActive);
  const indexes = isIndexed(spec) ? indexSnapshotOf(job, pods, keys) : undefined;
  return {
    job,
    pods: indexes === undefined ? pods : byIndex(pods, keys),
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter((pod) => isTerminating(pod) && !isPodFinished(pod)).length,
    succeeded:
      indexes === undefined
        ? (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0)
        : indexes.succeeded.size,
    failed:
      (status.failed ?? 0) +
      newFailed.filter((pod) => evaluateFailure(spec.podFailurePolicy, pod).counts).length +
      (uncounted.failed?.length ?? 0),
    run: continueRun(run, newSucceeded, newFailed),
    indexes,
  };
}

export function isIndexed({ completionMode }: StoredJobSpec): boolean {
  return completionMode === 'Indexed';
}

export function isSuspended({ suspend }: StoredJobSpec): boolean {
  return suspend === true;
}

/** Whether a terminating pod is replaced only after it has terminated. */
export function replacesFailedOnly({ podReplacementPolicy, podFailurePolicy }: StoredJobSpec): boolean {
  return podReplacementPolicy === 'Failed' || podFailurePolicy !== undefined;
}

export function hasSucceeded({ status }: StoredPod): boolean {
  return status.phase === 'Succeeded';
}

/** Failed, or terminating if that counts as a failure. */
export function hasFailed(pod: StoredPod, spec: StoredJobSpec): boolean {
  if (pod.status.phase === 'Failed') return true;
  return !replacesFailedOnly(spec) && isTerminating(pod) && !hasSucceeded(pod);
}

/** The Complete or Failed condition of a finished Job. */
export function finishedCondition({ status }: Pick<StoredJob, 'status'>) {
  return status.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
}

/** Whether the pod has a valid index; always true for a non-indexed Job. */
export function hasValidIndex(pod: StoredPod, spec: StoredJobSpec, keys: JobKeys): boolean {
  return !isIndexed(spec) || (indexOf(pod, keys) ?? Infinity) < (spec.completions ?? 0);
}

export function byIndex(pods: readonly StoredPod[], keys: JobKeys): StoredPod[] {
  return [...pods].sort((a, b) => (indexOf(a, keys) ?? -1) - (indexOf(b, keys) ?? -1));
}

function indexSnapshotOf({ spec, status }: StoredJob, pods: readonly StoredPod[], keys: JobKeys): IndexSnapshot {
  const completions = spec.completions ?? 0;
  const ours = pods.filter((pod) => isTracked(pod, keys) && hasValidIndex(pod, spec, keys));
  const indexesOf = (list: readonly StoredPod[]) => IndexSet.of(list.flatMap((pod) => indexOf(pod, keys) ?? []));
  const known = IndexSet.parse(status.completedIndexes, completions);
  const succeeded = known.union(indexesOf(ours.filter(hasSucceeded)));
  const { backoffLimitPerIndex: limit } = spec;
  if (limit === undefined) return { completions, known, succeeded, failed: undefined, toReplace: new Map() };

  const newlyFailed = ours.filter((pod) => exceedsIndexLimit(pod, { spec, limit, keys }));
  const failed = IndexSet.parse(status.failedIndexes, completions).union(indexesOf(newlyFailed));
  const active = indexesOf(pods.filter(isPodActive));
  const toReplace = new Map<number, StoredPod>();
  for (const pod of ours) {
    const index = indexOf(pod, keys);
    if (index === undefined || !hasFailed(pod, spec)) continue;
    if (succeeded.has(index) || failed.has(index) || active.has(index)) continue;
    const other = toReplace.get(index);
    if (other === undefined || isLaterFailure(pod, other, keys)) toReplace.set(index, pod);
  }
  return { completions, known, succeeded, failed, toReplace };
}

function exceedsIndexLimit(
  pod: StoredPod,
  { spec, limit, keys }: { spec: StoredJobSpec; limit: number; keys: JobKeys },
): boolean {
  if (!hasFailed(pod, spec)) return false;
  const { action, counts } = evaluateFailure(spec.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && failuresBefore(pod, keys) >= limit);
}

export function allFailuresBefore(pod: StoredPod, keys: JobKeys): number {
  return failuresBefore(pod, keys) + ignoredFailuresBefore(pod, keys);
}

function isLaterFailure(pod: StoredPod, other: StoredPod, keys: JobKeys): boolean {
  return allFailuresBefore(pod, keys) >= allFailuresBefore(other, keys) && finishedAt(pod) >= finishedAt(other);
}
