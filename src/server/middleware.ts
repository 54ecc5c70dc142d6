/**
 * The one seam for everything that cuts across requests: faults, delays, tracing, request logs. A middleware sees
 * each request, may change it, answer it, delay it or pass it on.
 */
import type { Dialect } from '../meta/dialect.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { type DivertibleStream, isDivertible } from '../protocol/watch-event.js';
import type { Activities } from '../util/activity.js';
import type { Clock } from '../util/clock.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';

export type Next = (request?: ApiRequest) => MaybePromise<ApiResponse>;

/** Where a middleware works. */
export interface MiddlewareHost {
  readonly clock: Clock;
  readonly dialect: Dialect;
  /** Where it says what it holds back, so that whoever waits for rest knows. */
  readonly activities: Activities;
  /** Aborts when the middleware is taken away: what it holds back then it lets go. */
  readonly removed: AbortSignal;
}

/**
 * @example
 * cluster.use((request, next) => { console.log(request.verb, request.resource.resource); return next(); })
 */
export interface Middleware {
  (request: ApiRequest, next: Next, host: MiddlewareHost): MaybePromise<ApiResponse>;
  /** It stays outside of those that do not say so, whenever they are added: a log shows what callers see. */
  readonly isOutermost?: boolean;
  /** Shown every watch that is open when it is added, and every one that is opened later, each once. */
  readonly onWatch?: (request: ApiRequest, watch: DivertibleStream, host: MiddlewareHost) => void;
}

/** A watch that is open. */
export interface OpenWatch extends DivertibleStream {
  readonly request?: ApiRequest | undefined;
}

interface Entry {
  readonly middleware: Middleware;
  readonly host: MiddlewareHost;
}

/** The newest middleware is outermost. */
export class MiddlewareStack {
  readonly #host: Omit<MiddlewareHost, 'removed'>;
  readonly #watches: ReadonlySet<OpenWatch>;
  #entries: readonly Entry[] = [];
  readonly #removals = new Set<() => void>();

  constructor(host: Omit<MiddlewareHost, 'removed'>, watches: ReadonlySet<OpenWatch>) {
    this.#host = host;
    this.#watches = watches;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds one; returns what removes it again. */
  add(middleware: Middleware): () => void {
    const removal = new AbortController();
    // Each addition is its own, so that one function may be added twice and removed once.
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
      // Nobody could take it away again.
      remove();
      throw error;
    }
    this.#removals.add(remove);
    return () => {
      this.#removals.delete(remove);
      remove();
    };
  }

  /** Takes all away, with what they hold back. */
  clear(): void {
    for (const remove of [...this.#removals]) remove();
    this.#removals.clear();
  }

  run(request: ApiRequest, handle: (request: ApiRequest) => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    this.#host.activities.move();
    // The stack as it is now serves the whole request, whatever is added or removed meanwhile.
    const stack = this.#entries;
    const step = (index: number, current: ApiRequest): MaybePromise<ApiResponse> => {
      const entry = stack[index];
      if (entry === undefined) return this.#answered(current, handle(current));
      return entry.middleware(current, (changed) => step(index - 1, changed ?? current), entry.host);
    };
    return step(stack.length - 1, asSent(request));
  }

  /** A watch is shown to those who are there now: one that was removed while it was being opened has no say. */
  #answered(request: ApiRequest, answer: MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    if (request.verb !== 'watch') return answer;
    if (isPromise(answer)) return answer.then((response) => this.#answered(request, response) as ApiResponse);
    if (answer.type === 'watch' && isDivertible(answer.watch)) {
      for (const { middleware, host } of this.#entries) middleware.onWatch?.(request, answer.watch, host);
    }
    return answer;
  }
}

/**
 * A request as middlewares see it: with the members that say something, so that a copy with defaults keeps them, and with
 * a body of its own: a middleware may wait, and what the caller does with its object meanwhile is no part of the request.
 */
function asSent(request: ApiRequest): ApiRequest {
  const body = request.body?.detach?.();
  // The HTTP handler sets no undefined members, and its signal is created on first access.
  if (body === undefined && request.authorized !== undefined) return request;
  const members = Object.entries(body === undefined ? request : { ...request, body });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as unknown as ApiRequest;
}

/** A reason of one's own spares the making of an error that nobody sees. */
const REMOVED = 'the middleware was taken away';
