/** The time limits of requests, as in the reference server: writes get less than reads. */
import { errors, type StatusError } from '../meta/errors.js';
import type { ApiRequest, Verb } from './request.js';

const MAX_READ_MS = 60_000;

const MAX_WRITE_MS = 34_000;

const READ_TIMEOUT_MESSAGE = 'request did not complete within the allotted timeout';

const WRITE_TIMEOUT_MESSAGE = 'request did not complete within requested timeout - context deadline exceeded';

/** In milliseconds. A client can ask for less than the maximum. */
export function timeLimitOf({ verb, timeoutMs = 0 }: Pick<ApiRequest, 'verb' | 'timeoutMs'>): number {
  const most = isRead(verb) ? MAX_READ_MS : MAX_WRITE_MS;
  return timeoutMs <= 0 ? most : Math.min(timeoutMs, most);
}

/** The error of a request that took too long. `retryAfterSeconds`: it has changed nothing, and may be sent again. */
export function timedOut(verb: Verb, retryAfterSeconds = 0): StatusError {
  return errors.timeout(isRead(verb) ? READ_TIMEOUT_MESSAGE : WRITE_TIMEOUT_MESSAGE, retryAfterSeconds);
}

function isRead(verb: Verb): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch';
}
