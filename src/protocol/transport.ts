/**
 * How a client reaches a server: the seam between `client/` and everything behind it. In process it is a function
 * call; over HTTP it is fetch.
 */
import type { Dialect } from '../meta/dialect.js';
import type { Clock } from '../util/clock.js';
import type { ApiRequest } from './request.js';
import type { ApiResponse } from './response.js';

export interface Transport {
  /** The names the other end speaks. */
  readonly dialect: Dialect;
  /** The time by which the client's own waits are measured. */
  readonly clock: Clock;
  /** Which part of this process sends by it, a controller for one; its requests carry the name. */
  readonly origin?: string;
  /** Aborts when there will be no more answers, so that what runs on its own can end; absent: that is never known. */
  readonly closing?: AbortSignal;
  /**
   * Sends one request. Answers at once where nothing has to be waited for (a local cluster without middleware), so
   * that a watch is live before the caller goes on. Throws, or rejects with, StatusError.
   */
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}
