/**
 * Watch events and the streams that deliver them. spec: Watch, Events
 *
 * The types of a watch, from the store to the reader:
 *
 *   Cursor                     storage/cursor.ts                a position in the event log with a filter
 *   ServerWatchStream          server/watch-stream.ts           implements a watch in the server: initial events, then a cursor
 *   RunningWatch               server/watch-stream.ts           what the server and its middleware see of it while it is open
 *   InterceptableStream        this file                        the part of it into which test faults insert stages
 *   WatchStage                 this file                        a filter between that stream and its reader, for test faults
 *   WatchStream                this file                        what a transport returns: any reader, with promises
 *   DirectWatchStream          this file                        a WatchStream in this process, also readable without promises
 *   CancellableTimeoutStream   this file                        a DirectWatchStream whose timeout the reader can disable
 *   HttpWatchStream            http/transport/watch-stream.ts   implements WatchStream over fetch
 *   Watch                      client/watch.ts                  what `api.watch()` returns; ClientWatch implements it
 */
import type { ChangeEvent } from '../meta/object.js';
import type { Status } from '../meta/status.js';

export type { ChangeEvent } from '../meta/object.js';

/** States that all changes up to `metadata.resourceVersion` have been sent. */
export interface BookmarkEvent {
  readonly type: 'BOOKMARK';
  readonly object: Bookmark;
}

/**
 * An object of the requested kind with only a resourceVersion, and an annotation when the initial events are complete. In
 * the dialect `kubernetes`, built-in kinds also have their required fields, empty.
 */
export interface Bookmark {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    /** Only in the dialect `kubernetes`, and not for custom resources. */
    readonly creationTimestamp?: null;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The last event of a watch that failed after its start. */
export interface ErrorEvent {
  readonly type: 'ERROR';
  readonly object: Status;
}

export type ServerWatchEvent = ChangeEvent | BookmarkEvent | ErrorEvent;

/**
 * The events of one watch, as a transport returns them; it is live when it is created. It has one consumer. `close` ends it and releases its resources. After
 * an ERROR event, after `close` and after the request's timeout, pending and later calls of `next` return `done`.
 */
export interface WatchStream extends AsyncIterable<ServerWatchEvent> {
  next(): Promise<IteratorResult<ServerWatchEvent, undefined>>;
  close(): void;
}

/** An in-process stream that can be read without promises. */
export interface DirectWatchStream extends WatchStream {
  /** The next event, if one is available. */
  take(): ServerWatchEvent | undefined;
  /**
   * Calls back once with the next event, or with undefined at the end; synchronously if an event is available. The callback
   * may run inside a write, so it must neither throw nor write. Only one read may be pending.
   */
  read(receive: (event: ServerWatchEvent | undefined) => void): void;
  /** Declares that the reader reads all events promptly, so that `cluster.settle()` waits for it. */
  follow(): void;
}

/** An in-process stream with a timeout that the reader can disable, because it would reconnect at once. */
export interface CancellableTimeoutStream extends DirectWatchStream {
  /**
   * Disables the server's watch timeout, unless the request set one or the user's permissions may have been revoked.
   * `onBookmark`, which must not throw, receives a bookmark while the reader waits for an event; otherwise the bookmark is
   * delivered as an event.
   */
  disableTimeout(onBookmark: (resourceVersion: string) => void): void;
}

export function canDisableTimeout(stream: WatchStream): stream is CancellableTimeoutStream {
  return 'disableTimeout' in stream;
}

/** A stage between a stream and its reader, which delays, drops or changes events. Not a stage of `controllers/stages`. */
export interface WatchStage extends DirectWatchStream {
  /** Cancels the pending read, if there is one, and returns its callback. */
  stopReading(): ((event: ServerWatchEvent | undefined) => void) | undefined;
}

/** An open stream in front of which a stage can be inserted: a test fault that delays or ends it. */
export interface InterceptableStream extends DirectWatchStream {
  /** `make` receives the previous stage, from which the new one reads. A pending read moves to the new stage. */
  insertStage(make: (previous: WatchStage) => WatchStage): void;
}

export function isInterceptable(stream: WatchStream): stream is InterceptableStream {
  return 'insertStage' in stream;
}
