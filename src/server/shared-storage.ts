/**
 * Storage that several processes share: its store is opened for a cluster, and requests wait until it is current.
 */
import type { HookContext } from '../kinds/kind.js';
import type { Dialect } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { timedOut, timeLimitOf } from '../protocol/time-limit.js';
import type { Registry } from '../registry/registry.js';
import type { Store } from '../storage/store.js';
import type { SharedAccess } from '../storage/types.js';
import { type Clock, systemClock } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { ServerContext } from './context.js';

/** What a shared store needs of its cluster. */
export interface StoreHost {
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly registry: Registry;
  hookContext(): HookContext;
  /** Called when the objects were loaded, and when they had to be loaded again. */
  onLoaded(): Promise<void>;
}

/** How `createCluster` opens a {@link SharedStorage}. */
export type OpenStore = (host: StoreHost) => Store;

const RETRY_AFTER_SECONDS = 1;

type RequestHandler = (request: ApiRequest) => MaybePromise<ApiResponse>;

/** Handles each request when the store is as current as it needs. Without a shared store, returns `handle` itself. */
export function handleWhenCurrent(
  { store, registry }: Pick<ServerContext, 'store' | 'registry'>,
  handle: RequestHandler,
): RequestHandler {
  const { shared } = store;
  if (shared === undefined) return handle;
  return async (request) => {
    const until = systemClock.now() + timeLimitOf(request);
    const isCurrent = await (acceptsCached(request, store) ? shared.whenLoaded(until) : shared.whenCurrent(until));
    // Later, the client was told that the request has failed.
    if (!isCurrent || systemClock.now() > until) throw timedOut(request.verb, RETRY_AFTER_SECONDS);
    requireReadable(shared, request, registry);
    return handle(request);
  };
}

/** Rejects a request for objects that this process cannot read. A create finds out whether the name is taken. */
function requireReadable(
  shared: SharedAccess,
  { verb, resource, namespace, name }: ApiRequest,
  registry: Registry,
): void {
  const served = verb === 'create' ? undefined : registry.byResource(resource);
  if (served === undefined) return;
  const { storageKey } = served;
  const problem = shared.problemIn({ storageKey, namespace: served.namespaced ? namespace : '', name });
  if (problem !== undefined) throw errors.internal(problem);
}

/**
 * A read that names a version waits for that version only. A list may need exactly that one, which another server knows. A
 * watch gets everything that it does not know yet as events.
 */
function acceptsCached({ verb, options }: ApiRequest, { revision }: Store): boolean {
  const { resourceVersion, sendInitialEvents } = options;
  if (verb === 'watch' && sendInitialEvents !== true) return true;
  if (verb === 'list' && Number(resourceVersion) > revision) return false;
  return (verb === 'get' || verb === 'list' || verb === 'watch') && Boolean(resourceVersion);
}
