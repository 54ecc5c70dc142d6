/**
 * A running watch: synthetic events first, then a cursor over the log, with bookmarks, a timeout and an end.
 *
 * It holds no events beyond its initial ones: `next` pulls from the cursor, so a consumer that stops reading costs
 * nothing, and gets an ERROR when the log has moved past it.
 */
import { errors, StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type { Bookmark, DivertibleStream, LastingStream, WatchFront, WireEvent } from '../protocol/watch-event.js';
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
  readonly initial: readonly WireEvent[];
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The stream ends quietly after this long. */
  readonly timeoutMs?: number;
  /** The client asked for that end, and may be waiting for it. */
  readonly timeoutIsAwaited?: boolean;
  /** Makes a bookmark for the present, if one is due; absent: none are wanted. */
  readonly bookmark?: () => Bookmark | undefined;
  /** Shows a stored object in the version that was asked for; absent: as it is. */
  readonly inVersion?: (object: ApiObject) => ApiObject;
  /** Events wait until they are durable there. */
  readonly journal?: Journal | undefined;
  /** When bookmarks are due. */
  readonly bookmarks: BookmarkTicker;
  /** Where a running stream is listed until it ends. */
  readonly running: Set<RunningWatch>;
  /** What is watched, by the name under which it is stored. */
  readonly storage?: string;
  /** What it answers. */
  readonly request?: ApiRequest;
}

/** A stream that goes on until it is closed. */
export interface RunningWatch extends DivertibleStream {
  readonly storage: string | undefined;
  readonly request: ApiRequest | undefined;
  /** Ends it when everything up to a version has been read. */
  finish(revision: number): void;
  /** Somebody follows it who reads all there is, and has not read all. */
  isBehind(): boolean;
}

type Result = IteratorResult<WireEvent, undefined>;

const DONE: Result = Object.freeze({ done: true, value: undefined });
/** A bookmark shortly before the end lets the client come back to where it was. */
const LAST_BOOKMARK_MS = 2_000;
const IN_BACKGROUND = { background: true, minor: true };

export class EventStream implements RunningWatch, LastingStream {
  readonly #options: EventStreamOptions;
  readonly #cursor: Cursor | undefined;
  /** Events to hand out before the cursor's: initial ones, a due bookmark, a last error. */
  #queue: WireEvent[];
  #queued = 0;
  /** An event whose object is still being converted, or not durable yet. */
  #held: WireEvent | undefined;
  /** The reader that waits, if one does. */
  #receive: ((event: WireEvent | undefined) => void) | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  #isNextWaiting = false;
  /** What the reader reads instead of this, if anything. */
  #front: WatchFront | undefined;
  /** The version after which it ends; absent while it goes on. */
  #last: number | undefined;
  #isClosed = false;
  #isFollowed = false;
  /** Who is told of bookmarks in passing. */
  #onBookmark: ((resourceVersion: string) => void) | undefined;
  /** What keeps it from ending when its time is over. */
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
    // A second call before the first is answered takes its turn behind it.
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

  take(): WireEvent | undefined {
    return this.#front === undefined ? this.#take() : this.#front.take();
  }

  read(receive: (event: WireEvent | undefined) => void): void {
    if (this.#front === undefined) this.#read(receive);
    else this.#front.read(receive);
  }

  #read(receive: (event: WireEvent | undefined) => void): void {
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

  keep(onBookmark: (resourceVersion: string) => void): void {
    this.#onBookmark = onBookmark;
    const { timeoutIsAwaited, request } = this.#options;
    if (timeoutIsAwaited === true || request === undefined || request.user !== undefined) return;
    for (const undo of this.#timeout.splice(0)) undo();
  }

  divert(make: (behind: WatchFront) => WatchFront): void {
    const behind = this.#front ?? this.#bare();
    const waiting = behind.stopReading();
    const front = make(behind);
    if (this.#isFollowed) front.follow();
    this.#front = front;
    if (waiting !== undefined) front.read(waiting);
  }

  /** This stream as it is behind everything that was put in front of it. */
  #bare(): WatchFront {
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
    // A reader that waits has read everything, unless an event is still being converted.
    if (this.#receive !== undefined && this.#held === undefined) this.#close();
  }

  [Symbol.asyncIterator](): AsyncIterator<WireEvent, undefined> {
    return {
      next: () => this.next(),
      return: () => {
        this.close();
        return Promise.resolve(DONE);
      },
    };
  }

  #take(): WireEvent | undefined {
    if (this.#queued < this.#queue.length) {
      const event = this.#queue[this.#queued++];
      if (this.#queued === this.#queue.length) {
        this.#queue = [];
        this.#queued = 0;
        // Nothing comes after the last event of a stream without a cursor, or after an error.
        if (this.#cursor === undefined || event?.type === 'ERROR') this.#end();
      }
      return event;
    }
    if (this.#cursor === undefined) this.#end();
    if (this.#isClosed) return undefined;
    // What waits for its conversion comes before everything that happened later.
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

  /** The stream ends, and this is the last it says. */
  #fail(error: unknown): WireEvent {
    this.#end();
    if (!StatusError.is(error)) throw error;
    return { type: 'ERROR', object: error.status };
  }

  /** Called with nothing when the cursor has an end to report. */
  readonly #onEvent = (event: WireEvent | undefined): void => {
    const shown = event === undefined ? this.#take() : this.#shownOrFailure(event);
    if (this.#held === undefined) this.#deliver(shown);
  };

  #shownOrFailure(event: WireEvent): WireEvent | undefined {
    try {
      return this.#shown(event);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #shown(event: WireEvent | undefined): WireEvent | undefined {
    const waits = this.#options.journal === undefined ? undefined : untilDurable(event, this.#options.journal);
    if (waits === undefined) return this.#converted(event);
    this.#held = event;
    waits.then(
      () => this.#release(() => this.#convertedOrFailure(event)),
      (failure: unknown) => this.#release(() => this.#fail(asStatus(failure))),
    );
    return undefined;
  }

  #convertedOrFailure(event: WireEvent | undefined): WireEvent | undefined {
    try {
      return this.#converted(event);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #converted(event: WireEvent | undefined): WireEvent | undefined {
    const { inVersion } = this.#options;
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

  /** A held event can be shown now, or never. */
  #release(show: () => WireEvent | undefined): void {
    if (this.#isClosed) return;
    this.#held = undefined;
    const event = show();
    if (event === undefined) return;
    if (this.#receive === undefined) this.#queue.push(event);
    else this.#deliver(event);
  }

  #deliver(event: WireEvent | undefined): void {
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

  /** Only a consumer that has read everything can be told that there was nothing more. False: it will be told later. */
  #offerBookmark(): boolean {
    if (this.#isClosed) return true;
    // Nor one that waits for an event that is still being converted.
    if (this.#receive === undefined || this.#held !== undefined) return false;
    // Nor may anybody go on from a version that a crash could still undo.
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

/** What has to come before an event of a cluster with a journal is told; undefined: nothing. */
function untilDurable(event: WireEvent | undefined, journal: Journal): Promise<void> | undefined {
  if (event === undefined || event.type === 'ERROR') return undefined;
  // Not all there is: a stream would fall behind who writes without a pause.
  if (Number(event.object.metadata.resourceVersion) <= journal.durableRevision) return undefined;
  return journal.durable();
}

/** Whether an event belongs to what a stream that ends still has to tell. */
function isUpTo(revision: number, event: WireEvent | undefined): boolean {
  if (event === undefined || event.type === 'ERROR') return event !== undefined;
  return Number(event.object.metadata.resourceVersion) <= revision;
}
