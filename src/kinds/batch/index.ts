/**
 * The batch group.
 */
import type { Kind } from '../kind.js';
import { CronJob } from './v1/cron-job.js';
import { Job } from './v1/job/job.js';

export { CronJob, Job };

/** The kinds of the group, in the order of discovery. */
export const batchKinds: readonly Kind[] = [CronJob, Job];
