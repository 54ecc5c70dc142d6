/**
 * The base of all faults: middleware that counts how often it took effect.
 */
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import type { Middleware, MiddlewareHost, Next } from '../../server/middleware.js';
import type { MaybePromise } from '../../util/maybe-promise.js';

/** A fault for `cluster.use`. Removing it releases everything that it holds back. */
export interface Fault extends Middleware {
  /** How often the fault took effect. Tests should assert that it did. */
  readonly count: number;
}

export type Strike = () => void;

/** Creates a fault that acts on requests. */
export function requestFault(
  handle: (strike: Strike) => (request: ApiRequest, next: Next, host: MiddlewareHost) => MaybePromise<ApiResponse>,
): Fault {
  const tally = { count: 0 };
  const middleware = handle(() => {
    tally.count++;
  });
  return counted((request, next, host) => middleware(request, next, host), tally);
}

/** Creates a fault that acts on watch streams and passes all requests. */
export function watchFault<More extends object = object>(
  onWatch: (strike: Strike) => NonNullable<Middleware['onWatch']>,
  more: More = {} as More,
): Fault & More {
  const tally = { count: 0 };
  const shape = onWatch(() => {
    tally.count++;
  });
  const pass: Middleware = (_request, next) => next();
  return Object.assign(counted(Object.assign(pass, { onWatch: shape }), tally), more);
}

function counted(middleware: Middleware, tally: { readonly count: number }): Fault {
  return Object.defineProperty(middleware, 'count', { get: () => tally.count, enumerable: true }) as Fault;
}
