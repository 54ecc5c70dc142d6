/**
 * Middleware: functions around every request, for faults, delays, tracing and request logs. A middleware may change a
 * request, respond to it, delay it or pass it on.
 */
import type { Dialect } from '../meta/dialect.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { type InterceptableStream, isInterceptable } from '../protocol/watch-event.js';
import type { Activities } from '../util/activity.js';
import type { Clock } from '../util/clock.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';
import type { RunningWatch } from './watch-stream.js';

export type Next = (request?: ApiRequest) => MaybePromise<ApiResponse>;

/** What a middleware can use. */
export interface MiddlewareHost {
  readonly clock: Clock;
  readonly dialect: Dialect;
  /** Where it registers what it delays, so that `settle()` waits for it. */
  readonly activities: Activities;
  /** Aborts when the middleware is removed; it must release what it delays then. */
  readonly removed: AbortSignal;
}

/**
 * @example
 * cluster.use((request, next) => { console.log(request.verb, request.resource.resource); return next(); })
 */
export interface Middleware {
  (request: ApiRequest, next: Next, host: MiddlewareHost): MaybePromise<ApiResponse>;
  /** Keeps it outside of middlewares that are added later: a log then shows what callers see. */
  readonly isOutermost?: boolean;
  /** Called once for every watch that is open when the middleware is added or is opened later. */
  readonly onWatch?: (request: ApiRequest, watch: InterceptableStream, host: MiddlewareHost) => void;
}

interface Entry {
  readonly middleware: Middleware;
  readonly host: MiddlewareHost;
}

/** The newest middleware is outermost. */
export class MiddlewareStack {
  readonly #host: Omit<MiddlewareHost, 'removed'>;
  readonly #watches: ReadonlySet<RunningWatch>;
  #entries: readonly Entry[] = [];
  readonly #removals = new Set<() => void>();

  constructor(host: Omit<MiddlewareHost, 'removed'>, watches: ReadonlySet<RunningWatch>) {
    this.#host = host;
    this.#watches = watches;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds a middleware; the result removes it again. */
  add(middleware: Middleware): () => void {
    const removal = new AbortController();
    // One entry per call, so that a function can be added twice and removed once.
    const entry: Entry = { middleware, host: { ...this.#host, removed: removal.signal } };
    const isOutermost = (each: Entry): boolean => each.middleware.isOutermost === true;
    const entries = [...this.#entries, entry];
    this.#entries = [...entries.filter((each) => !isOutermost(each)), ...entries.filter(isOutermost)];
    const remove = () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
      removal.abort(REMOVED);
    };
    try {
      for (const watch of [...this.#watches]) {
        if (watch.request !== undefined) middleware.onWatch?.(watch.request, watch, entry.host);
      }
    } catch (error) {
      // The caller gets no function to remove it with.
      remove();
      throw error;
    }
    this.#removals.add(remove);
    return () => {
      this.#removals.delete(remove);
      remove();
    };
  }

  /** Removes all middlewares. */
  clear(): void {
    for (const remove of [...this.#removals]) remove();
    this.#removals.clear();
  }

  run(request: ApiRequest, handle: (request: ApiRequest) => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    this.#host.activities.move();
    // The whole request uses the current stack, even if middlewares are added or removed meanwhile.
    const stack = this.#entries;
    const step = (index: number, current: ApiRequest): MaybePromise<ApiResponse> => {
      const entry = stack[index];
      if (entry === undefined) return this.#notifyOfWatch(current, handle(current));
      return entry.middleware(current, (changed) => step(index - 1, changed ?? current), entry.host);
    };
    return step(stack.length - 1, detachedRequest(request));
  }

  /** Calls `onWatch` of the middlewares that are present now: one that was removed meanwhile is not called. */
  #notifyOfWatch(request: ApiRequest, response: MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    if (request.verb !== 'watch') return response;
    if (isPromise(response)) return response.then((settled) => this.#notifyOfWatch(request, settled) as ApiResponse);
    if (response.type === 'watch' && isInterceptable(response.watch)) {
      for (const { middleware, host } of this.#entries) middleware.onWatch?.(request, response.watch, host);
    }
    return response;
  }
}

/**
 * The request for middlewares: without undefined members, so that spreading it over defaults keeps the defaults, and with
 * its own copy of the body, because the caller may change its object while a middleware waits.
 */
function detachedRequest(request: ApiRequest): ApiRequest {
  const body = request.body?.detach?.();
  // The HTTP handler sets no undefined members, and its signal is created on first access.
  if (body === undefined && request.authorized !== undefined) return request;
  const members = Object.entries(body === undefined ? request : { ...request, body });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as unknown as ApiRequest;
}

/** An explicit reason avoids the creation of an Error. */
const REMOVED = 'the middleware was removed';
