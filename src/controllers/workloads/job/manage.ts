/**
 * Makes the pods that a Job needs and removes those it does not. What it returns is what there will be then; the status
 * is written by `track.ts`.
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
import { allFailuresBefore, type IndexPicture, isSuspended, type Picture, replacesFailedOnly } from './picture.js';

/** At most so many pods are made or removed in one look; what that changes brings the next. */
const MOST_AT_ONCE = 500;

export interface Managed {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** When there may be something to do although nothing changes. */
  readonly waitMs?: number;
  /** The first of the requests that were refused. */
  readonly failure?: { readonly error: unknown };
}

/** Deletes every active pod, because the Job is over. They stay tracked until they are counted. */
export async function endPods(control: JobControl, picture: Picture): Promise<Managed> {
  return removed(picture, await deleteEach(control, picture, { pods: picture.active }));
}

/** Brings the number of active pods to what the Job asks for. */
export async function managePods(control: JobControl, picture: Picture): Promise<Managed> {
  const { job, active } = picture;
  const { marks } = control;
  const wanted = isSuspended(job.spec) ? 0 : wantedActive(picture);
  const excess = podsToRemove(job, active, { atLeast: Math.max(0, active.length - wanted), marks });
  if (excess.length > 0) {
    // A suspended Job keeps none, however many there are.
    const pods = isSuspended(job.spec) ? excess : excess.slice(0, MOST_AT_ONCE);
    return removed(picture, await deleteEach(control, picture, { pods, untracked: true }));
  }
  const unchanged = { active: active.length, ready: picture.ready, terminating: picture.terminating };
  const leaving = replacesFailedOnly(job.spec) ? picture.terminating : 0;
  const missing = Math.min(wanted - active.length - leaving, MOST_AT_ONCE);
  if (missing <= 0) return unchanged;

  const { drafts, waitMs } = drafted(control, picture, missing);
  // As the reference has it: while it waits it tells of no active pods, even if there are some.
  if (waitMs > 0) return { ...unchanged, active: 0, waitMs };
  const made = await createEach(control, picture, drafts);
  return { ...unchanged, active: active.length + made.count, ...(made.failure && { failure: made.failure }) };
}

function wantedActive({ job: { spec }, active, succeeded }: Picture): number {
  const { completions, parallelism = 0 } = spec;
  // Without a number of completions the first success is the end: those at work may finish, no others begin.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

interface Drafts {
  readonly drafts: readonly PodInput[];
  /** Above 0: a failure is too recent. */
  readonly waitMs: number;
}

function drafted({ marks, clock }: JobControl, picture: Picture, count: number): Drafts {
  const { job, indexes, run } = picture;
  const perIndex = job.spec.backoffLimitPerIndex !== undefined;
  const waitMs = perIndex ? 0 : backoffLeft(run, clock.now());
  if (waitMs > 0) return { drafts: [], waitMs };
  if (indexes === undefined) return { drafts: Array.from({ length: count }, () => plainPod(job, marks)), waitMs };

  const free = freeIndexes(picture, indexes, { count, marks });
  const draft = (index: number) => indexedPod(job, marks, { index, replaced: indexes.toReplace.get(index) });
  if (!perIndex) return { drafts: free.map(draft), waitMs };
  const waits = free.map((index) => {
    const replaced = indexes.toReplace.get(index);
    if (replaced === undefined) return 0;
    const failures = allFailuresBefore(replaced, marks) + 1;
    return backoffLeft({ failures, lastMs: finishedAt(replaced) }, clock.now());
  });
  const now = free.filter((_index, at) => waits[at] === 0);
  return { drafts: now.map(draft), waitMs: now.length > 0 || waits.length === 0 ? 0 : Math.min(...waits) };
}

/** The first indexes that are neither done nor given up nor taken. */
function freeIndexes(
  { job, active, pods }: Picture,
  { completions, succeeded, failed }: IndexPicture,
  { count, marks }: { readonly count: number } & Pick<JobControl, 'marks'>,
): number[] {
  const takenBy = replacesFailedOnly(job.spec) ? [...active, ...pods.filter(isLeaving)] : active;
  const taken = IndexSet.of(takenBy.flatMap((pod) => indexOf(pod, marks) ?? []));
  return succeeded
    .union(taken)
    .union(failed ?? IndexSet.empty)
    .firstMissing(count, completions);
}

function isLeaving(pod: StoredPod): boolean {
  return isTerminating(pod) && pod.status.phase !== 'Succeeded' && pod.status.phase !== 'Failed';
}

interface Done {
  readonly count: number;
  readonly failure?: { readonly error: unknown };
}

/** More and more at a time, until one is refused: what is wrong with it is likely wrong with all of them. */
async function createEach(control: JobControl, { job }: Picture, drafts: readonly PodInput[]): Promise<Done> {
  let count = 0;
  let [from, size] = [0, 1];
  while (from < drafts.length) {
    const results = await Promise.allSettled(
      drafts.slice(from, from + size).map((pod) => createPod(control, pod, job)),
    );
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason);
    count += results.length - refused.length;
    if (refused.length > 0) {
      const error: unknown = refused.find((reason) => !isNamespaceTerminating(reason));
      return error === undefined ? { count } : { count, failure: { error } };
    }
    from += size;
    size *= 2;
  }
  return { count };
}

interface Gone extends Done {
  readonly ready: number;
}

async function deleteEach(
  control: JobControl,
  { job }: Picture,
  { pods, untracked = false }: { readonly pods: readonly StoredPod[]; readonly untracked?: boolean },
): Promise<Gone> {
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      if (untracked) await untrack(control.client, pod, control.marks);
      await deletePod(control, pod, job);
      return pod;
    }),
  );
  const gone = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const refused = results.find((result) => result.status === 'rejected');
  return {
    count: gone.length,
    ready: gone.filter(isPodReady).length,
    ...(refused && { failure: { error: refused.reason } }),
  };
}

function removed({ active, ready, terminating }: Picture, gone: Gone): Managed {
  return {
    active: active.length - gone.count,
    ready: ready - gone.ready,
    terminating: terminating + gone.count,
    ...(gone.failure && { failure: gone.failure }),
  };
}
