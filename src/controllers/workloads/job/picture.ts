/**
 * What a look at a Job sees: its pods, sorted by what they mean for it. Pure; nothing here writes.
 */
import type { Job } from '../../../kinds/batch/v1/job/job.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { isPodActive, isPodFinished, isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { continueRun, type FailureRun, finishedAt } from './backoff.js';
import { IndexSet } from './index-set.js';
import { failuresBefore, ignoredFailuresBefore, indexOf, isTracked, type Marks } from './marks.js';
import { judgeFailure } from './pod-failure-policy.js';

export type StoredJob = ObjectOf<typeof Job>;
export type StoredJobSpec = StoredJob['spec'];

export interface Picture {
  readonly job: StoredJob;
  /** All that belong to the Job; of an indexed one in the order of indexes. */
  readonly pods: readonly StoredPod[];
  readonly active: readonly StoredPod[];
  readonly ready: number;
  readonly terminating: number;
  /** Pods that succeeded, or indexes; counted in the status or not yet. */
  readonly succeeded: number;
  /** Pods whose failure counts; in the status already or not yet. */
  readonly failed: number;
  /** With the failures that are new. */
  readonly run: FailureRun;
  /** Of indexed Jobs. */
  readonly indexes: IndexPicture | undefined;
}

export interface IndexPicture {
  readonly completions: number;
  /** What the status says. */
  readonly known: IndexSet;
  readonly succeeded: IndexSet;
  /** Where each index has a limit of its own: those that have used it up. */
  readonly failed: IndexSet | undefined;
  /** With such limits, the failed pod of each index that waits for its successor: it tells how often that index failed. */
  readonly toReplace: ReadonlyMap<number, StoredPod>;
}

export interface PictureOptions {
  readonly marks: Marks;
  /** The failures so far. */
  readonly run: FailureRun;
}

export function pictureOf(job: StoredJob, pods: readonly StoredPod[], { marks, run }: PictureOptions): Picture {
  const { spec, status } = job;
  const uncounted = status.uncountedTerminatedPods ?? {};
  const isNew = (pod: StoredPod, counted: readonly string[] | undefined) =>
    isTracked(pod, marks) && !(counted?.includes(pod.metadata.uid) ?? false) && hasPlace(pod, spec, marks);
  const newSucceeded = pods.filter((pod) => hasSucceeded(pod) && isNew(pod, uncounted.succeeded));
  const newFailed = pods.filter((pod) => hasFailed(pod, spec) && isNew(pod, uncounted.failed));
  const active = pods.filter(isPodActive);
  const indexes = isIndexed(spec) ? indexPictureOf(job, pods, marks) : undefined;
  return {
    job,
    pods: indexes === undefined ? pods : byIndex(pods, marks),
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter((pod) => isTerminating(pod) && !isPodFinished(pod)).length,
    succeeded:
      indexes === undefined
        ? (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0)
        : indexes.succeeded.size,
    failed:
      (status.failed ?? 0) +
      newFailed.filter((pod) => judgeFailure(spec.podFailurePolicy, pod).counts).length +
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

/** Whether a pod that is going away still holds its place until it has gone. */
export function replacesFailedOnly({ podReplacementPolicy, podFailurePolicy }: StoredJobSpec): boolean {
  return podReplacementPolicy === 'Failed' || podFailurePolicy !== undefined;
}

export function hasSucceeded({ status }: StoredPod): boolean {
  return status.phase === 'Succeeded';
}

/** Failed, or going away where that is as good as a failure. */
export function hasFailed(pod: StoredPod, spec: StoredJobSpec): boolean {
  if (pod.status.phase === 'Failed') return true;
  return !replacesFailedOnly(spec) && isTerminating(pod) && !hasSucceeded(pod);
}

/** The Complete or Failed condition that ends a Job, once it is true. */
export function endOf({ status }: Pick<StoredJob, 'status'>) {
  return status.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
}

/** Of an indexed Job: whether the pod works on one of its indexes. */
export function hasPlace(pod: StoredPod, spec: StoredJobSpec, marks: Marks): boolean {
  return !isIndexed(spec) || (indexOf(pod, marks) ?? Infinity) < (spec.completions ?? 0);
}

export function byIndex(pods: readonly StoredPod[], marks: Marks): StoredPod[] {
  return [...pods].sort((a, b) => (indexOf(a, marks) ?? -1) - (indexOf(b, marks) ?? -1));
}

function indexPictureOf({ spec, status }: StoredJob, pods: readonly StoredPod[], marks: Marks): IndexPicture {
  const completions = spec.completions ?? 0;
  const ours = pods.filter((pod) => isTracked(pod, marks) && hasPlace(pod, spec, marks));
  const indexesOf = (list: readonly StoredPod[]) => IndexSet.of(list.flatMap((pod) => indexOf(pod, marks) ?? []));
  const known = IndexSet.parse(status.completedIndexes, completions);
  const succeeded = known.union(indexesOf(ours.filter(hasSucceeded)));
  const { backoffLimitPerIndex: limit } = spec;
  if (limit === undefined) return { completions, known, succeeded, failed: undefined, toReplace: new Map() };

  const newlyFailed = ours.filter((pod) => hasFailedForGood(pod, { spec, limit, marks }));
  const failed = IndexSet.parse(status.failedIndexes, completions).union(indexesOf(newlyFailed));
  const active = indexesOf(pods.filter(isPodActive));
  const toReplace = new Map<number, StoredPod>();
  for (const pod of ours) {
    const index = indexOf(pod, marks);
    if (index === undefined || !hasFailed(pod, spec)) continue;
    if (succeeded.has(index) || failed.has(index) || active.has(index)) continue;
    const other = toReplace.get(index);
    if (other === undefined || isLaterFailure(pod, other, marks)) toReplace.set(index, pod);
  }
  return { completions, known, succeeded, failed, toReplace };
}

function hasFailedForGood(
  pod: StoredPod,
  { spec, limit, marks }: { spec: StoredJobSpec; limit: number; marks: Marks },
): boolean {
  if (!hasFailed(pod, spec)) return false;
  const { action, counts } = judgeFailure(spec.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && failuresBefore(pod, marks) >= limit);
}

export function allFailuresBefore(pod: StoredPod, marks: Marks): number {
  return failuresBefore(pod, marks) + ignoredFailuresBefore(pod, marks);
}

function isLaterFailure(pod: StoredPod, other: StoredPod, marks: Marks): boolean {
  return allFailuresBefore(pod, marks) >= allFailuresBefore(other, marks) && finishedAt(pod) >= finishedAt(other);
}
