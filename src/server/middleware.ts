/**
 * The one seam for everything that cuts across requests: faults, delays, tracing, request logs. A middleware sees
 * each request, may change it, answer it, delay it or pass it on.
 */
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { MaybePromise } from '../util/maybe-promise.js';

export type Next = (request?: ApiRequest) => MaybePromise<ApiResponse>;

/**
 * @example
 * cluster.use((request, next) => { console.log(request.verb, request.resource.resource); return next(); })
 */
export type Middleware = (request: ApiRequest, next: Next) => MaybePromise<ApiResponse>;

/** The newest middleware is outermost. */
export class MiddlewareStack {
  #middlewares: readonly Middleware[] = [];

  get isEmpty(): boolean {
    return this.#middlewares.length === 0;
  }

  /** Adds one; returns what removes it again. */
  add(middleware: Middleware): () => void {
    // A wrapper makes each addition its own, so that one function may be added twice and removed once.
    const entry: Middleware = (request, next) => middleware(request, next);
    this.#middlewares = [...this.#middlewares, entry];
    return () => {
      this.#middlewares = this.#middlewares.filter((other) => other !== entry);
    };
  }

  run(request: ApiRequest, handle: (request: ApiRequest) => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    // The stack as it is now serves the whole request, whatever is added or removed meanwhile.
    const stack = this.#middlewares;
    const step = (index: number, current: ApiRequest): MaybePromise<ApiResponse> => {
      const middleware = stack[index];
      if (middleware === undefined) return handle(current);
      return middleware(current, (changed) => step(index - 1, changed ?? current));
    };
    return step(stack.length - 1, request);
  }
}
