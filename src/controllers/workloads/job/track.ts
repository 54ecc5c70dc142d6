/**
 * Counts finished pods, each exactly once, whatever fails in between: first the status names those about to be counted,
 * then their finalizers go, and only then do the numbers rise. Ends the Job when its verdict is in and nothing is left.
 */
import { Job } from '../../../kinds/batch/v1/job/job.js';
import type { JobCondition, JobStatus } from '../../../kinds/batch/v1/job/schema.js';
import type { StoredPod } from '../pod-state.js';
import type { JobControl } from './control.js';
import { IndexSet } from './index-set.js';
import { indexOf, isTracked, untrack } from './marks.js';
import { hasFailed, hasPlace, hasSucceeded, type Picture, type StoredJob } from './picture.js';
import { judgeFailure } from './pod-failure-policy.js';
import { announcement, type Verdict } from './verdict.js';

/** So many pods are named in a status at most; the next look counts the others. */
const MOST_UNCOUNTED = 500;

export interface Tracked {
  readonly picture: Picture;
  /** The status to be, with the numbers of this look. A draft. */
  readonly status: JobStatus;
  readonly verdict: Verdict | undefined;
  /** Whether the draft differs from what is stored. */
  readonly isChanged: boolean;
}

export async function track(control: JobControl, { picture, status, verdict, isChanged }: Tracked): Promise<void> {
  const { marks, client, now } = control;
  const tracked = new Set(picture.pods.filter((pod) => isTracked(pod, marks)).map(({ metadata }) => metadata.uid));
  let isDirty = countReleased(status, tracked) || isChanged;

  // 1. Name the pods that are about to be counted.
  const taken = takePods(control, picture, { status, verdict });
  isDirty ||= taken.isChanged;
  if (picture.indexes !== undefined) isDirty = writeIndexes(picture, status, taken.newIndexes) || isDirty;
  if (verdict !== undefined && !verdict.isAnnounced) {
    addCondition(status, conditionOf(announcement(verdict), verdict, now()));
    isDirty = true;
  }
  let { job } = picture;
  if (isDirty) {
    job = await writeStatus(control, job, status);
    control.runs.set(job.metadata.uid, picture.run);
    isDirty = false;
  }

  // 2. Let them go.
  const results = await Promise.allSettled(taken.pods.map((pod) => untrack(client, pod, marks)));
  for (const [at, { metadata }] of taken.pods.entries()) {
    if (results[at]?.status === 'fulfilled') tracked.delete(metadata.uid);
  }
  isDirty = countReleased(status, tracked);
  const refused = results.find((result) => result.status === 'rejected');
  if (refused !== undefined) {
    if (isDirty) await writeStatus(control, job, status);
    throw refused.reason;
  }

  // 3. Count them, and end the Job.
  const isOver = verdict !== undefined && !taken.isCut && isSettled(status);
  if (isOver) addCondition(status, conditionOf(verdict.end, verdict, now()));
  if (isOver && verdict.end === 'Complete') status.completionTime = now();
  if (!isDirty && !isOver) return;
  await writeStatus(control, job, status);
  if (isOver) tellEnd(control, job, { status, verdict });
}

/** The status differs, with this condition in it. One of the same type gives way. */
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
  /** There were more of them. */
  readonly isCut: boolean;
}

/** The pods that may go, with those among them named in the status that count. */
function takePods(
  { marks }: JobControl,
  { job, pods, indexes }: Picture,
  { status, verdict }: Pick<Tracked, 'status' | 'verdict'>,
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
    if (!isTracked(pod, marks)) continue;
    const isFailed = hasFailed(pod, spec);
    const index = indexOf(pod, marks);
    if (metadata.deletionTimestamp === undefined && verdict === undefined && !hasSucceeded(pod)) {
      if (!isFailed) continue;
      // It tells its successor how often the index has failed, so it stays until there is one.
      if (index !== undefined && indexes?.toReplace.get(index)?.metadata.uid === uid) continue;
    }
    taken.push(pod);
    if (hasSucceeded(pod) && !known.failed.has(uid)) {
      if (indexes === undefined) succeeded.add(uid);
      else if (index !== undefined && hasPlace(pod, spec, marks) && !indexes.known.has(index)) newIndexes.push(index);
    } else if ((isFailed || verdict?.end === 'Failed') && hasPlace(pod, spec, marks)) {
      if (judgeFailure(spec.podFailurePolicy, pod).counts) failed.add(uid);
    }
    if (newIndexes.length + succeeded.size + failed.size >= MOST_UNCOUNTED) {
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

/** Those that were named and are no longer tracked are counted now. Whether there were any. */
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

/** Whether that changes the status. */
function writeIndexes({ indexes }: Picture, status: JobStatus, newIndexes: readonly number[]): boolean {
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

function isSettled({ terminating = 0, uncountedTerminatedPods: uncounted = {} }: JobStatus): boolean {
  return terminating === 0 && (uncounted.succeeded?.length ?? 0) + (uncounted.failed?.length ?? 0) === 0;
}

function writeStatus({ client }: JobControl, job: StoredJob, status: JobStatus): Promise<StoredJob> {
  const { name, namespace } = job.metadata;
  return client.api(Job, namespace).status.update(name, { ...job, status });
}

function tellEnd(
  { events }: JobControl,
  job: StoredJob,
  { status, verdict }: { readonly status: JobStatus; readonly verdict: Verdict },
): void {
  if (verdict.end === 'Failed') {
    events.record(job, 'Warning', verdict.reason, verdict.message);
    return;
  }
  if ((status.succeeded ?? 0) > (job.spec.completions ?? Infinity)) {
    const message = 'Too many succeeded pods running after completion count reached';
    events.record(job, 'Warning', 'TooManySucceededPods', message);
  }
  events.record(job, 'Normal', 'Completed', 'Job completed');
}
