/**
 * The schedules of CronJobs, read once each: the same text is asked for at every run.
 */
import { type CronSchedule, parseCron } from '../../text/time/cron.js';
import { isTimeZone } from '../../text/time/time-zone.js';
import type { StoredCronJob } from './due.js';

/** Texts that are kept; beyond that, all are read anew. */
const MOST_KEPT = 10_000;

export class Schedules {
  readonly #known = new Map<string, CronSchedule>();

  /** Throws a CronError. */
  of(spec: StoredCronJob['spec']): CronSchedule {
    const text = scheduleText(spec);
    let schedule = this.#known.get(text);
    if (schedule === undefined) {
      schedule = remembering(parseCron(text));
      if (this.#known.size >= MOST_KEPT) this.#known.clear();
      this.#known.set(text, schedule);
    }
    return schedule;
  }
}

/** One look asks for the same few runs several times over, and the next look begins with one of them. */
const REMEMBERED_RUNS = 4;

function remembering(schedule: CronSchedule): CronSchedule {
  const nextAfter = new Map<number, number | undefined>();
  return {
    next(afterMs, timeZone) {
      if (timeZone !== undefined) return schedule.next(afterMs, timeZone);
      if (nextAfter.has(afterMs)) return nextAfter.get(afterMs);
      const next = schedule.next(afterMs);
      for (const oldest of nextAfter.keys()) {
        if (nextAfter.size < REMEMBERED_RUNS) break;
        nextAfter.delete(oldest);
      }
      nextAfter.set(afterMs, next);
      return next;
    },
  };
}

/** Whether the schedule names its own zone, as was allowed once. */
export function namesZone({ schedule }: StoredCronJob['spec']): boolean {
  return schedule.includes('TZ');
}

function scheduleText(spec: StoredCronJob['spec']): string {
  const { schedule, timeZone } = spec;
  if (namesZone(spec) || timeZone === undefined || !isTimeZone(timeZone)) return schedule;
  return `TZ=${timeZone} ${schedule}`;
}
