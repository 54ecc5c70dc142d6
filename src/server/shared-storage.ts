/**
 * Storage that several processes share: its store is opened for a cluster, and requests wait until it is current.
 */
import type { HookContext } from '../kinds/kind.js';
import type { Dialect } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import type { ApiRequest, Verb } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { timedOut, timeLimitOf } from '../protocol/time-limit.js';
import type { Registry } from '../registry/registry.js';
import type { Store } from '../storage/store.js';
import type { ObjectRange, SharedAccess } from '../storage/types.js';
import { type Clock, nextTurn, realTime, systemClock } from '../util/clock.js';
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
/** How long requests are handled before the event loop serves others. */
const MAX_TURN_MS = 10;

/** The verbs that change one object. */
const CHANGES: ReadonlySet<Verb> = new Set(['update', 'patch', 'delete']);

type RequestHandler = (request: ApiRequest) => MaybePromise<ApiResponse>;

/** Handles each request when the store is as current as it needs. Without a shared store, returns `handle` itself. */
export function handleWhenCurrent(
  { store, registry }: Pick<ServerContext, 'store' | 'registry'>,
  handle: RequestHandler,
): RequestHandler {
  const { shared } = store;
  if (shared === undefined) return handle;
  let spentMs = 0;
  let turn: Promise<void> | undefined;
  const endTurn = (): void => {
    turn = undefined;
    spentMs = 0;
  };
  return async (request) => {
    const until = systemClock.now() + timeLimitOf(request);
    const isCurrent = await (acceptsCached(request, store) ? shared.whenLoaded(until) : shared.whenCurrent(until));
    if (!isCurrent) throw timedOut(request.verb, RETRY_AFTER_SECONDS);
    // Requests become current together. If they take long, each of the next ones waits for a turn of its own.
    while (spentMs > MAX_TURN_MS) {
      turn ??= nextTurn().then(endTurn);
      await turn;
    }
    const range = rangeOf(request, registry);
    if (range !== undefined) requireReadable(shared, range);
    // It would do its work in vain while another write of the object is on its way.
    const own = range !== undefined && CHANGES.has(request.verb) ? shared.turnOf(range) : undefined;
    if (own !== undefined) await own;
    // Its client was told that it has failed.
    if (systemClock.now() > until) throw timedOut(request.verb, RETRY_AFTER_SECONDS);
    const began = realTime();
    try {
      return handle(request);
    } finally {
      spentMs += realTime() - began;
    }
  };
}

/** The objects of a request. A create finds out whether the name is taken. */
function rangeOf({ verb, resource, namespace, name }: ApiRequest, registry: Registry): ObjectRange | undefined {
  const served = verb === 'create' ? undefined : registry.byResource(resource);
  if (served === undefined) return undefined;
  return { storageKey: served.storageKey, namespace: served.namespaced ? namespace : '', name };
}

/** Rejects a request for objects that this process cannot read. */
function requireReadable(shared: SharedAccess, range: ObjectRange): void {
  const problem = shared.problemIn(range);
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
