/**
 * Controllers of lifetimes: they delete Events an hour after their last write (in a real cluster the storage does this with a
 * lease on the key), delete finished Jobs with `ttlSecondsAfterFinished` in the foreground, and write the annotation that tells
 * kubelets how long they may cache Secrets and ConfigMaps, which grows with the number of nodes.
 */

import { mergePatch } from '../client/patches.js';
import { Job } from '../kinds/batch/v1/job/job.js';
import { CoreEvent } from '../kinds/core/v1/event.js';
import { Node } from '../kinds/core/v1/node/node.js';
import type { ObjectOf } from '../kinds/kind.js';
import { timeToMs } from '../text/time/time.js';
import type { Controller } from './runtime/controller.js';
import { ignoreNotFound } from './runtime/expected-errors.js';
import { splitKey } from './runtime/shared-informer.js';
import { finishedCondition, type StoredJob } from './workloads/job/job-snapshot.js';

export interface EventTtlOptions {
  /** How long an event is kept after its last write; an hour unless given. */
  readonly ttlMs?: number | undefined;
}

const HOUR_MS = 3_600_000;

/**
 * Deletes Events that have not been written for `ttlMs`. core/v1 and events.k8s.io Events are the same objects.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([eventTtl({ ttlMs: 600_000 })]) });
 */
export function eventTtl({ ttlMs = HOUR_MS }: EventTtlOptions = {}): Controller {
  if (!(ttlMs > 0)) throw new TypeError('orchplane: ttlMs must be greater than 0');
  return {
    name: 'event-ttl',
    // No account: in a real cluster this is done by the storage, without authorization.
    needs: [CoreEvent],
    start({ client, clock, informer, queue: createQueue }) {
      const events = informer(CoreEvent);
      const writtenMs = new Map<string, number>();

      const queue = createQueue(async (key) => {
        const event = events.at(key);
        if (event === undefined) return undefined;
        const leftMs = (writtenMs.get(key) ?? 0) + ttlMs - clock.now();
        if (leftMs > 0) return { requeueAfterMs: leftMs };
        const { name, namespace } = splitKey(key);
        const { uid, resourceVersion } = event.metadata;
        await ignoreNotFound(
          client.api(CoreEvent, namespace).delete(name, { preconditions: { uid, resourceVersion } }),
        );
        return undefined;
      });

      events.onKey((key, { type, object }) => {
        if (type === 'DELETED') {
          writtenMs.delete(key);
          queue.cancelDelay(key);
          return;
        }
        const written = type === 'ADDED' ? lastWritten(object) : clock.now();
        writtenMs.set(key, written);
        queue.addAfter(key, written + ttlMs - clock.now());
      });
    },
  };
}

/** The last write according to the object, for events that existed before the informer started. */
function lastWritten({ metadata }: ObjectOf<typeof CoreEvent>): number {
  const times = (metadata.managedFields ?? []).flatMap(({ time }) => (time === undefined ? [] : [timeToMs(time)]));
  return Math.max(timeToMs(metadata.creationTimestamp), ...times);
}

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

/** TTL by number of nodes. The ranges overlap, so that adding and removing one node does not change all annotations. */
const STEPS = [
  { atLeast: 0, atMost: 100, seconds: 0 },
  { atLeast: 90, atMost: 500, seconds: 15 },
  { atLeast: 450, atMost: 1_000, seconds: 30 },
  { atLeast: 900, atMost: 2_000, seconds: 60 },
  { atLeast: 1_800, atMost: Infinity, seconds: 300 },
] as const;

/**
 * Maintains the TTL annotation of nodes.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([nodeTtl()]) });
 */
export function nodeTtl(): Controller {
  return {
    name: 'ttl-controller',
    account: 'ttl-controller',
    needs: [Node],
    start(context) {
      const nodes = context.informer(Node);
      const annotation = context.dialect.subkey('node.alpha', 'ttl');
      let count = 0;
      let step = 0;

      const queue = context.queue(async (name) => {
        const seconds = STEPS[step]?.seconds ?? 0;
        const node = nodes.get(name);
        if (node === undefined || Number(node.metadata.annotations?.[annotation] ?? Number.NaN) === seconds) return;
        const annotations = { [annotation]: String(seconds) };
        await ignoreNotFound(context.client.api(Node).patch(name, mergePatch({ metadata: { annotations } })));
      });

      nodes.onKey((name, { type }) => {
        if (type !== 'MODIFIED') count += type === 'ADDED' ? 1 : -1;
        const before = step;
        while (count > (STEPS[step]?.atMost ?? Infinity)) step++;
        while (count < (STEPS[step]?.atLeast ?? 0)) step--;
        if (type !== 'DELETED') queue.add(name);
        if (step !== before) for (const { metadata } of nodes.list()) queue.add(metadata.name);
      });
    },
  };
}
