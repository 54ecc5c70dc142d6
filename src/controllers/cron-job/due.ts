/**
 * Computes which run of a CronJob is due: of several missed runs only the last. Pure functions.
 */
import type { CronJob } from '../../kinds/batch/v1/cron-job.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { CronSchedule } from '../../text/time/cron.js';
import { timeToMs } from '../../text/time/time.js';

export type StoredCronJob = ObjectOf<typeof CronJob>;

export interface Due {
  /** The scheduled time of the run; undefined: none is due. */
  readonly timeMs: number | undefined;
  /** So many runs were missed that something is probably wrong. */
  readonly hasManyMissed: boolean;
  /** The next run is the first one after this time. */
  readonly nextAfterMs: number;
}

/** A schedule that never runs, or not for years; the message is the reference server's. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

export interface DueOptions {
  readonly nowMs: number;
  /** Runs scheduled longer ago than this are ignored. */
  readonly deadlineSeconds?: number | undefined;
}

const SECOND = 1_000;
const MANY = 100;

/** The last run that should have started by now and has not. Throws a ScheduleError. */
export function lastDue(
  { metadata, status }: StoredCronJob,
  schedule: CronSchedule,
  { nowMs, deadlineSeconds = Infinity }: DueOptions,
): Due {
  const since = timeToMs(status.lastScheduleTime ?? metadata.creationTimestamp);
  const from = Math.max(since, nowMs - deadlineSeconds * SECOND);
  const first = nextOf(schedule, from);
  if (nowMs < first) return { timeMs: undefined, hasManyMissed: false, nextAfterMs: from };
  const second = nextOf(schedule, first);
  if (nowMs < second) return { timeMs: first, hasManyMissed: false, nextAfterMs: first };

  // Many missed runs are not enumerated: the last but one is estimated from the distance of the first two, and the rest is
  // iterated. With irregular distances the estimate may skip a run; the reference server skips the same one.
  const distance = (second - first) / SECOND;
  const missed = Math.floor((nowMs - first) / SECOND / distance) + 1;
  let timeMs: number | undefined;
  let next = schedule.next(first + (missed - 2) * distance * SECOND);
  while (next !== undefined && next <= nowMs) {
    timeMs = next;
    next = schedule.next(next);
  }
  return { timeMs, hasManyMissed: missed > MANY, nextAfterMs: timeMs ?? nowMs };
}

/**
 * The time until the next run, after the one that is due. `due` avoids computing it again; it must ignore the deadline. Throws
 * a ScheduleError.
 */
export function untilNext(cronJob: StoredCronJob, schedule: CronSchedule, nowMs: number, due?: Due): number {
  return nextOf(schedule, (due ?? lastDue(cronJob, schedule, { nowMs })).nextAfterMs) - nowMs;
}

function nextOf(schedule: CronSchedule, afterMs: number): number {
  const next = schedule.next(afterMs);
  if (next === undefined) throw new ScheduleError('time difference between two schedules is less than 1 second');
  return next;
}
