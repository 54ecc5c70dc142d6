/**
 * Deletes finished Jobs with `ttlSecondsAfterFinished` when that time has passed, with foreground propagation.
 */
import { Job } from '../kinds/batch/v1/job/job.js';
import { timeToMs } from '../text/time/time.js';
import type { Controller } from './runtime/controller.js';
import { ignoreNotFound } from './runtime/expected-errors.js';
import { splitKey } from './runtime/shared-informer.js';
import { finishedCondition, type StoredJob } from './workloads/job/job-snapshot.js';

/**
 * Deletes finished Jobs when their TTL has expired.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([jobs(), ttlAfterFinished()]) });
 */
export function ttlAfterFinished(): Controller {
  return {
    name: 'ttl-after-finished-controller',
    account: 'ttl-after-finished-controller',
    needs: [Job],
    start(context) {
      const jobs = context.informer(Job);

      const queue = context.queue(async (key) => {
        const { name, namespace } = splitKey(key);
        const seen = jobs.at(key);
        const leftMs = seen === undefined ? undefined : timeLeft(seen, context.clock.now());
        if (leftMs === undefined || leftMs > 0) return { requeueAfterMs: leftMs };
        // The informer may be behind: the TTL may just have been extended.
        const job = await context.client.api(Job, namespace).find(name);
        const stillMs = job === undefined ? undefined : timeLeft(job, context.clock.now());
        if (job === undefined || stillMs === undefined || stillMs > 0) return { requeueAfterMs: stillMs };
        const preconditions = { uid: job.metadata.uid };
        await ignoreNotFound(
          context.client.api(Job, namespace).delete(name, { propagation: 'Foreground', preconditions }),
        );
        return {};
      });

      jobs.onKey((key, { type, object }) => {
        if (type !== 'DELETED' && timeLeft(object, context.clock.now()) !== undefined) queue.add(key);
      });
    },
  };
}

/** The remaining time of a finished Job; undefined if it has no TTL, is not finished or is being deleted. */
function timeLeft({ metadata, spec, status }: StoredJob, nowMs: number): number | undefined {
  const { ttlSecondsAfterFinished: ttl } = spec;
  if (ttl === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const since = finishedCondition({ status })?.lastTransitionTime;
  if (since === undefined || since === null) return undefined;
  return Math.max(0, timeToMs(since) + ttl * 1000 - nowMs);
}
