/**
 * Counts finished pods exactly once, even if a request fails: first the status lists the pods to count, then their finalizers
 * are removed, and only then are the counters increased. Finishes the Job when its outcome is known and no pod is left.
 */
import { Job } from '../../../kinds/batch/v1/job/job.js';
import type { JobCondition, JobStatus } from '../../../kinds/generated/batch-v1.js';
import type { StoredPod } from '../pod-state.js';
import { IndexSet } from './index-set.js';
import {
  evaluateFailure,
  hasFailed,
  hasSucceeded,
  hasValidIndex,
  indexOf,
  isTracked,
  type JobControl,
  type JobSnapshot,
  type StoredJob,
  untrack,
} from './job-snapshot.js';
import { interimCondition, type JobOutcome } from './outcome.js';

/** The maximum number of pods listed in a status; the next reconcile counts the others. */
const MAX_UNCOUNTED_PODS = 500;

export interface Tracked {
  readonly snapshot: JobSnapshot;
  /** The new status with the counts of this reconcile. It is modified. */
  readonly status: JobStatus;
  readonly outcome: JobOutcome | undefined;
  /** Whether `status` already differs from the stored one. */
  readonly isChanged: boolean;
}

export async function track(control: JobControl, { snapshot, status, outcome, isChanged }: Tracked): Promise<void> {
  const { keys, client, now } = control;
  const tracked = new Set(snapshot.pods.filter((pod) => isTracked(pod, keys)).map(({ metadata }) => metadata.uid));
  let isDirty = countReleased(status, tracked) || isChanged;

  // 1. List the pods to count in the status.
  const taken = takePods(control, snapshot, { status, outcome });
  isDirty ||= taken.isChanged;
  if (snapshot.indexes !== undefined) isDirty = writeIndexes(snapshot, status, taken.newIndexes) || isDirty;
  if (outcome !== undefined && !outcome.isAnnounced) {
    addCondition(status, conditionOf(interimCondition(outcome), outcome, now()));
    isDirty = true;
  }
  let { job } = snapshot;
  if (isDirty) {
    job = await writeStatus(control, job, status);
    control.runs.set(job.metadata.uid, snapshot.run);
    isDirty = false;
  }

  // 2. Remove their finalizers.
  const results = await Promise.allSettled(taken.pods.map((pod) => untrack(client, pod, keys)));
  for (const [at, { metadata }] of taken.pods.entries()) {
    if (results[at]?.status === 'fulfilled') tracked.delete(metadata.uid);
  }
  isDirty = countReleased(status, tracked);
  const rejected = results.find((result) => result.status === 'rejected');
  if (rejected !== undefined) {
    if (isDirty) await writeStatus(control, job, status);
    throw rejected.reason;
  }

  // 3. Count them, and finish the Job.
  const isOver = outcome !== undefined && !taken.isCut && isEverythingCounted(status);
  if (isOver) addCondition(status, conditionOf(outcome.end, outcome, now()));
  if (isOver && outcome.end === 'Complete') status.completionTime = now();
  if (!isDirty && !isOver) return;
  await writeStatus(control, job, status);
  if (isOver) recordEnd(control, job, { status, outcome });
}

/** Adds the condition to the status and replaces one of the same type. */
export function addCondition(status: JobStatus, condition: JobCondition): void {
  const others = status.conditions ?? [];
  const at = others.findIndex(({ type }) => type === condition.type);
  status.conditions = at < 0 ? [...others, condition] : others.with(at, condition);
}

export function conditionOf(
  type: JobCondition['type'],
  { reason, message }: { readonly reason: string; readonly message: string },
  now: string,
): JobCondition {
  return { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, reason, message };
}

interface Taken {
  readonly pods: readonly StoredPod[];
  readonly newIndexes: readonly number[];
  readonly isChanged: boolean;
  /** The limit was reached before all pods were listed. */
  readonly isCut: boolean;
}

