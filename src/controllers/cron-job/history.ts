/**
 * Which finished Jobs a CronJob keeps no longer: per outcome those beyond its limit, the earliest first.
 */
import { endOf, type StoredJob } from '../workloads/job/picture.js';
import type { StoredCronJob } from './due.js';

export function historyBeyondLimits({ spec }: StoredCronJob, jobs: readonly StoredJob[]): StoredJob[] {
  const complete: StoredJob[] = [];
  const failed: StoredJob[] = [];
  for (const job of jobs) {
    const end = endOf(job);
    if (end !== undefined) (end.type === 'Complete' ? complete : failed).push(job);
  }
  return [...beyond(complete, spec.successfulJobsHistoryLimit), ...beyond(failed, spec.failedJobsHistoryLimit)];
}

function beyond(jobs: readonly StoredJob[], limit = Infinity): readonly StoredJob[] {
  if (jobs.length <= limit) return [];
  return [...jobs].sort(byStart).slice(0, jobs.length - limit);
}

/** Those that never started come last; names decide between equals. Stored times are in the order of their texts. */
function byStart(a: StoredJob, b: StoredJob): number {
  const [first, second] = [a.status.startTime ?? NEVER, b.status.startTime ?? NEVER];
  if (first !== second) return first < second ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/** After every time. */
const NEVER = '~';
