/**
 * The runs of a CronJob: the parsed schedule, the run that is due (of several missed runs only the last), and its Job. Pure
 * functions, except for the cache of schedules.
 */

import type { CronJob } from '../../kinds/batch/v1/cron-job.js';
import type { JobInput } from '../../kinds/generated/batch-v1.js';
import type { ObjectReference } from '../../kinds/generated/core-v1.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { DeepReadonly } from '../../meta/object.js';
import type { CronSchedule } from '../../text/time/cron.js';
import { parseCron } from '../../text/time/cron.js';
import { timeToMs } from '../../text/time/time.js';
import { formatInZone, isTimeZone } from '../../text/time/time-zone.js';
import { getOrInsertComputed } from '../../util/once.js';
import { controllerReference } from '../runtime/owners.js';
import type { StoredJob } from '../workloads/job/job-snapshot.js';

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
  /** Runs scheduled longer ago than this are ignored. A bigint above 2^53. */
  readonly deadlineSeconds?: number | bigint | undefined;
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
  const from = Math.max(since, nowMs - Number(deadlineSeconds) * SECOND);
  const first = nextOf(schedule, from);
  if (nowMs < first) return { timeMs: undefined, hasManyMissed: false, nextAfterMs: from };
  const second = nextOf(schedule, first);
  if (nowMs < second) return { timeMs: first, hasManyMissed: false, nextAfterMs: first };

  // Many missed runs are not enumerated: the last but one is estimated from the distance of the first two, and the rest is
  // iterated. With irregular distances the estimate may skip a run; the reference server skips the same one.
  // upstream: pkg/controller/cronjob/utils.go mostRecentScheduleTime
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

/** Parsed schedules, because a CronJob needs its own at every run. They last as long as its spec: a text may be long. */
export class Schedules {
  readonly #cache = new WeakMap<StoredCronJob['spec'], CronSchedule>();

  /** Throws a CronError. */
  of(spec: StoredCronJob['spec']): CronSchedule {
    return getOrInsertComputed(this.#cache, spec, () => withCachedRuns(parseCron(scheduleText(spec))));
  }
}

/** A reconcile asks for the same few runs several times, and the next one starts with one of them. */
const MAX_CACHED_RUNS = 4;

function withCachedRuns(schedule: CronSchedule): CronSchedule {
  const nextAfter = new Map<number, number | undefined>();
  return {
    next(afterMs, timeZone) {
      if (timeZone !== undefined) return schedule.next(afterMs, timeZone);
      if (nextAfter.has(afterMs)) return nextAfter.get(afterMs);
      const next = schedule.next(afterMs);
      for (const oldest of nextAfter.keys()) {
        if (nextAfter.size < MAX_CACHED_RUNS) break;
        nextAfter.delete(oldest);
      }
      nextAfter.set(afterMs, next);
      return next;
    },
  };
}

/** Whether the schedule contains a time zone, which is no longer supported. */
export function namesZone({ schedule }: StoredCronJob['spec']): boolean {
  return schedule.includes('TZ');
}

function scheduleText(spec: StoredCronJob['spec']): string {
  const { schedule, timeZone } = spec;
  if (namesZone(spec) || timeZone === undefined || !isTimeZone(timeZone)) return schedule;
  return `TZ=${timeZone} ${schedule}`;
}

const MINUTE = 60_000;

/** The deterministic name of a run's Job, so that no run is started twice. */
export function jobNameAt({ metadata }: StoredCronJob, dueMs: number): string {
  return `${metadata.name}-${Math.floor(dueMs / MINUTE)}`;
}

type NamedJobInput = DeepReadonly<JobInput> & { readonly metadata: { readonly name: string } };

export function jobFor(
  cronJob: StoredCronJob,
  { dueMs, dialect }: { readonly dueMs: number; readonly dialect: Dialect },
): NamedJobInput {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec;
  const { labels } = jobTemplate.metadata;
  const annotations: Record<string, string> = { ...jobTemplate.metadata.annotations };
  annotations[dialect.subkey('batch', 'cronjob-scheduled-timestamp')] = formatInZone(dueMs, timeZone);
  const name = jobNameAt(cronJob, dueMs);
  const ownerReferences = [controllerReference(cronJob)];
  return {
    metadata:
      labels === undefined ? { name, annotations, ownerReferences } : { name, labels, annotations, ownerReferences },
    spec: jobTemplate.spec,
  };
}

export function referenceTo({ apiVersion, kind, metadata }: StoredJob): ObjectReference {
  const { name, namespace = '', uid, resourceVersion } = metadata;
  return { kind, namespace, name, uid, apiVersion, resourceVersion };
}
