/**
 * Which run of a CronJob is due. Only ever one: of several that were missed, the last. Pure; nothing here reads a clock.
 */
import type { CronJob } from '../../kinds/batch/v1/cron-job.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { CronSchedule } from '../../text/time/cron.js';
import { timeToMs } from '../../text/time/time.js';

export type StoredCronJob = ObjectOf<typeof CronJob>;

export interface Due {
  /** When the run should have begun; undefined: none is due. */
  readonly timeMs: number | undefined;
  /** So many were missed that something is likely wrong. */
  readonly isOneOfMany: boolean;
  /** The run after this moment is the next. */
  readonly nextAfterMs: number;
}

/** A schedule by which nothing ever runs, or not for years; the message is the reference's. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

export interface DueOptions {
  readonly nowMs: number;
  /** Runs that should have begun longer ago than this do not count. */
  readonly deadlineSeconds?: number | undefined;
}

const SECOND = 1_000;
const MANY = 100;

/** The last run that should have begun by now and has not. Throws a ScheduleError. */
export function lastDue(
  { metadata, status }: StoredCronJob,
  schedule: CronSchedule,
  { nowMs, deadlineSeconds = Infinity }: DueOptions,
): Due {
  const since = timeToMs(status.lastScheduleTime ?? metadata.creationTimestamp);
  const from = Math.max(since, nowMs - deadlineSeconds * SECOND);
  const first = nextOf(schedule, from);
  if (nowMs < first) return { timeMs: undefined, isOneOfMany: false, nextAfterMs: from };
  const second = nextOf(schedule, first);
  if (nowMs < second) return { timeMs: first, isOneOfMany: false, nextAfterMs: first };

  // What stood still for a year is not counted up run by run: the last but one is guessed from the distance of the first
  // two, and the rest is walked. Where distances differ the guess may pass over a run; the reference passes over the same.
  const apart = (second - first) / SECOND;
  const missed = Math.floor((nowMs - first) / SECOND / apart) + 1;
  let timeMs: number | undefined;
  let next = schedule.next(first + (missed - 2) * apart * SECOND);
  while (next !== undefined && next <= nowMs) {
    timeMs = next;
    next = schedule.next(next);
  }
  return { timeMs, isOneOfMany: missed > MANY, nextAfterMs: timeMs ?? nowMs };
}

/**
 * How long it is until the next run, after the one that is due if there is one; `due` where that is known, whatever the
 * deadline. Throws a ScheduleError.
 */
export function untilNext(cronJob: StoredCronJob, schedule: CronSchedule, nowMs: number, due?: Due): number {
  return nextOf(schedule, (due ?? lastDue(cronJob, schedule, { nowMs })).nextAfterMs) - nowMs;
}

function nextOf(schedule: CronSchedule, afterMs: number): number {
  const next = schedule.next(afterMs);
  if (next === undefined) throw new ScheduleError('time difference between two schedules is less than 1 second');
  return next;
}
