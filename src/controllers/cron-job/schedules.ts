/**
 * A cache of parsed schedules, because the same text is needed at every run.
 */
import { type CronSchedule, parseCron } from '../../text/time/cron.js';
import { isTimeZone } from '../../text/time/time-zone.js';
import type { StoredCronJob } from './due.js';

/** The maximum number of cached schedules; beyond it the cache is cleared. */
const MAX_CACHED_SCHEDULES = 10_000;

export class Schedules {
  readonly #cache = new Map<string, CronSchedule>();

  /** Throws a CronError. */
  of(spec: StoredCronJob['spec']): CronSchedule {
    const text = scheduleText(spec);
    let schedule = this.#cache.get(text);
    if (schedule === undefined) {
      schedule = withCachedRuns(parseCron(text));
      if (this.#cache.size >= MAX_CACHED_SCHEDULES) this.#cache.clear();
      this.#cache.set(text, schedule);
    }
    return schedule;
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
