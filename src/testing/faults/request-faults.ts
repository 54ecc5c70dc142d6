/**
 * Faults of single requests. They sit in the server, so local clients, HTTP and controllers meet them alike.
 */
import { errors, StatusError } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import type { MiddlewareHost } from '../../server/middleware.js';
import { onAbort } from '../../util/abort.js';
import { chain } from '../../util/maybe-promise.js';
import { type Fault, requestFault } from './fault.js';
import { type FaultMatch, faultMatcher, nameIn, printValue, usageError } from './match.js';

/** What a request fails with: an error, or what makes one from the request. */
export type FaultError = StatusError | ((request: ApiRequest) => StatusError);

/**
 * Refuses requests before they reach the server. InternalError unless an error is given.
 *
 * @example
 * using _ = cluster.use(failing({ verb: 'create', kind: Pod, times: 2 }, () => errors.tooManyRequests('slow down', 1)));
 */
export function failing(match: FaultMatch, error: FaultError = injected): Fault {
  return refusing('failing', match, error);
}

/**
 * Refuses updates as if somebody else had been faster, in the server's words. `verb` is `update` unless given.
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
 * Refuses requests by chance: one in ten unless `rate` is given, the same ones on every run with the same `seed`.
 * ServiceUnavailable unless an error is given.
 *
 * @example
 * using _ = cluster.use(flaky({ verb: 'write', rate: 0.2, seed: 7 }));
 */
export function flaky(match: FaultMatch = {}, error: FaultError = unavailable): Fault {
  return refusing('flaky', { rate: 0.1, ...match }, error);
}

/**
 * Lets requests wait, on the cluster's clock, before they reach the server. `clock.advance` lets them come;
 * `cluster.settle()` does not wait for them.
 *
 * @example
 * using _ = cluster.use(delaying({ verb: 'list' }, 2_000));
 */
export function delaying(match: FaultMatch, delayMs: number | ((request: ApiRequest) => number)): Fault {
  const isMeant = faultMatcher('delaying', match);
  if (typeof delayMs !== 'function') checkDelay(delayMs);
  return requestFault((strike) => (request, next, host) => {
    if (!isMeant(request, host.dialect)) return next();
    const ms = typeof delayMs === 'function' ? checkDelay(delayMs(request)) : delayMs;
    strike();
    return later(request, ms, host).then(() => next());
  });
}

/**
 * Lets writes happen and loses their answers: the caller gets a Timeout, and cannot know. `verb` is `write` unless given.
 *
 * @example
 * using _ = cluster.use(droppingResponses({ verb: 'create', kind: Pod, nth: 1 }));
 */
export function droppingResponses(match: FaultMatch = {}, error: FaultError = lost): Fault {
  const isMeant = faultMatcher('droppingResponses', { verb: 'write', ...match });
  checkError('droppingResponses', error);
  return requestFault((strike) => (request, next, host) => {
    if (!isMeant(request, host.dialect)) return next();
    // What the server refuses has not happened, and is refused as ever.
    return chain(next(), (response: ApiResponse): ApiResponse => {
      strike();
      if (response.type === 'watch') response.watch.close();
      throw made(error, request);
    });
  });
}

function refusing(where: string, match: FaultMatch, error: FaultError): Fault {
  const isMeant = faultMatcher(where, match);
  checkError(where, error);
  return requestFault((strike) => (request, next, host) => {
    if (!isMeant(request, host.dialect)) return next();
    strike();
    throw made(error, request);
  });
}

const injected = (): StatusError => errors.internal('injected by a test');
const unavailable = (): StatusError =>
  errors.serviceUnavailable('the server is currently unable to handle the request');
const lost = (): StatusError =>
  errors.timeout('the server was unable to return a response in the time allotted, but may still be processing it');

/** An error is made for each request: two callers must not share a stack. */
function made(error: FaultError, request: ApiRequest): StatusError {
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

function later(request: ApiRequest, delayMs: number, { clock, activities, removed }: MiddlewareHost): Promise<void> {
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
