/**
 * Keeps a server from running out of memory, which would end the process: when the heap is nearly full, writes are
 * refused until objects have been deleted. Reads, watches and deletions continue.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Cluster } from '../cluster/cluster.js';
import { errors, StatusError } from '../meta/errors.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { ApiRequest } from '../protocol/request.js';
import type { Next } from '../server/middleware.js';
import { systemClock } from '../util/clock.js';

export interface HeapGuardOptions {
  /** The bytes that the heap may use. */
  readonly maxHeap: number;
  readonly warn: (text: string) => void;
}

/** What a guard needs of a cluster. */
type GuardedCluster = Pick<Cluster, 'use' | 'kinds'>;

/** Writes are refused above this part of the limit, and allowed again below the other. */
const FULL = 0.85;
const FREE = 0.75;
/** How long after a refused write the next one collects garbage, which takes up to a second. */
const COLLECT_AFTER_MS = 5_000;
/** How often the heap is measured if its limit is lower than Node's. */
const CHECK_MS = 500;
const MEBIBYTE = 1024 * 1024;
const GROWING_VERBS: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/** The largest heap that this process can have. Node derives it from the memory of the machine. */
export function heapSizeLimit(): number {
  return getHeapStatistics().heap_size_limit;
}

/** Measures the heap after each full garbage collection, when it contains little else than what is in use. */
export function guardHeap(cluster: GuardedCluster, { maxHeap, warn }: HeapGuardOptions): Disposable {
  let allowWrites: (() => void) | undefined;
  let collectedAt = 0;
  const check = (): void => {
    const used = getHeapStatistics().used_heap_size;
    if (allowWrites === undefined && used > maxHeap * FULL) {
      const usage = `${inMebibytes(used)} of ${inMebibytes(maxHeap)} MiB are in use`;
      warn(`memory is nearly exhausted (${usage}); writes are refused until objects are deleted`);
      allowWrites = cluster.use(async (request, next) => {
        if (!mayStoreMore(request, cluster) || (await isBeingDeleted(request, next))) return next();
        // Deletions alone do not cause a garbage collection.
        if (systemClock.now() > collectedAt + COLLECT_AFTER_MS) {
          collectGarbage();
          collectedAt = systemClock.now();
          check();
        }
        if (allowWrites === undefined) return next();
        throw errors.serviceUnavailable(`the memory of the server is exhausted: ${usage}; delete objects first`);
      });
    } else if (allowWrites !== undefined && used < maxHeap * FREE) {
      warn('memory is available; writes are allowed again');
      allowWrites();
      allowWrites = undefined;
    }
  };
  const observer = new PerformanceObserver((list) => {
    const isFull = ({ detail }: { entryType: string; detail?: unknown }): boolean =>
      (detail as { kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR;
    if (list.getEntries().some(isFull)) check();
  });
  observer.observe({ entryTypes: ['gc'] });
  const collectWhenFull = (): void => {
    // While writes are refused, the next of them collects.
    const isDue = allowWrites === undefined && systemClock.now() >= collectedAt + CHECK_MS * 2;
    if (!isDue || getHeapStatistics().used_heap_size <= maxHeap * FULL) return;
    collectGarbage();
    collectedAt = systemClock.now();
    check();
  };
  // Node collects garbage for its own limit only.
  const timer = maxHeap < heapSizeLimit() ? setInterval(collectWhenFull, CHECK_MS).unref() : undefined;
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      observer.disconnect();
      allowWrites?.();
    },
  };
}

/** Whether a request can add to what is stored. */
function mayStoreMore({ verb, resource, subresource = '', options }: ApiRequest, cluster: GuardedCluster): boolean {
  if (!GROWING_VERBS.has(verb) || options.dryRun !== undefined || subresource === 'finalize') return false;
  // Eviction, token requests and the like.
  if (verb === 'create' && subresource !== '') return false;
  return isStored(resource, cluster);
}

/** False for kinds whose objects are computed, such as access reviews. */
export function isStored(resource: GroupVersionResource, cluster: Pick<Cluster, 'kinds'>): boolean {
  return cluster.kinds().find(({ gvr }) => sameResource(gvr, resource))?.kind.virtual === undefined;
}

function sameResource(one: GroupVersionResource, other: GroupVersionResource): boolean {
  return one.group === other.group && one.version === other.version && one.resource === other.resource;
}

/** Objects with finalizers disappear only after updates. */
async function isBeingDeleted(request: ApiRequest, next: Next): Promise<boolean> {
  if (request.name === undefined) return false;
  const { body: _body, patchType: _patchType, authorized: _authorized, ...rest } = request;
  const get: ApiRequest = { ...rest, verb: 'get', subresource: undefined, options: {} };
  try {
    const live = await next(get);
    return live.type === 'object' && 'metadata' in live.object && 'deletionTimestamp' in live.object.metadata;
  } catch (error) {
    // The object does not exist, or the user may not read it.
    if (StatusError.is(error)) return false;
    throw error;
  }
}

/** Node provides the function only with this flag. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function inMebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE);
}
