/**
 * Deletes Events an hour after their last write. In a real cluster the storage does this with a lease on the key; here it is
 * a controller.
 */
import { CoreEvent } from '../kinds/core/v1/event.js';
import type { ObjectOf } from '../kinds/kind.js';
import { timeToMs } from '../text/time/time.js';
import type { Controller } from './runtime/controller.js';
import { ignoreNotFound } from './runtime/expected-errors.js';
import { splitKey } from './runtime/shared-informer.js';

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
