/**
 * Creates missing and deletes excess pods of a Job and returns the resulting counts. `track.ts` writes the status.
 */

import type { PodInput } from '../../../kinds/core/v1/pod/pod.js';
import { isNamespaceTerminating } from '../../runtime/refusals.js';
import { createPod, deletePod } from '../new-pod.js';
import { isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { backoffLeft, finishedAt } from './backoff.js';
import type { JobControl } from './control.js';
import { IndexSet } from './index-set.js';
import { indexedPod, plainPod, podsToRemove } from './job-pods.js';
import { indexOf, untrack } from './marks.js';
import { allFailuresBefore, type IndexSnapshot, isSuspended, type JobSnapshot, replacesFailedOnly } from './picture.js';

/** The maximum number of creates or deletes per reconcile; their events queue the next one. */
const BURST = 500;

export interface Managed {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** The delay until a reconcile is needed even without changes. */
  readonly waitMs?: number;
  /** The first failed request. */
  readonly failure?: { readonly error: unknown };
}

/** Deletes all active pods of a finished Job. They keep their finalizer until they are counted. */
export async function endPods(control: JobControl, snapshot: JobSnapshot): Promise<Managed> {
  return countsAfterDelete(snapshot, await deleteEach(control, snapshot, { pods: snapshot.active }));
}

/** Brings the number of active pods to what the Job asks for. */
export async function managePods(control: JobControl, snapshot: JobSnapshot): Promise<Managed> {
  const { job, active } = snapshot;
  const { keys } = control;
  const wanted = isSuspended(job.spec) ? 0 : wantedActive(snapshot);
  const excess = podsToRemove(job, active, { atLeast: Math.max(0, active.length - wanted), keys });
  if (excess.length > 0) {
    // A suspended Job deletes all pods at once.
    const pods = isSuspended(job.spec) ? excess : excess.slice(0, BURST);
    return countsAfterDelete(snapshot, await deleteEach(control, snapshot, { pods, untracked: true }));
  }
  const unchanged = { active: active.length, ready: snapshot.ready, terminating: snapshot.terminating };
  const stillRunning = replacesFailedOnly(job.spec) ? snapshot.terminating : 0;
  const missing = Math.min(wanted - active.length - stillRunning, BURST);
  if (missing <= 0) return unchanged;

  const { drafts, waitMs } = podsToCreate(control, snapshot, missing);
  // As in the reference server: during the backoff the status reports no active pods, even if there are some.
  if (waitMs > 0) return { ...unchanged, active: 0, waitMs };
  const created = await createEach(control, snapshot, drafts);
  return { ...unchanged, active: active.length + created.count, ...(created.failure && { failure: created.failure }) };
}

function wantedActive({ job: { spec }, active, succeeded }: JobSnapshot): number {
  const { completions, parallelism = 0 } = spec;
  // Without completions the first success finishes the Job: running pods may finish, no others start.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

interface Drafts {
  readonly drafts: readonly PodInput[];
  /** Above 0: the backoff has not passed. */
  readonly waitMs: number;
}

function podsToCreate({ keys, clock }: JobControl, snapshot: JobSnapshot, count: number): Drafts {
  const { job, indexes, run } = snapshot;
  const perIndex = job.spec.backoffLimitPerIndex !== undefined;
  const waitMs = perIndex ? 0 : backoffLeft(run, clock.now());
  if (waitMs > 0) return { drafts: [], waitMs };
  if (indexes === undefined) return { drafts: Array.from({ length: count }, () => plainPod(job, keys)), waitMs };

  const free = freeIndexes(snapshot, indexes, { count, keys });
  const draft = (index: number) => indexedPod(job, keys, { index, replaced: indexes.toReplace.get(index) });
  if (!perIndex) return { drafts: free.map(draft), waitMs };
  const waits = free.map((index) => {
    const replaced = indexes.toReplace.get(index);
    if (replaced === undefined) return 0;
    const failures = allFailuresBefore(replaced, keys) + 1;
    return backoffLeft({ failures, lastMs: finishedAt(replaced) }, clock.now());
  });
  const now = free.filter((_index, at) => waits[at] === 0);
  return { drafts: now.map(draft), waitMs: now.length > 0 || waits.length === 0 ? 0 : Math.min(...waits) };
}

/** The first indexes that are neither succeeded, failed nor in use. */
function freeIndexes(
  { job, active, pods }: JobSnapshot,
  { completions, succeeded, failed }: IndexSnapshot,
  { count, keys }: { readonly count: number } & Pick<JobControl, 'keys'>,
): number[] {
  const takenBy = replacesFailedOnly(job.spec) ? [...active, ...pods.filter(isShuttingDown)] : active;
  const taken = IndexSet.of(takenBy.flatMap((pod) => indexOf(pod, keys) ?? []));
  return succeeded
    .union(taken)
    .union(failed ?? IndexSet.empty)
    .firstMissing(count, completions);
}

function isShuttingDown(pod: StoredPod): boolean {
  return isTerminating(pod) && pod.status.phase !== 'Succeeded' && pod.status.phase !== 'Failed';
}

interface BatchResult {
  readonly count: number;
  readonly failure?: { readonly error: unknown };
}

/** Creates pods in batches of doubling size and stops after the first batch with a failure. */
async function createEach(
  control: JobControl,
  { job }: JobSnapshot,
  drafts: readonly PodInput[],
): Promise<BatchResult> {
  let count = 0;
  let [from, size] = [0, 1];
  while (from < drafts.length) {
    const results = await Promise.allSettled(
      drafts.slice(from, from + size).map((pod) => createPod(control, pod, job)),
    );
    const errors = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason);
    count += results.length - errors.length;
    if (errors.length > 0) {
      const error: unknown = errors.find((reason) => !isNamespaceTerminating(reason));
      return error === undefined ? { count } : { count, failure: { error } };
    }
    from += size;
    size *= 2;
  }
  return { count };
}

interface DeleteResult extends BatchResult {
  readonly ready: number;
}

async function deleteEach(
  control: JobControl,
  { job }: JobSnapshot,
  { pods, untracked = false }: { readonly pods: readonly StoredPod[]; readonly untracked?: boolean },
): Promise<DeleteResult> {
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      if (untracked) await untrack(control.client, pod, control.keys);
      await deletePod(control, pod, job);
      return pod;
    }),
  );
  const deleted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const rejected = results.find((result) => result.status === 'rejected');
  return {
    count: deleted.length,
    ready: deleted.filter(isPodReady).length,
    ...(rejected && { failure: { error: rejected.reason } }),
  };
}

function countsAfterDelete({ active, ready, terminating }: JobSnapshot, deleted: DeleteResult): Managed {
  return {
    active: active.length - deleted.count,
    ready: ready - deleted.ready,
    terminating: terminating + deleted.count,
    ...(deleted.failure && { failure: deleted.failure }),
  };
}
