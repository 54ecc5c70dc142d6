/**
 * Validates the status of a Job. Other controllers may manage a Job, so the status must satisfy what clients rely on:
 * terminal conditions stay, counters do not decrease, fields are consistent. Most rules apply only to what an update
 * changes, so that an invalid live status does not block other updates.
 */

import { childPath, duplicate, type FieldError, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { goTimeString, timeToMs } from '../../../../text/time/time.js';
import { append } from '../../../../util/arrays.js';
import { deepEqual } from '../../../../util/json.js';
import type { JobCondition, JobSpec, JobStatus, UncountedTerminatedPods } from '../../../generated/batch-v1.js';
import { nonNegative } from '../../../shared/field-rules.js';
import { indexesProblem, overlappingIndex } from './indexes.js';
import { invalidWithoutValue } from './validate-policies.js';

interface JobState {
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

/** Validates a status update. Without `strict` only the rules that older releases have apply. */
export function jobStatusProblems(next: JobState, live: JobState, strict: boolean): FieldError[] {
  const known = compare(next, live);
  return [
    ...countProblems(next.status),
    ...uncountedProblems('status.uncountedTerminatedPods', next.status.uncountedTerminatedPods),
    ...(strict ? [...endProblems(known), ...indexProblems(known), ...podProblems(known)] : []),
    ...successProblems(known),
    ...(strict ? transitionProblems(known) : []),
    ...successTransitionProblems(known),
  ];
}

type ConditionType = JobCondition['type'];

/** The terminal conditions of a status. */
interface Ending {
  readonly complete: boolean;
  readonly failed: boolean;
  readonly finished: boolean;
  readonly failureTarget: boolean;
  readonly successCriteriaMet: boolean;
}

interface Comparison extends JobState {
  readonly live: JobState;
  readonly now: Ending;
  readonly before: Ending;
  ends(part: keyof Ending): boolean;
  changed(field: keyof JobStatus): boolean;
}

function compare(next: JobState, live: JobState): Comparison {
  const [now, before] = [endingOf(next.status), endingOf(live.status)];
  return {
    live,
    now,
    before,
    ends: (part) => now[part] !== before[part],
    changed: (field) => !deepEqual(next.status[field], live.status[field]),
    spec: next.spec,
    status: next.status,
  };
}

function endingOf(status: JobStatus): Ending {
  const [complete, failed] = [isTrue(status, 'Complete'), isTrue(status, 'Failed')];
  return {
    complete,
    failed,
    finished: complete || failed,
    failureTarget: isTrue(status, 'FailureTarget'),
    successCriteriaMet: isTrue(status, 'SuccessCriteriaMet'),
  };
}

function isTrue({ conditions = [] }: JobStatus, type: ConditionType): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

const CONDITIONS = 'status.conditions';

function countProblems(status: JobStatus): FieldError[] {
  const fields = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;
  return fields.flatMap((field) => nonNegative(`status.${field}`, status[field]));
}

function uncountedProblems(path: string, pods: UncountedTerminatedPods | undefined): FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (pods?.[list] ?? []).flatMap((uid, index) => {
      const uidPath = keyPath(childPath(path, list), index);
      if (uid === '') return [invalid(uidPath, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(uidPath, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function endProblems({ status, now, ends, changed }: Comparison): FieldError[] {
  const { startTime, completionTime, active = 0, uncountedTerminatedPods: pods } = status;
  const problems: FieldError[] = [];
  const condition = (detail: string) => problems.push(invalidWithoutValue(CONDITIONS, detail));
  if ((ends('complete') || ends('failed')) && now.complete && now.failed) {
    condition('cannot set Complete=True and Failed=true conditions');
  }
  if ((ends('complete') || ends('failureTarget')) && now.complete && now.failureTarget) {
    condition('cannot set Complete=True and FailureTarget=true conditions');
  }
  if (ends('complete') || changed('completionTime')) append(problems, completionTimeProblems(completionTime, now));
  if (changed('startTime') || changed('completionTime')) append(problems, timeOrderProblems(startTime, completionTime));
  if ((ends('failed') || changed('failedIndexes')) && now.failed && !now.failureTarget) {
    condition('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if ((ends('complete') || ends('successCriteriaMet')) && now.complete && !now.successCriteriaMet) {
    condition('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
  if ((ends('finished') || changed('active')) && now.finished && active > 0) {
    problems.push(invalid('status.active', active, 'active>0 is invalid for finished job'));
  }
  if ((ends('finished') || changed('startTime')) && now.finished && startTime === undefined) {
    problems.push(required('status.startTime', 'startTime is required for finished job'));
  }
  if ((ends('finished') || changed('uncountedTerminatedPods')) && now.finished && hasPods(pods)) {
    const detail = 'uncountedTerminatedPods needs to be empty for finished job';
    problems.push(invalid('status.uncountedTerminatedPods', dumpPods(pods), detail));
  }
  return problems;
}

function completionTimeProblems(time: string | undefined, { complete }: Ending): FieldError[] {
  const path = 'status.completionTime';
  if (time !== undefined && !complete) {
    return [invalid(path, dumpTime(time), 'cannot set completionTime when there is no Complete=True condition')];
  }
  return time === undefined && complete ? [required(path, 'completionTime is required for Complete jobs')] : [];
}

function timeOrderProblems(start: string | undefined, completion: string | undefined): FieldError[] {
  if (start === undefined || completion === undefined || timeToMs(completion) >= timeToMs(start)) return [];
  return [invalid('status.completionTime', dumpTime(completion), 'must be equal to or after `startTime`')];
}

function dumpTime(time: string) {
  return verbatim(goTimeString(time));
}

function hasPods(pods: UncountedTerminatedPods | undefined): pods is UncountedTerminatedPods {
  return (pods?.succeeded ?? []).length + (pods?.failed ?? []).length > 0;
}

function dumpPods({ succeeded, failed }: UncountedTerminatedPods) {
  const list = (uids: readonly string[] | undefined) =>
    uids === undefined ? '[]types.UID(nil)' : `[]types.UID{${uids.map(quote).join(', ')}}`;
  return verbatim(`batch.UncountedTerminatedPods{Succeeded:${list(succeeded)}, Failed:${list(failed)}}`);
}

function indexProblems({ spec, status, changed }: Comparison): FieldError[] {
  const { completions, backoffLimitPerIndex, completionMode } = spec;
  const { completedIndexes = '', failedIndexes } = status;
  const [completedPath, failedPath] = ['status.completedIndexes', 'status.failedIndexes'];
  const problems: FieldError[] = [];
  const completedChanged = changed('completedIndexes');
  const failedChanged = failedIndexes !== undefined && changed('failedIndexes');
  if (completedChanged && completions !== undefined) {
    const why = indexesProblem(completedIndexes, completions);
    if (why !== undefined) {
      problems.push(invalid(completedPath, completedIndexes, `error parsing completedIndexes: ${why}`));
    }
  }
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    const why = indexesProblem(failedIndexes, completions);
    if (why !== undefined) problems.push(invalid(failedPath, failedIndexes, `error parsing failedIndexes: ${why}`));
  }
  if (completedChanged && completedIndexes !== '' && completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    problems.push(invalid(completedPath, completedIndexes, detail));
  }
  if (failedChanged && backoffLimitPerIndex === undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    problems.push(invalid(failedPath, failedIndexes, detail));
  }
  if ((failedChanged || completedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const overlap = overlappingIndex(completedIndexes, failedIndexes, completions);
    if (overlap !== undefined) {
      const detail = `failedIndexes and completedIndexes overlap at index: ${overlap}`;
      problems.push(invalid(failedPath, failedIndexes, detail));
    }
  }
  return problems;
}

function podProblems({ status, now, ends, changed }: Comparison): FieldError[] {
  const { terminating = 0, ready, active = 0 } = status;
  const problems: FieldError[] = [];
  if ((ends('finished') || changed('terminating')) && now.finished && terminating > 0) {
    problems.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  }
  if ((changed('ready') || changed('active')) && ready !== undefined && ready > active) {
    problems.push(invalid('status.ready', ready, 'cannot set more ready pods than active'));
  }
  return problems;
}

function successProblems({ spec, now }: Comparison): FieldError[] {
  const problems: FieldError[] = [];
  const condition = (detail: string) => problems.push(invalidWithoutValue(CONDITIONS, detail));
  if (now.successCriteriaMet && now.failed) condition('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (now.successCriteriaMet && now.failureTarget) {
    condition('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  }
  if (spec.successPolicy !== undefined && !now.successCriteriaMet && now.complete) {
    condition('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
  return problems;
}

const TERMINAL: readonly ConditionType[] = ['Failed', 'Complete', 'FailureTarget'];

function transitionProblems({ spec, status, live, changed }: Comparison): FieldError[] {
  const problems = TERMINAL.filter((type) => isTrue(live.status, type) && !isTrue(status, type)).map((type) =>
    invalidWithoutValue(CONDITIONS, `cannot disable the terminal ${type}=True condition`),
  );
  // An elastic indexed Job that shrinks loses the results of the removed indexes.
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const counter of mayShrink ? (['failed'] as const) : (['failed', 'succeeded'] as const)) {
    const count = status[counter] ?? 0;
    if (count >= (live.status[counter] ?? 0)) continue;
    problems.push(invalid(`status.${counter}`, count, `cannot decrease the ${counter} counter`));
  }
  const { completionTime } = status;
  if (completionTime !== undefined && live.status.completionTime !== undefined && changed('completionTime')) {
    problems.push(invalid('status.completionTime', dumpTime(completionTime), 'field is immutable'));
  }
  // A resumed Job gets a new start time. The first patch releases of the reference server rejected that, so that a
  // started Job could not be resumed.
  const isResumed = isTrue(live.status, 'Suspended') && !isTrue(status, 'Suspended') && status.startTime !== undefined;
  if (live.status.startTime !== undefined && changed('startTime') && spec.suspend !== true && !isResumed) {
    problems.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'));
  }
  return problems;
}

function successTransitionProblems({ now, before }: Comparison): FieldError[] {
  const problems: FieldError[] = [];
  if (before.successCriteriaMet && !now.successCriteriaMet) {
    problems.push(invalidWithoutValue(CONDITIONS, 'cannot disable the SuccessCriteriaMet=True condition'));
  }
  if (before.complete && !before.successCriteriaMet && now.successCriteriaMet) {
    const detail = 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions';
    problems.push(invalidWithoutValue(CONDITIONS, detail));
  }
  return problems;
}