/** Selects the pods whose finalizer may be removed, and lists those that count in the status. */
function takePods(
  { keys }: JobControl,
  { job, pods, indexes }: JobSnapshot,
  { status, outcome }: Pick<Tracked, 'status' | 'outcome'>,
): Taken {
  const { spec, metadata } = job;
  const uncounted = { ...status.uncountedTerminatedPods };
  const succeeded = new Set(uncounted.succeeded);
  const failed = new Set(uncounted.failed);
  const named = succeeded.size + failed.size;
  const known = { succeeded: new Set(succeeded), failed: new Set(failed) };
  const taken: StoredPod[] = [];
  const newIndexes: number[] = [];
  let isCut = false;
  for (const pod of pods) {
    const { uid } = pod.metadata;
    if (!isTracked(pod, keys)) continue;
    const isFailed = hasFailed(pod, spec);
    const index = indexOf(pod, keys);
    if (metadata.deletionTimestamp === undefined && outcome === undefined && !hasSucceeded(pod)) {
      if (!isFailed) continue;
      // The pod holds the failure count of its index, so it is kept until a replacement exists.
      if (index !== undefined && indexes?.toReplace.get(index)?.metadata.uid === uid) continue;
    }
    taken.push(pod);
    if (hasSucceeded(pod) && !known.failed.has(uid)) {
      if (indexes === undefined) succeeded.add(uid);
      else if (index !== undefined && hasValidIndex(pod, spec, keys) && !indexes.known.has(index))
        newIndexes.push(index);
    } else if ((isFailed || outcome?.end === 'Failed') && hasValidIndex(pod, spec, keys)) {
      if (evaluateFailure(spec.podFailurePolicy, pod).counts) failed.add(uid);
    }
    if (newIndexes.length + succeeded.size + failed.size >= MAX_UNCOUNTED_PODS) {
      isCut = true;
      break;
    }
  }
  if (succeeded.size > 0) uncounted.succeeded = [...succeeded];
  if (failed.size > 0) uncounted.failed = [...failed];
  status.uncountedTerminatedPods = uncounted;
  const isChanged = newIndexes.length > 0 || succeeded.size + failed.size > named;
  return { pods: taken, newIndexes, isChanged, isCut };
}

/** Counts the listed pods without finalizer. Returns whether there were any. */
function countReleased(status: JobStatus, tracked: ReadonlySet<string>): boolean {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = {
    succeeded: succeeded.filter((uid) => tracked.has(uid)),
    failed: failed.filter((uid) => tracked.has(uid)),
  };
  const released = {
    succeeded: succeeded.length - left.succeeded.length,
    failed: failed.length - left.failed.length,
  };
  if (released.succeeded + released.failed === 0) return false;
  status.succeeded = (status.succeeded ?? 0) + released.succeeded;
  status.failed = (status.failed ?? 0) + released.failed;
  status.uncountedTerminatedPods = left;
  return true;
}

/** Writes the index fields and returns whether they change. */
function writeIndexes({ indexes }: JobSnapshot, status: JobStatus, newIndexes: readonly number[]): boolean {
  if (indexes === undefined) return false;
  const succeeded = indexes.succeeded.union(IndexSet.of(newIndexes));
  const completed = String(succeeded);
  const failed = indexes.failed === undefined ? undefined : String(indexes.failed);
  const isChanged = completed !== (status.completedIndexes ?? '') || failed !== status.failedIndexes;
  status.succeeded = succeeded.size;
  status.completedIndexes = completed;
  if (failed === undefined) delete status.failedIndexes;
  else status.failedIndexes = failed;
  return isChanged;
}

function isEverythingCounted({ terminating = 0, uncountedTerminatedPods: uncounted = {} }: JobStatus): boolean {
  return terminating === 0 && (uncounted.succeeded?.length ?? 0) + (uncounted.failed?.length ?? 0) === 0;
}

function writeStatus({ client }: JobControl, job: StoredJob, status: JobStatus): Promise<StoredJob> {
  const { name, namespace } = job.metadata;
  return client.api(Job, namespace).status.update(name, { ...job, status });
}

function recordEnd(
  { events }: JobControl,
  job: StoredJob,
  { status, outcome }: { readonly status: JobStatus; readonly outcome: JobOutcome },
): void {
  if (outcome.end === 'Failed') {
    events.record(job, 'Warning', outcome.reason, outcome.message);
    return;
  }
  if ((status.succeeded ?? 0) > (job.spec.completions ?? Infinity)) {
    const message = 'Too many succeeded pods running after completion count reached';
    events.record(job, 'Warning', 'TooManySucceededPods', message);
  }
  events.record(job, 'Normal', 'Completed', 'Job completed');
}
