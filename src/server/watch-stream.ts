/**
 * The server's end of a watch: initial events first, then a cursor over the event log, with bookmarks and a timeout.
 *
 * It buffers no events beyond the initial ones: `next` pulls from the cursor, so a consumer that stops reading costs
 * nothing, and gets an ERROR event when the log has been compacted past it.
 */

import { errors, StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type {
  Bookmark,
  CancellableTimeoutStream,
  InterceptableStream,
  ServerWatchEvent,
  WatchStage,
} from '../protocol/watch-event.js';
import type { Cursor } from '../storage/cursor.js';
import type { Journal } from '../storage/journal/types.js';
import { CompactedError } from '../storage/types.js';
import { onAbort } from '../util/abort.js';
import type { Activity } from '../util/activity.js';
import type { Clock, Undo } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import type { BookmarkTicker } from './bookmark-ticker.js';
import { journalErrorToStatus } from './durable.js';
import { ConversionPending } from './versions.js';

export interface ServerWatchStreamOptions {
  /** Absent: the stream ends after its initial events. */
  readonly cursor?: Cursor;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The stream ends without an error after this time. */
  readonly timeoutMs?: number;
  /** The client set the timeout and may wait for it. */
  readonly timeoutIsAwaited?: boolean;
  /** Makes a bookmark for the current revision if anything is new; absent: the client wants none. */
  readonly makeBookmark?: () => Bookmark | undefined;
  /** Converts a stored object to the version of the request; absent: no conversion. */
  readonly toServedVersion?: (object: ApiObject) => ApiObject;
  /** Events are delivered when they are durable in this journal. */
  readonly journal?: Journal | undefined;
  /** Calls back when bookmarks are due. */
  readonly bookmarkTicker: BookmarkTicker;
  readonly warn: (warning: string) => void;
  /** The open watches of the cluster; the stream removes itself when it ends. */
  readonly watches: Set<RunningWatch>;
  /** The storage key of the watched resource. */
  readonly storageKey?: string;
  readonly request?: ApiRequest;
}

/** An open watch, as the rest of the server sees it. */
export interface RunningWatch extends InterceptableStream {
  readonly storageKey: string | undefined;
  readonly request: ApiRequest | undefined;
  /** Ends the stream when all events up to a revision have been read. */
  finish(revision: number): void;
  /** Whether a follower has not read all events yet. */
  isBehind(): boolean;
}

type Result = IteratorResult<ServerWatchEvent, undefined>;

const DONE: Result = Object.freeze({ done: true, value: undefined });
/** A bookmark shortly before the timeout lets the client resume from there. */
const LAST_BOOKMARK_MS = 2_000;
const IN_BACKGROUND = { background: true, minor: true };

export class ServerWatchStream implements RunningWatch, CancellableTimeoutStream {
  readonly #options: ServerWatchStreamOptions;
  readonly #cursor: Cursor | undefined;
  /** Events to deliver before those of the cursor: initial events, a bookmark, a final error. `#queueIndex` is next. */
  #queue: ServerWatchEvent[];
  #queueIndex = 0;
  /** The next event, while its object is being converted or is not durable yet. Later events wait for it. */
  #delayedEvent: ServerWatchEvent | undefined;
  #waitingReader: ((event: ServerWatchEvent | undefined) => void) | undefined;
  #pendingNext: Promise<unknown> = Promise.resolve();
  #isNextWaiting = false;
  /** What the reader reads from instead of this stream; see `insertStage`. */
  #frontStage: WatchStage | undefined;
  /** The revision after which the stream ends, once `finish` was called. */
  #finalRevision: number | undefined;
  #isClosed = false;
  #isFollowed = false;
  /** Receives the resourceVersions of bookmarks instead of the events. */
  #onBookmark: ((resourceVersion: string) => void) | undefined;
  /** Cancels the timeout. */
  readonly #timeoutTimers: Undo[] = [];
  readonly #cleanups: Undo[] = [];

  /** Takes the array of initial events, and keeps none of them after it was read. */
  constructor(options: ServerWatchStreamOptions, initial: ServerWatchEvent[]) {
    this.#options = options;
    this.#cursor = options.cursor;
    this.#queue = initial;
    if (this.#cursor !== undefined && initial.length > 0) this.#cursor.onCompacted = () => this.#dropInitialEvents();
    options.watches.add(this);
    this.#cleanups.push(onAbort(options.signal, () => this.close()));
    if (!this.#isClosed && this.#cursor !== undefined) this.#startTimers();
  }

  get storageKey(): string | undefined {
    return this.#options.storageKey;
  }

  get request(): ApiRequest | undefined {
    return this.#options.request;
  }

  next(): Promise<Result> {
    // A second call waits for the first.
    if (this.#isNextWaiting) return this.#pendingNext.then(() => this.next());
    this.#isNextWaiting = true;
    const pending = new Promise<Result>((resolve) => {
      this.read((event) => {
        this.#isNextWaiting = false;
        resolve(event === undefined ? DONE : { done: false, value: event });
      });
    });
    this.#pendingNext = pending;
    return pending;
  }

  take(): ServerWatchEvent | undefined {
    return this.#frontStage === undefined ? this.#take() : this.#frontStage.take();
  }

  read(receive: (event: ServerWatchEvent | undefined) => void): void {
    if (this.#frontStage === undefined) this.#read(receive);
    else this.#frontStage.read(receive);
  }

  #read(receive: (event: ServerWatchEvent | undefined) => void): void {
    const event = this.#take();
    if (event !== undefined || this.#isClosed) {
      receive(event);
      return;
    }
    this.#waitingReader = receive;
    if (this.#delayedEvent === undefined) this.#cursor?.wait(this.#onEvent);
  }

  follow(): void {
    this.#isFollowed = true;
    this.#frontStage?.follow();
  }

  disableTimeout(onBookmark: (resourceVersion: string) => void): void {
    this.#onBookmark = onBookmark;
    const { timeoutIsAwaited, request } = this.#options;
    if (timeoutIsAwaited === true || request === undefined || request.user !== undefined) return;
    for (const undo of this.#timeoutTimers.splice(0)) undo();
  }

  insertStage(make: (previous: WatchStage) => WatchStage): void {
    const previous = this.#frontStage ?? this.#asStage();
    const waiting = previous.stopReading();
    const front = make(previous);
    if (this.#isFollowed) front.follow();
    this.#frontStage = front;
    if (waiting !== undefined) front.read(waiting);
  }

  /** This stream as the innermost stage, without the stages in front of it. */
  #asStage(): WatchStage {
    return {
      take: () => this.#take(),
      read: (receive) => this.#read(receive),
      stopReading: () => {
        const receive = this.#waitingReader;
        this.#waitingReader = undefined;
        this.#cursor?.stopWaiting();
        return receive;
      },
      follow: () => undefined,
      next: () => this.next(),
      close: () => this.#close(),
      [Symbol.asyncIterator]: () => this[Symbol.asyncIterator](),
    };
  }

  isBehind(): boolean {
    if (!this.#isFollowed || this.#isClosed) return false;
    if (this.#delayedEvent !== undefined) return true;
    return (
      this.#waitingReader === undefined && (this.#queueIndex < this.#queue.length || this.#cursor?.isCaughtUp === false)
    );
  }

  close(): void {
    if (this.#frontStage === undefined) this.#close();
    else this.#frontStage.close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#queue = [];
    this.#queueIndex = 0;
    this.#end();
    this.#deliver(undefined);
  }

  finish(revision: number): void {
    this.#finalRevision ??= revision;
    // A waiting reader has read everything, unless an event is delayed.
    if (this.#waitingReader !== undefined && this.#delayedEvent === undefined) this.#close();
  }

  [Symbol.asyncIterator](): AsyncIterator<ServerWatchEvent, undefined> {
    return {
      next: () => this.next(),
      return: () => {
        this.close();
        return Promise.resolve(DONE);
      },
    };
  }

  #take(): ServerWatchEvent | undefined {
    if (this.#queueIndex < this.#queue.length) {
      const event = this.#queue[this.#queueIndex++];
      if (this.#queueIndex === this.#queue.length) {
        this.#queue = [];
        this.#queueIndex = 0;
        // The stream ends after its last event if it has no cursor, or after an error.
        if (this.#cursor === undefined || event?.type === 'ERROR') this.#end();
      }
      return event;
    }
    if (this.#cursor === undefined) this.#end();
    if (this.#isClosed) return undefined;
    // A delayed event precedes all later ones.
    if (this.#delayedEvent !== undefined) return undefined;
    try {
      const event = this.#cursor?.poll();
      if (event === undefined && this.#finalRevision === undefined) return undefined;
      if (this.#finalRevision === undefined || isUpTo(this.#finalRevision, event))
        return this.#prepareForDelivery(event);
      this.#end();
      return undefined;
    } catch (error) {
      return this.#fail(error instanceof CompactedError ? expired() : error);
    }
  }

  /** What comes after them is not available any more, and their objects may be out of date: a reader would keep them in use. */
  #dropInitialEvents(): void {
    if (this.#queue.length === 0) return;
    this.#queue = [{ type: 'ERROR', object: expired().status }];
    this.#queueIndex = 0;
  }

  /**
   * Ends the stream; the result is its last event. It is called by writes and when a delay is over, where no reader could
   * catch an exception.
   */
  #fail(error: unknown): ServerWatchEvent {
    this.#end();
    if (StatusError.is(error)) return { type: 'ERROR', object: error.status };
    const { storageKey, warn } = this.#options;
    const message = messageOf(error);
    warn(`a watch of ${storageKey} failed: ${message}`);
    return { type: 'ERROR', object: errors.internal(message, error).status };
  }

  /** Called without an event when the cursor has expired. */
  readonly #onEvent = (event: ServerWatchEvent | undefined): void => {
    let next: ServerWatchEvent | undefined;
    try {
      next = event === undefined ? this.#take() : this.#prepareForDelivery(event);
    } catch (error) {
      next = this.#fail(error);
    }
    if (this.#delayedEvent === undefined) this.#deliver(next);
  };

  /** The event in the requested version, when it is durable; undefined while it is delayed. */
  #prepareForDelivery(event: ServerWatchEvent | undefined): ServerWatchEvent | undefined {
    const waits = this.#options.journal === undefined ? undefined : untilDurable(event, this.#options.journal);
    if (waits === undefined) return this.#toServedVersion(event);
    this.#delayedEvent = event;
    waits.then(
      () => this.#deliverDelayed(event),
      (failure: unknown) => this.#deliverDelayed(event, journalErrorToStatus(failure)),
    );
    return undefined;
  }

  #toServedVersion(event: ServerWatchEvent | undefined): ServerWatchEvent | undefined {
    const { toServedVersion } = this.#options;
    if (toServedVersion === undefined || event === undefined || event.type === 'ERROR' || event.type === 'BOOKMARK') {
      return event;
    }
    try {
      return Object.freeze({ type: event.type, object: toServedVersion(event.object) });
    } catch (error) {
      if (!(error instanceof ConversionPending)) throw error;
      this.#delayedEvent = event;
      error.ready.then(
        () => this.#deliverDelayed(event),
        (failure: unknown) => this.#deliverDelayed(event, failure),
      );
      return undefined;
    }
  }

  /** Delivers the delayed event, or the failure of its conversion or of the journal. */
  #deliverDelayed(delayed: ServerWatchEvent | undefined, failure?: unknown): void {
    if (this.#isClosed) return;
    this.#delayedEvent = undefined;
    let event: ServerWatchEvent | undefined;
    try {
      event = failure === undefined ? this.#toServedVersion(delayed) : this.#fail(failure);
    } catch (error) {
      event = this.#fail(error);
    }
    if (event === undefined) return;
    if (this.#waitingReader === undefined) this.#queue.push(event);
    else this.#deliver(event);
  }

  #deliver(event: ServerWatchEvent | undefined): void {
    const receive = this.#waitingReader;
    this.#waitingReader = undefined;
    receive?.(event);
  }

  #startTimers(): void {
    const { clock, timeoutMs, timeoutIsAwaited, makeBookmark: bookmark, bookmarkTicker: bookmarks } = this.#options;
    if (timeoutMs !== undefined) {
      const background = timeoutIsAwaited !== true;
      this.#timeoutTimers.push(clock.after(timeoutMs, () => this.#close(), { background, minor: background }));
      if (bookmark !== undefined && timeoutMs > LAST_BOOKMARK_MS) {
        const beforeEnd = timeoutMs - LAST_BOOKMARK_MS;
        this.#timeoutTimers.push(clock.after(beforeEnd, () => void this.#offerBookmark(), IN_BACKGROUND));
      }
    }
    if (bookmark !== undefined) this.#cleanups.push(bookmarks.add(() => this.#offerBookmark()));
  }

  /** Sends a bookmark to a reader that has read everything. False: try again later. */
  #offerBookmark(): boolean {
    if (this.#isClosed) return true;
    // A reader that is behind, or whose next event is delayed, gets none.
    if (this.#waitingReader === undefined || this.#delayedEvent !== undefined) return false;
    // A client must not resume from a revision that a crash could undo.
    if (this.#options.journal?.whenDurable() !== undefined) return false;
    const object = this.#options.makeBookmark?.();
    if (object === undefined) return true;
    if (this.#onBookmark !== undefined && this.#frontStage === undefined) {
      this.#onBookmark(object.metadata.resourceVersion);
      return true;
    }
    this.#cursor?.stopWaiting();
    this.#deliver({ type: 'BOOKMARK', object });
    return true;
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.watches.delete(this);
    this.#cursor?.close();
    for (const undo of this.#cleanups.splice(0)) undo();
    for (const undo of this.#timeoutTimers.splice(0)) undo();
  }
}

function expired(): StatusError {
  return errors.expired('The resourceVersion for the provided watch is too old.');
}

/** Waits until an event is durable; undefined if it is. */
function untilDurable(event: ServerWatchEvent | undefined, journal: Journal): Promise<void> | undefined {
  if (event === undefined || event.type === 'ERROR') return undefined;
  // Compares with the event's own revision: waiting for all writes would never end under constant load.
  if (Number(event.object.metadata.resourceVersion) <= journal.durableRevision) return undefined;
  return journal.whenDurable();
}

/** Whether an event is within the revisions that a finishing stream still delivers. */
function isUpTo(revision: number, event: ServerWatchEvent | undefined): boolean {
  if (event === undefined || event.type === 'ERROR') return event !== undefined;
  return Number(event.object.metadata.resourceVersion) <= revision;
}

/** The undelivered events of followed watches, as an activity. */
export function watchDelivery(watches: ReadonlySet<RunningWatch>): Activity {
  const behind = () => [...watches].filter((watch) => watch.isBehind());
  return {
    isBusy() {
      for (const watch of watches) if (watch.isBehind()) return true;
      return false;
    },
    busyWith: () => behind().map(({ storageKey }) => `a watch of ${storageKey ?? 'something'} has events unread`),
  };
}
