/**
 * Decides whether and how a Job is finished. An interim condition (SuccessCriteriaMet, FailureTarget) announces the outcome
 * while the last pods terminate; the final condition (Complete, Failed) follows when they are gone.
 */

import type { JobCondition, JobStatus, SuccessPolicyRule } from '../../../kinds/generated/batch-v1.js';
import type { DeepReadonly } from '../../../meta/object.js';
import { timeToMs } from '../../../text/time/time.js';
import type { StoredPod } from '../pod-state.js';
import { IndexSet } from './index-set.js';
import {
  evaluateFailure,
  hasFailed,
  type IndexSnapshot,
  isSuspended,
  type JobSnapshot,
  type StoredJob,
} from './job-snapshot.js';

export interface JobOutcome {
  readonly end: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
  /** Whether the status already has the interim condition. */
  readonly isAnnounced: boolean;
}

export const COMPLETIONS_REACHED: JobOutcome = {
  end: 'Complete',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
  isAnnounced: false,
};

/** The interim condition of an outcome. */
export function interimCondition({ end }: JobOutcome): JobCondition['type'] {
  return end === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
}

/** The outcome that follows from the existing pods, before any are created or deleted. */
export function outcomeOf(snapshot: JobSnapshot, deadlineLeftMs: number | undefined): JobOutcome | undefined {
  const { job, indexes } = snapshot;
  return (
    announced(job, 'SuccessCriteriaMet') ??
    announced(job, 'FailureTarget') ??
    failedByPolicy(snapshot) ??
    failedByBackoffLimit(snapshot) ??
    (deadlineLeftMs === 0 ? failure('DeadlineExceeded', 'Job was active longer than specified deadline') : undefined) ??
    (indexes && outcomeOfIndexes(job, indexes))
  );
}

/** The remaining time of activeDeadlineSeconds; undefined if there is no deadline or it is not running. */
export function deadlineLeft({ spec }: StoredJob, { startTime }: JobStatus, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(spec)) return undefined;
  // A bigint above 2^53.
  return Math.max(0, timeToMs(startTime) + Number(activeDeadlineSeconds) * 1000 - nowMs);
}

/** Whether enough pods have succeeded, given the number of pods still active. */
export function isComplete({ job, succeeded }: JobSnapshot, active: number): boolean {
  return active === 0 && succeeded >= (job.spec.completions ?? 1);
}

function failure(reason: string, message: string): JobOutcome {
  return { end: 'Failed', reason, message, isAnnounced: false };
}

function announced({ status }: StoredJob, type: 'SuccessCriteriaMet' | 'FailureTarget'): JobOutcome | undefined {
  const condition = status.conditions?.find((candidate) => candidate.type === type && candidate.status === 'True');
  if (condition === undefined) return undefined;
  const { reason = '', message = '' } = condition;
  return { end: type === 'FailureTarget' ? 'Failed' : 'Complete', reason, message, isAnnounced: true };
}

function failedByPolicy({ job: { spec }, pods }: JobSnapshot): JobOutcome | undefined {
  if (spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const message = hasFailed(pod, spec) ? evaluateFailure(spec.podFailurePolicy, pod).failsJob : undefined;
    if (message !== undefined) return failure('PodFailurePolicy', message);
  }
  return undefined;
}

function failedByBackoffLimit({ job: { spec }, pods, failed }: JobSnapshot): JobOutcome | undefined {
  const { backoffLimit = 0 } = spec;
  const restartsInPlace = spec.template.spec?.restartPolicy === 'OnFailure';
  // As in the reference server: limit 0 and limit 1 both allow no restart.
  // upstream: pkg/controller/job/job_controller.go pastBackoffLimitOnFailure
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

function outcomeOfIndexes({ spec }: StoredJob, indexes: IndexSnapshot): JobOutcome | undefined {
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

function isMet(rule: DeepReadonly<SuccessPolicyRule>, { completions, succeeded }: IndexSnapshot): boolean {
  const { succeededIndexes, succeededCount } = rule;
  if (succeeded.size === 0) return false;
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
  const wanted = IndexSet.parse(succeededIndexes, completions);
  if (wanted.size === 0) return false;
  return succeeded.overlap(wanted) >= Math.min(wanted.size, succeededCount ?? Infinity);
}
