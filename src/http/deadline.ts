/**
 * How long a request may take. Only requests that have to wait (for a plugin, for a version yet to come) ever notice.
 * spec: timeout
 */
import { errors } from '../meta/errors.js';
import type { Verb } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';

/** What the server gives a request at most, in milliseconds; writes get less, to be undone in time. */
const MAX_READ = 60_000;
const MAX_WRITE = 34_000;

export interface Deadline {
  readonly clock: Clock;
  readonly verb: Verb;
  /** What the client asked for; absent, zero or less: what the server gives. */
  readonly timeout: number | undefined;
}

/** The result, or a 504 when it does not come in time. The work itself goes on. */
export function withDeadline<Value>(result: Promise<Value>, { clock, verb, timeout }: Deadline): Promise<Value> {
  const isRead = verb === 'get' || verb === 'list';
  const most = isRead ? MAX_READ : MAX_WRITE;
  const limit = timeout === undefined || timeout <= 0 ? most : Math.min(timeout, most);
  return new Promise((resolve, reject) => {
    const undo = clock.after(limit, () => reject(errors.timeout(isRead ? READ_TEXT : WRITE_TEXT)));
    result.then(resolve, reject).finally(undo);
  });
}

const READ_TEXT = 'request did not complete within the allotted timeout';
const WRITE_TEXT = 'request did not complete within requested timeout - context deadline exceeded';
