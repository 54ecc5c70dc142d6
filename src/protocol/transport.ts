/**
 * The interface through which a client sends requests: a function call in process, fetch over HTTP.
 */
import type { Dialect } from '../meta/dialect.js';
import type { Clock } from '../util/clock.js';
import type { ApiRequest } from './request.js';
import type { ApiResponse } from './response.js';

export interface Transport {
  /** The dialect of the server. */
  readonly dialect: Dialect;
  /** The clock for the client's own delays. */
  readonly clock: Clock;
  /** The component that sends through this transport, such as a controller; copied to `ApiRequest.origin`. */
  readonly origin?: string;
  /** Aborts when the server closes, so that background work can end; absent if that is not known. */
  readonly closing?: AbortSignal;
  /**
   * Sends one request. Returns synchronously if nothing is asynchronous (a local cluster without middleware), so that a
   * watch is live when the call returns. Throws, or rejects with, StatusError.
   */
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}
