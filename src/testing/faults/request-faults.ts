/**
 * Faults of single requests. They run in the server, so they affect local clients, HTTP clients and controllers.
 */
import { errors, StatusError } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import type { MiddlewareHost } from '../../server/middleware.js';
import { onAbort } from '../../util/abort.js';
import { chain } from '../../util/maybe-promise.js';
import { type Fault, requestFault } from './fault.js';
import { type FaultMatch, faultMatcher, nameIn, printValue, usageError } from './match.js';

/** The error of a failed request, or a function that creates it. */
export type FaultError = StatusError | ((request: ApiRequest) => StatusError);

/**
 * Rejects requests before the server handles them. The error defaults to InternalError.
 *
 * @example
 * using _ = cluster.use(failing({ verb: 'create', kind: Pod, times: 2 }, () => errors.tooManyRequests('slow down', 1)));
 */
export function failing(match: FaultMatch, error: FaultError = injectedError): Fault {
  return refusing('failing', match, error);
}

/**
 * Rejects updates with the Conflict that a concurrent write causes. `verb` defaults to `update`.
 *
 * @example
 * using _ = cluster.use(conflicting({ kind: Deployment, times: 1 }));
 */
export function conflicting(match: FaultMatch = {}): Fault {
  return refusing('conflicting', { verb: 'update', ...match }, (request) =>
    errors.conflict(
      request.resource,
      nameOf(request),
      'the object has been modified; please apply your changes to the latest version and try again',
    ),
  );
}

/**
 * Rejects random requests: one in ten by default, the same ones on every run with the same `seed`. The error defaults to
 * ServiceUnavailable.
 *
 * @example
 * using _ = cluster.use(flaky({ verb: 'write', rate: 0.2, seed: 7 }));
 */
export function flaky(match: FaultMatch = {}, error: FaultError = unavailableError): Fault {
  return refusing('flaky', { rate: 0.1, ...match }, error);
}

/**
 * Delays requests on the cluster's clock before the server handles them. `clock.advance` releases them; `cluster.settle()`
 * does not wait for them.
 *
 * @example
 * using _ = cluster.use(delaying({ verb: 'list' }, 2_000));
 */
export function delaying(match: FaultMatch, delayMs: number | ((request: ApiRequest) => number)): Fault {
  const matches = faultMatcher('delaying', match);
  if (typeof delayMs !== 'function') checkDelay(delayMs);
  return requestFault((strike) => (request, next, host) => {
    if (!matches(request, host.dialect)) return next();
    const ms = typeof delayMs === 'function' ? checkDelay(delayMs(request)) : delayMs;
    strike();
    return delayRequest(request, ms, host).then(() => next());
  });
}

/**
 * Performs requests but drops their responses: the caller gets a Timeout and cannot know the result. `verb` defaults to
 * `write`.
 *
 * @example
 * using _ = cluster.use(droppingResponses({ verb: 'create', kind: Pod, nth: 1 }));
 */
export function droppingResponses(match: FaultMatch = {}, error: FaultError = lostResponseError): Fault {
  const matches = faultMatcher('droppingResponses', { verb: 'write', ...match });
  checkError('droppingResponses', error);
  return requestFault((strike) => (request, next, host) => {
    if (!matches(request, host.dialect)) return next();
    // A request that the server rejects keeps its own error.
    return chain(next(), (response: ApiResponse): ApiResponse => {
      strike();
      if (response.type === 'watch') response.watch.close();
      throw createError(error, request);
    });
  });
}

function refusing(where: string, match: FaultMatch, error: FaultError): Fault {
  const matches = faultMatcher(where, match);
  checkError(where, error);
  return requestFault((strike) => (request, next, host) => {
    if (!matches(request, host.dialect)) return next();
    strike();
    throw createError(error, request);
  });
}

const injectedError = (): StatusError => errors.internal('injected by a test');
const unavailableError = (): StatusError =>
  errors.serviceUnavailable('the server is currently unable to handle the request');
const lostResponseError = (): StatusError =>
  errors.timeout('the server was unable to return a response in the time allotted, but may still be processing it');

/** Creates a new error for each request, so that callers do not share a stack trace. */
function createError(error: FaultError, request: ApiRequest): StatusError {
  if (typeof error !== 'function') return new StatusError(error.status);
  const result: unknown = error(request);
  if (StatusError.is(result)) return result;
  throw new TypeError(
    `orchplane: a fault fails with a StatusError (see errors of orchplane), not with ${printValue(result)}`,
  );
}

function checkError(where: string, error: unknown): void {
  if (typeof error === 'function' || StatusError.is(error)) return;
  throw usageError(
    where,
    `the error is a StatusError, or a function that makes one (see errors of orchplane), not ${printValue(error)}`,
  );
}

function checkDelay(delayMs: number): number {
  if (delayMs >= 0 && delayMs < Number.POSITIVE_INFINITY) return delayMs;
  throw usageError('delaying', `the delay is a number of milliseconds from 0 on, not ${printValue(delayMs)}`);
}

function delayRequest(
  request: ApiRequest,
  delayMs: number,
  { clock, activities, removed }: MiddlewareHost,
): Promise<void> {
  if (removed.aborted) return Promise.resolve();
  const due = clock.now() + delayMs;
  return new Promise((resolve) => {
    const release = activities.hold(
      () => `${request.verb} of ${request.resource.resource}, for ${Math.max(0, due - clock.now())} ms more`,
    );
    const go = () => {
      stopTimer();
      offRemoval();
      release();
      resolve();
    };
    const stopTimer = clock.after(delayMs, go);
    const offRemoval = onAbort(removed, go);
  });
}

function nameOf(request: ApiRequest): string {
  return request.name ?? nameIn(request.body) ?? '';
}
