/**
 * A running watch: synthetic events first, then a cursor over the log, with bookmarks, a timeout and an end.
 *
 * It holds no events beyond its initial ones: `next` pulls from the cursor, so a consumer that stops reading costs
 * nothing, and gets an ERROR when the log has moved past it.
 */
import { errors } from '../meta/errors.js';
import type { Bookmark, WatchStream, WireEvent } from '../protocol/watch-event.js';
import type { Cursor } from '../storage/cursor.js';
import { CompactedError } from '../storage/types.js';
import type { Clock, Undo } from '../util/clock.js';

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
  /** Where a running stream is listed until it ends. */
  readonly running: Set<{ close(): void }>;
}

type Result = IteratorResult<WireEvent, undefined>;

const DONE: Result = Object.freeze({ done: true, value: undefined });
const BOOKMARK_INTERVAL_MS = 60_000;
/** A bookmark shortly before the end lets the client come back to where it was. */
const LAST_BOOKMARK_MS = 2_000;
const IN_BACKGROUND = { background: true };

export class EventStream implements WatchStream {
  readonly #options: EventStreamOptions;
  readonly #cursor: Cursor | undefined;
  /** Events to hand out before the cursor's: initial ones, a due bookmark, a last error. */
  #queue: WireEvent[];
  #queued = 0;
  #waiting: ((result: Result) => void) | undefined;
  #pending: Promise<Result> | undefined;
  #isClosed = false;
  readonly #undos: Undo[] = [];

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    this.#queue = [...options.initial];
    options.running.add(this);
    const { signal } = options;
    if (signal !== undefined) {
      const onAbort = () => this.close();
      signal.addEventListener('abort', onAbort);
      this.#undos.push(() => signal.removeEventListener('abort', onAbort));
      if (signal.aborted) this.close();
    }
    if (!this.#isClosed && this.#cursor !== undefined) this.#startTimers();
  }

  next(): Promise<Result> {
    const event = this.#take();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#isClosed) return Promise.resolve(DONE);
    // A second call before the first is answered takes its turn behind it.
    if (this.#pending !== undefined && this.#waiting !== undefined) return this.#pending.then(() => this.next());
    this.#pending = new Promise((resolve) => {
      this.#waiting = resolve;
      this.#cursor?.wait(this.#onEvent);
    });
    return this.#pending;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#queue = [];
    this.#queued = 0;
    this.#end();
    this.#waiting?.(DONE);
    this.#waiting = undefined;
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
    try {
      return this.#cursor?.poll();
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      this.#end();
      const { status } = errors.expired('The resourceVersion for the provided watch is too old.');
      return { type: 'ERROR', object: status };
    }
  }

  readonly #onEvent = (): void => {
    const resolve = this.#waiting;
    if (resolve === undefined) return;
    this.#waiting = undefined;
    const event = this.#take();
    resolve(event === undefined ? DONE : { done: false, value: event });
  };

  #startTimers(): void {
    const { clock, timeoutMs, timeoutIsAwaited, bookmark } = this.#options;
    if (timeoutMs !== undefined) {
      const background = timeoutIsAwaited !== true;
      this.#undos.push(clock.after(timeoutMs, () => this.close(), { background }));
      if (bookmark !== undefined && timeoutMs > LAST_BOOKMARK_MS) {
        const beforeEnd = timeoutMs - LAST_BOOKMARK_MS;
        this.#undos.push(clock.after(beforeEnd, () => this.#offerBookmark(), IN_BACKGROUND));
      }
    }
    if (bookmark !== undefined) this.#scheduleBookmark();
  }

  #scheduleBookmark(): void {
    const offer = () => {
      this.#undos.splice(this.#undos.indexOf(undo), 1);
      if (this.#isClosed) return;
      this.#offerBookmark();
      this.#scheduleBookmark();
    };
    const undo = this.#options.clock.after(BOOKMARK_INTERVAL_MS, offer, IN_BACKGROUND);
    this.#undos.push(undo);
  }

  /** Only a consumer that has read everything can be told that there was nothing more. */
  #offerBookmark(): void {
    const resolve = this.#waiting;
    if (this.#isClosed || resolve === undefined) return;
    const object = this.#options.bookmark?.();
    if (object === undefined) return;
    this.#waiting = undefined;
    resolve({ done: false, value: { type: 'BOOKMARK', object } });
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.running.delete(this);
    this.#cursor?.close();
    for (const undo of this.#undos) undo();
    this.#undos.length = 0;
  }
}
