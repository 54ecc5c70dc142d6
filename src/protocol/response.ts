/**
 * The responses of the server. A failure is not a response but a thrown StatusError.
 */
import type { ApiList, ApiObject } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import type { Connection } from './connection.js';
import type { WatchStream } from './watch-event.js';

/** An object, a list or a success Status, deep-frozen and shared with the store. */
export interface ObjectResponse {
  readonly type: 'object';
  /** 200; 201 if an object was created; 202 if a deletion is pending. */
  readonly code: number;
  readonly object: ApiObject | ApiList | Status;
  /** Warnings for the client, in order, without duplicates. */
  readonly warnings: readonly string[];
}

export interface WatchResponse {
  readonly type: 'watch';
  readonly watch: WatchStream;
  readonly warnings: readonly string[];
}

/** The response of a connect subresource. */
export interface ConnectionResponse {
  readonly type: 'connection';
  readonly connection: Connection;
  readonly warnings: readonly string[];
}

export type ApiResponse = ObjectResponse | WatchResponse | ConnectionResponse;
