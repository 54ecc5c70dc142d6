/**
 * What the server answers. A failure is never a response: it is a thrown StatusError.
 */
import type { ApiList, ApiObject } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import type { WatchStream } from './watch-event.js';

/** An object, a list or a success Status, deep-frozen and shared with the store. */
export interface ObjectResponse {
  readonly type: 'object';
  /** 200, 201 when something was created, 202 when a deletion waits. */
  readonly code: number;
  readonly object: ApiObject | ApiList | Status;
  /** What the client should be told beside the answer, in order, without repeats. */
  readonly warnings: readonly string[];
}

export interface WatchResponse {
  readonly type: 'watch';
  readonly watch: WatchStream;
  readonly warnings: readonly string[];
}

export type ApiResponse = ObjectResponse | WatchResponse;
