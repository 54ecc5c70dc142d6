/**
 * What a watch carries. spec: Watch, Events
 */
import type { ChangeEvent } from '../meta/object.js';
import type { Status } from '../meta/status.js';

export type { ChangeEvent } from '../meta/object.js';

/** Everything up to `metadata.resourceVersion` has been sent. */
export interface BookmarkEvent {
  readonly type: 'BOOKMARK';
  readonly object: Bookmark;
}

/**
 * The requested kind with nothing in it but a version, and a mark when the initial events are complete. On the wire a
 * built-in kind also shows the fields that are never left out, empty.
 */
export interface Bookmark {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    /** Absent in one of a custom kind. */
    readonly creationTimestamp?: null;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The last event of a watch that failed after it had begun. */
export interface ErrorEvent {
  readonly type: 'ERROR';
  readonly object: Status;
}

export type WireEvent = ChangeEvent | BookmarkEvent | ErrorEvent;

/**
 * A running watch, live from the moment it exists. One consumer reads it; `close` ends it and releases what it holds.
 * After an ERROR event, after `close` and after the request's timeout, `next` answers `done`; so does a `next` that is
 * waiting when the end comes.
 */
export interface WatchStream extends AsyncIterable<WireEvent> {
  next(): Promise<IteratorResult<WireEvent, undefined>>;
  close(): void;
}

/**
 * A stream of this process, for a reader that is one of ours: `next` without a promise.
 */
export interface DirectWatchStream extends WatchStream {
  /** The next event, if it is at hand. */
  take(): WireEvent | undefined;
  /**
   * Calls back once with an event, or with nothing at the end, during the call if there is something to say. The
   * callback may run inside a write, so it must neither throw nor write: it resolves a promise. Not while another read
   * waits.
   */
  read(receive: (event: WireEvent | undefined) => void): void;
  /** The reader promises to read all that comes as soon as it can: whoever waits for rest waits for it too. */
  follow(): void;
}

/** A stream of this process for a reader that comes back at once whenever it is sent away. */
export interface LastingStream extends DirectWatchStream {
  /**
   * It does not end because it has run for long, unless the reader asked for that or is somebody whose rights may have
   * been withdrawn meanwhile. Bookmarks are told in passing, during which nothing may be thrown, to a reader that waits
   * for an event; to any other, or with something in between, they come as events.
   */
  keep(onBookmark: (resourceVersion: string) => void): void;
}

export function isLasting(stream: WatchStream): stream is LastingStream {
  return 'keep' in stream;
}

/** Stands between a stream and its reader. */
export interface WatchFront extends DirectWatchStream {
  /** Takes back a read that waits, if there is one. */
  stopReading(): ((event: WireEvent | undefined) => void) | undefined;
}

/** A stream that something can be put in front of while it runs: a fault of a test that delays it or cuts it off. */
export interface DivertibleStream extends DirectWatchStream {
  /** `make` gets what was there before, which it reads from then on. A reader that waits waits at the new front. */
  divert(make: (behind: WatchFront) => WatchFront): void;
}

export function isDivertible(stream: WatchStream): stream is DivertibleStream {
  return 'divert' in stream;
}
