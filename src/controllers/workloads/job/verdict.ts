/**
 * When a Job is over, and how. A verdict is announced by one condition (SuccessCriteriaMet, FailureTarget), so that
 * everybody knows it while the last pods go; the one that ends the Job (Complete, Failed) comes when they are gone.
 */
import type { JobCondition, JobStatus, SuccessPolicyRule } from '../../../kinds/batch/v1/job/schema.js';
import type { DeepReadonly } from '../../../meta/object.js';
import { timeToMs } from '../../../text/time/time.js';
import type { StoredPod } from '../pod-state.js';
import { IndexSet } from './index-set.js';
import { hasFailed, type IndexPicture, isSuspended, type Picture, type StoredJob } from './picture.js';
import { judgeFailure } from './pod-failure-policy.js';

export interface Verdict {
  readonly end: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
  /** The status carries the condition that announces it. */
  readonly isAnnounced: boolean;
}

export const COMPLETIONS_REACHED: Verdict = {
  end: 'Complete',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
  isAnnounced: false,
};

/** The condition that announces an end. */
export function announcement({ end }: Verdict): JobCondition['type'] {
  return end === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
}

/** What follows from the pods that there are, before any are made or removed. */
export function verdictOn(picture: Picture, deadlineLeftMs: number | undefined): Verdict | undefined {
  const { job, indexes } = picture;
  return (
    announced(job, 'SuccessCriteriaMet') ??
    announced(job, 'FailureTarget') ??
    ruledOut(picture) ??
    pastLimit(picture) ??
    (deadlineLeftMs === 0 ? failure('DeadlineExceeded', 'Job was active longer than specified deadline') : undefined) ??
    (indexes && verdictOnIndexes(job, indexes))
  );
}

/** What is left of the time that a Job may run; undefined where there is no limit, or the clock does not run. */
export function deadlineLeft({ spec }: StoredJob, { startTime }: JobStatus, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(spec)) return undefined;
  return Math.max(0, timeToMs(startTime) + activeDeadlineSeconds * 1000 - nowMs);
}

/** Whether the pods that there will be (`active` of them) have done all that was asked for. */
export function isComplete({ job, succeeded }: Picture, active: number): boolean {
  return active === 0 && succeeded >= (job.spec.completions ?? 1);
}

function failure(reason: string, message: string): Verdict {
  return { end: 'Failed', reason, message, isAnnounced: false };
}

function announced({ status }: StoredJob, type: 'SuccessCriteriaMet' | 'FailureTarget'): Verdict | undefined {
  const condition = status.conditions?.find((candidate) => candidate.type === type && candidate.status === 'True');
  if (condition === undefined) return undefined;
  const { reason = '', message = '' } = condition;
  return { end: type === 'FailureTarget' ? 'Failed' : 'Complete', reason, message, isAnnounced: true };
}

function ruledOut({ job: { spec }, pods }: Picture): Verdict | undefined {
  if (spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const message = hasFailed(pod, spec) ? judgeFailure(spec.podFailurePolicy, pod).failsJob : undefined;
    if (message !== undefined) return failure('PodFailurePolicy', message);
  }
  return undefined;
}

function pastLimit({ job: { spec }, pods, failed }: Picture): Verdict | undefined {
  const { backoffLimit = 0 } = spec;
  const restartsInPlace = spec.template.spec?.restartPolicy === 'OnFailure';
  // A limit of 0 allows no restart at all, any other as many as it says, less one.
  const isPast = failed > backoffLimit || (restartsInPlace && restarts(pods) >= Math.max(1, backoffLimit));
  return isPast ? failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit') : undefined;
}

function restarts(pods: readonly StoredPod[]): number {
  let sum = 0;
  for (const { status } of pods) {
    if (status.phase !== 'Running' && status.phase !== 'Pending') continue;
    for (const { restartCount } of status.initContainerStatuses ?? []) sum += restartCount;
    for (const { restartCount } of status.containerStatuses ?? []) sum += restartCount;
  }
  return sum;
}

function verdictOnIndexes({ spec }: StoredJob, indexes: IndexPicture): Verdict | undefined {
  const { completions, succeeded, failed } = indexes;
  if (failed !== undefined) {
    if (spec.maxFailedIndexes !== undefined && failed.size > spec.maxFailedIndexes) {
      const message = 'Job has exceeded the specified maximal number of failed indexes';
      return failure('MaxFailedIndexesExceeded', message);
    }
    if (failed.size > 0 && failed.size + succeeded.size >= completions) {
      return failure('FailedIndexes', 'Job has failed indexes');
    }
  }
  const met = spec.successPolicy?.rules.findIndex((rule) => isMet(rule, indexes)) ?? -1;
  if (met < 0) return undefined;
  return { end: 'Complete', reason: 'SuccessPolicy', message: `Matched rules at index ${met}`, isAnnounced: false };
}

function isMet(rule: DeepReadonly<SuccessPolicyRule>, { completions, succeeded }: IndexPicture): boolean {
  const { succeededIndexes, succeededCount } = rule;
  if (succeeded.size === 0) return false;
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
  const wanted = IndexSet.parse(succeededIndexes, completions);
  if (wanted.size === 0) return false;
  return succeeded.overlap(wanted) >= Math.min(wanted.size, succeededCount ?? Infinity);
}
