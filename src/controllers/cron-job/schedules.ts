/**
 * The schedules of CronJobs, read once each: the same text is asked for at every run.
 */
import { type CronSchedule, parseCron } from '../../meta/cron.js';
import { isTimeZone } from '../../meta/time-zone.js';
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
      schedule = parseCron(text);
      if (this.#known.size >= MOST_KEPT) this.#known.clear();
      this.#known.set(text, schedule);
    }
    return schedule;
  }
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
