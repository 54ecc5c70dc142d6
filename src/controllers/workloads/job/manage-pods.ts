/**
 * Creates missing and deletes excess pods of a Job and returns the resulting counts. `track.ts` writes the status.
 */

import type { PodInput } from '../../../kinds/generated/core-v1.js';
import { timeToMs } from '../../../text/time/time.js';
import { isNamespaceTerminating } from '../../runtime/expected-errors.js';
import { matchesSelector } from '../dependents.js';
import { createPod, deletePod, podFromTemplate } from '../pod-control.js';
import { isPodReady, isTerminating, podCondition, type StoredPod } from '../pod-state.js';
import { IndexSet } from './index-set.js';
import {
  allFailuresBefore,
  backoffLeft,
  byIndex,
  evaluateFailure,
  failuresBefore,
  finishedAt,
  type IndexSnapshot,
  ignoredFailuresBefore,
  indexOf,
  isIndexed,
  isSuspended,
  type JobControl,
  type JobKeys,
  type JobSnapshot,
  replacesFailedOnly,
  type StoredJob,
  untrack,
} from './job-snapshot.js';

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
  // upstream: pkg/controller/job/job_controller.go Controller.manageJob
  if (waitMs > 0) return { ...unchanged, active: 0, waitMs };
  if (!drafts.every(({ metadata }) => matchesSelector(control, job, metadata?.labels))) return unchanged;
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

/** The maximum prefix of a generated name: 63 characters minus five random ones. */
const MAX_PREFIX_LENGTH = 58;

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** A pod of a non-indexed Job. */
function plainPod(job: StoredJob, keys: JobKeys): PodInput {
  const pod = podFromTemplate(job.spec.template, job);
  const { finalizers = [] } = pod.metadata;
  if (!finalizers.includes(keys.finalizer)) pod.metadata.finalizers = [...finalizers, keys.finalizer];
  return pod;
}

/** A pod for an index. `replaced` is the failed pod before it, if failures are counted per index. */
function indexedPod(
  job: StoredJob,
  keys: JobKeys,
  { index, replaced }: { readonly index: number; readonly replaced: StoredPod | undefined },
): PodInput {
  const pod = plainPod(job, keys);
  const { metadata, spec } = pod;
  metadata.generateName = indexedPrefix(job.metadata.name, index);
  metadata.annotations = { ...metadata.annotations, [keys.index]: String(index) };
  metadata.labels = { ...metadata.labels, [keys.index]: String(index) };
  if (job.spec.backoffLimitPerIndex !== undefined)
    Object.assign(metadata.annotations, failureAnnotations(job, keys, replaced));
  // Every stored template has a spec.
  if (spec === undefined) return pod;
  spec.hostname = `${job.metadata.name}-${index}`;
  const fieldPath = `metadata.labels['${keys.index}']`;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const { env = [] } = container;
    if (env.some(({ name }) => name === INDEX_VARIABLE)) continue;
    container.env = [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }];
  }
  return pod;
}

/** The prefix of a generated name. A long Job name is truncated, the index never. */
function indexedPrefix(name: string, index: number): string {
  const end = `-${index}-`;
  return `${name.slice(0, MAX_PREFIX_LENGTH - end.length)}${end}`;
}

function failureAnnotations(
  { spec }: StoredJob,
  keys: JobKeys,
  replaced: StoredPod | undefined,
): Record<string, string> {
  if (replaced === undefined) return { [keys.failures]: '0' };
  const { counts } = evaluateFailure(spec.podFailurePolicy, replaced);
  const failures = failuresBefore(replaced, keys) + (counts ? 1 : 0);
  const ignored = ignoredFailuresBefore(replaced, keys) + (counts ? 0 : 1);
  return {
    [keys.failures]: String(failures),
    ...(ignored > 0 ? { [keys.ignoredFailures]: String(ignored) } : {}),
  };
}

/** Selects at least so many of the active pods. Of an indexed Job, pods with an invalid or duplicate index are always included. */
function podsToRemove(
  { spec }: StoredJob,
  active: readonly StoredPod[],
  { atLeast, keys }: { readonly atLeast: number; readonly keys: JobKeys },
): StoredPod[] {
  if (!isIndexed(spec)) return [...active].sort(leastDoneFirst).slice(0, atLeast);
  const remove: StoredPod[] = [];
  const keep: StoredPod[] = [];
  const seen = new Map<number, StoredPod[]>();
  for (const pod of byIndex(active, keys)) {
    const index = indexOf(pod, keys);
    if (index === undefined || index >= (spec.completions ?? 0)) remove.push(pod);
    else seen.set(index, [...(seen.get(index) ?? []), pod]);
  }
  for (const duplicates of seen.values()) {
    duplicates.sort(leastDoneFirst);
    remove.push(...duplicates.slice(0, -1));
    keep.push(...duplicates.slice(-1));
  }
  const more = Math.max(0, atLeast - remove.length);
  return [...remove, ...keep.sort(leastDoneFirst).slice(0, more)];
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

function leastDoneFirst(a: StoredPod, b: StoredPod): number {
  const hasNode = (pod: StoredPod) => Number((pod.spec.nodeName ?? '') !== '');
  const phase = (pod: StoredPod) => PHASES[pod.status.phase ?? ''] ?? 0;
  return (
    hasNode(a) - hasNode(b) ||
    phase(a) - phase(b) ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    readySince(b) - readySince(a) ||
    mostRestarts(b) - mostRestarts(a) ||
    timeToMs(b.metadata.creationTimestamp) - timeToMs(a.metadata.creationTimestamp)
  );
}

/** 0 for pods that are not ready. Without a transition time the pod counts as ready since now. */
function readySince(pod: StoredPod): number {
  if (!isPodReady(pod)) return 0;
  const since = podCondition(pod, 'Ready')?.lastTransitionTime;
  return since === undefined || since === null ? Number.MAX_SAFE_INTEGER : timeToMs(since);
}

function mostRestarts({ status }: StoredPod): number {
  return (status.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);
}
