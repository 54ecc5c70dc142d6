/**
 * A running watch: initial events first, then a cursor over the event log, with bookmarks and a timeout.
 *
 * It buffers no events beyond the initial ones: `next` pulls from the cursor, so a consumer that stops reading costs
 * nothing, and gets an ERROR event when the log has been compacted past it.
 */
import { errors, StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type {
  Bookmark,
  InterceptableStream,
  ServerWatchEvent,
  TimeoutFreeStream,
  WatchStage,
} from '../protocol/watch-event.js';
import type { Cursor } from '../storage/cursor.js';
import type { Journal } from '../storage/journal/types.js';
import { CompactedError } from '../storage/types.js';
import { onAbort } from '../util/abort.js';
import type { Clock, Undo } from '../util/clock.js';
import type { BookmarkTicker } from './bookmark-ticker.js';
import { asStatus } from './durable.js';
import { ConversionPending } from './versions.js';

export interface EventStreamOptions {
  /** Absent: the stream ends after its initial events. */
  readonly cursor?: Cursor;
  readonly initial: readonly ServerWatchEvent[];
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The stream ends without an error after this time. */
  readonly timeoutMs?: number;
  /** The client set the timeout and may wait for it. */
  readonly timeoutIsAwaited?: boolean;
  /** Makes a bookmark for the current revision if anything is new; absent: the client wants none. */
  readonly bookmark?: () => Bookmark | undefined;
  /** Converts a stored object to the version of the request; absent: no conversion. */
  readonly toServedVersion?: (object: ApiObject) => ApiObject;
  /** Events are delivered when they are durable in this journal. */
  readonly journal?: Journal | undefined;
  /** When bookmarks are due. */
  readonly bookmarks: BookmarkTicker;
  /** The set of running watches; the stream removes itself when it ends. */
  readonly running: Set<RunningWatch>;
  /** The storage name of the watched resource. */
  readonly storage?: string;
  readonly request?: ApiRequest;
}

/** An open watch. */
export interface RunningWatch extends InterceptableStream {
  readonly storage: string | undefined;
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

export class EventStream implements RunningWatch, TimeoutFreeStream {
  readonly #options: EventStreamOptions;
  readonly #cursor: Cursor | undefined;
  /** Events to deliver before those of the cursor: initial events, a bookmark, a final error. */
  #queue: ServerWatchEvent[];
  #queued = 0;
  /** An event whose object is being converted or is not durable yet. */
  #held: ServerWatchEvent | undefined;
  /** The reader that waits for the next event. */
  #receive: ((event: ServerWatchEvent | undefined) => void) | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  #isNextWaiting = false;
  /** What the reader reads from instead of this stream; see `insertStage`. */
  #front: WatchStage | undefined;
  /** The revision after which the stream ends, once `finish` was called. */
  #last: number | undefined;
  #isClosed = false;
  #isFollowed = false;
  /** Receives the resourceVersions of bookmarks instead of the events. */
  #onBookmark: ((resourceVersion: string) => void) | undefined;
  /** Cancels the timeout. */
  readonly #timeout: Undo[] = [];
  readonly #undos: Undo[] = [];

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    this.#queue = [...options.initial];
    options.running.add(this);
    this.#undos.push(onAbort(options.signal, () => this.close()));
    if (!this.#isClosed && this.#cursor !== undefined) this.#startTimers();
  }

  get storage(): string | undefined {
    return this.#options.storage;
  }

  get request(): ApiRequest | undefined {
    return this.#options.request;
  }

  next(): Promise<Result> {
    // A second call waits for the first.
    if (this.#isNextWaiting) return this.#pending.then(() => this.next());
    this.#isNextWaiting = true;
    const pending = new Promise<Result>((resolve) => {
      this.read((event) => {
        this.#isNextWaiting = false;
        resolve(event === undefined ? DONE : { done: false, value: event });
      });
    });
    this.#pending = pending;
    return pending;
  }

  take(): ServerWatchEvent | undefined {
    return this.#front === undefined ? this.#take() : this.#front.take();
  }

  read(receive: (event: ServerWatchEvent | undefined) => void): void {
    if (this.#front === undefined) this.#read(receive);
    else this.#front.read(receive);
  }

  #read(receive: (event: ServerWatchEvent | undefined) => void): void {
    const event = this.#take();
    if (event !== undefined || this.#isClosed) {
      receive(event);
      return;
    }
    this.#receive = receive;
    if (this.#held === undefined) this.#cursor?.wait(this.#onEvent);
  }

  follow(): void {
    this.#isFollowed = true;
    this.#front?.follow();
  }

  disableTimeout(onBookmark: (resourceVersion: string) => void): void {
    this.#onBookmark = onBookmark;
    const { timeoutIsAwaited, request } = this.#options;
    if (timeoutIsAwaited === true || request === undefined || request.user !== undefined) return;
    for (const undo of this.#timeout.splice(0)) undo();
  }

  insertStage(make: (behind: WatchStage) => WatchStage): void {
    const behind = this.#front ?? this.#bare();
    const waiting = behind.stopReading();
    const front = make(behind);
    if (this.#isFollowed) front.follow();
    this.#front = front;
    if (waiting !== undefined) front.read(waiting);
  }

  /** This stream without its stages. */
  #bare(): WatchStage {
    return {
      take: () => this.#take(),
      read: (receive) => this.#read(receive),
      stopReading: () => {
        const receive = this.#receive;
        this.#receive = undefined;
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
    if (this.#held !== undefined) return true;
    return this.#receive === undefined && (this.#queued < this.#queue.length || this.#cursor?.isCaughtUp === false);
  }

  close(): void {
    if (this.#front === undefined) this.#close();
    else this.#front.close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#queue = [];
    this.#queued = 0;
    this.#end();
    this.#deliver(undefined);
  }

  finish(revision: number): void {
    this.#last ??= revision;
    // A waiting reader has read everything, unless an event is being held.
    if (this.#receive !== undefined && this.#held === undefined) this.#close();
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
    if (this.#queued < this.#queue.length) {
      const event = this.#queue[this.#queued++];
      if (this.#queued === this.#queue.length) {
        this.#queue = [];
        this.#queued = 0;
        // The stream ends after its last event if it has no cursor, or after an error.
        if (this.#cursor === undefined || event?.type === 'ERROR') this.#end();
      }
      return event;
    }
    if (this.#cursor === undefined) this.#end();
    if (this.#isClosed) return undefined;
    // A held event precedes all later ones.
    if (this.#held !== undefined) return undefined;
    try {
      const event = this.#cursor?.poll();
      if (event === undefined && this.#last === undefined) return undefined;
      if (this.#last === undefined || isUpTo(this.#last, event)) return this.#shown(event);
      this.#end();
      return undefined;
    } catch (error) {
      return this.#fail(
        error instanceof CompactedError
          ? errors.expired('The resourceVersion for the provided watch is too old.')
          : error,
      );
    }
  }

  /** Ends the stream; the result is its last event. */
  #fail(error: unknown): ServerWatchEvent {
    this.#end();
    if (!StatusError.is(error)) throw error;
    return { type: 'ERROR', object: error.status };
  }

  /** Called without an event when the cursor has expired. */
  readonly #onEvent = (event: ServerWatchEvent | undefined): void => {
    const shown = event === undefined ? this.#take() : this.#shownOrFailure(event);
    if (this.#held === undefined) this.#deliver(shown);
  };

  #shownOrFailure(event: ServerWatchEvent): ServerWatchEvent | undefined {
    try {
      return this.#shown(event);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #shown(event: ServerWatchEvent | undefined): ServerWatchEvent | undefined {
    const waits = this.#options.journal === undefined ? undefined : untilDurable(event, this.#options.journal);
    if (waits === undefined) return this.#converted(event);
    this.#held = event;
    waits.then(
      () => this.#release(() => this.#convertedOrFailure(event)),
      (failure: unknown) => this.#release(() => this.#fail(asStatus(failure))),
    );
    return undefined;
  }

  #convertedOrFailure(event: ServerWatchEvent | undefined): ServerWatchEvent | undefined {
    try {
      return this.#converted(event);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #converted(event: ServerWatchEvent | undefined): ServerWatchEvent | undefined {
    const { toServedVersion: inVersion } = this.#options;
    if (inVersion === undefined || event === undefined || event.type === 'ERROR' || event.type === 'BOOKMARK') {
      return event;
    }
    try {
      return Object.freeze({ type: event.type, object: inVersion(event.object) });
    } catch (error) {
      if (!(error instanceof ConversionPending)) throw error;
      this.#held = event;
      error.ready.then(
        () => this.#release(() => this.#convertedOrFailure(event)),
        (failure: unknown) => this.#release(() => this.#fail(failure)),
      );
      return undefined;
    }
  }

  /** Delivers a held event, or the failure of its conversion. */
  #release(show: () => ServerWatchEvent | undefined): void {
    if (this.#isClosed) return;
    this.#held = undefined;
    const event = show();
    if (event === undefined) return;
    if (this.#receive === undefined) this.#queue.push(event);
    else this.#deliver(event);
  }

  #deliver(event: ServerWatchEvent | undefined): void {
    const receive = this.#receive;
    this.#receive = undefined;
    receive?.(event);
  }

  #startTimers(): void {
    const { clock, timeoutMs, timeoutIsAwaited, bookmark, bookmarks } = this.#options;
    if (timeoutMs !== undefined) {
      const background = timeoutIsAwaited !== true;
      this.#timeout.push(clock.after(timeoutMs, () => this.#close(), { background, minor: background }));
      if (bookmark !== undefined && timeoutMs > LAST_BOOKMARK_MS) {
        const beforeEnd = timeoutMs - LAST_BOOKMARK_MS;
        this.#timeout.push(clock.after(beforeEnd, () => void this.#offerBookmark(), IN_BACKGROUND));
      }
    }
    if (bookmark !== undefined) this.#undos.push(bookmarks.add(() => this.#offerBookmark()));
  }

  /** Sends a bookmark to a reader that has read everything. False: try again later. */
  #offerBookmark(): boolean {
    if (this.#isClosed) return true;
    // A reader that is behind, or whose next event is held, gets none.
    if (this.#receive === undefined || this.#held !== undefined) return false;
    // A client must not resume from a revision that a crash could undo.
    if (this.#options.journal?.durable() !== undefined) return false;
    const object = this.#options.bookmark?.();
    if (object === undefined) return true;
    if (this.#onBookmark !== undefined && this.#front === undefined) {
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
    this.#options.running.delete(this);
    this.#cursor?.close();
    for (const undo of this.#undos.splice(0)) undo();
    for (const undo of this.#timeout.splice(0)) undo();
  }
}

/** Waits until an event is durable; undefined if it is. */
function untilDurable(event: ServerWatchEvent | undefined, journal: Journal): Promise<void> | undefined {
  if (event === undefined || event.type === 'ERROR') return undefined;
  // Compares with the event's own revision: waiting for all writes would never end under constant load.
  if (Number(event.object.metadata.resourceVersion) <= journal.durableRevision) return undefined;
  return journal.durable();
}

/** Whether an event is within the revisions that a finishing stream still delivers. */
function isUpTo(revision: number, event: ServerWatchEvent | undefined): boolean {
  if (event === undefined || event.type === 'ERROR') return event !== undefined;
  return Number(event.object.metadata.resourceVersion) <= revision;
}
