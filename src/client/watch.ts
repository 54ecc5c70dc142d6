/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The client's watch: the server's stream, with ERROR events thrown as StatusError and a silent end when the reader
 * closes it. It subscribes when it is created, not at the first `next()`, and buffers no events.
 */
import { StatusError } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import {
  type BookmarkEvent,
  type CancellableTimeoutStream,
  type ChangeEvent,
  canDisableTimeout,
  type DirectWatchStream,
  type ServerWatchEvent,
  type WatchStream,
} from '../protocol/watch-event.js';
import { onAbort } from '../util/abort.js';
import type { Undo } from '../util/clock.js';
import { isPromise } from '../util/maybe-promise.js';
import type { Endpoint } from './endpoint.js';

/** One event of a watch. Bookmarks are sent only on request. */
export type WatchEvent<Object> = ChangeEvent<Object> | BookmarkEvent;

/**
 * The changes of a collection, as the client reads them. It has one reader: a loop, or sequential calls of `next()`.
 *
 * - It ends without an error on `close()`, on abort of its signal, on leaving a loop over it, and when the server ends
 *   it (its timeout).
 * - It throws StatusError when the server rejects or aborts it, and has then ended. Expired means that its
 *   resourceVersion is no longer in the history and the client has to list again.
 */
export interface Watch<Object> extends AsyncIterable<WatchEvent<Object>>, AsyncDisposable {
  /** The next event. Rejects while another call is pending, because two readers would each miss events. */
  next(): Promise<IteratorResult<WatchEvent<Object>, undefined>>;
  /** Called by a loop that exits early: closes the watch. */
  return(): Promise<IteratorResult<WatchEvent<Object>, undefined>>;
  /** Ends the watch, also for a pending read. Repeated calls do nothing. */
  close(): void;
  /** Returns this watch. Throws when a loop is already reading it. */
  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<Object>, undefined>;
}

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** The implementation of Watch: created by `watch()` and by the reflector. */
export class ClientWatch<Object> implements Watch<Object> {
  /** Present while events can arrive. */
  #stream: WatchStream | undefined;
  /** Present until an asynchronous transport has responded; settles early, without a stream, on `close`. */
  #opening: Promise<void> | undefined;
  #endOpening: () => void = () => undefined;
  /** The error that the next read throws. */
  #failure: { readonly error: unknown } | undefined;
  #isEnded = false;
  #isReading = false;
  #isInLoop = false;
  #offSignal: Undo = () => undefined;

  /** Sends the request. Never throws: an error is thrown by the first read, as with an asynchronous transport. */
  constructor(endpoint: Endpoint, request: ApiRequest) {
    const { signal } = request;
    if (signal?.aborted === true) {
      this.#isEnded = true;
      return;
    }
    try {
      const opened = endpoint.openWatch(request);
      if (isPromise(opened)) this.#openLater(opened);
      else this.#stream = opened;
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#isEnded) this.#offSignal = onAbort(signal, () => this.close());
  }

  /** The server's stream, for reading without promises; absent for a remote stream, or when the request was rejected. */
  get directStream(): CancellableTimeoutStream | undefined {
    return this.#stream !== undefined && canDisableTimeout(this.#stream) ? this.#stream : undefined;
  }

  next(): Promise<IteratorResult<WatchEvent<Object>, undefined>> {
    if (this.#isReading) return Promise.reject(new Error(`orchplane: ${SECOND_READER}`));
    if (this.#stream !== undefined) {
      this.#isReading = true;
      // A stream in this process needs one promise per event instead of two.
      if (isDirect(this.#stream)) return this.#nextDirect(this.#stream);
      return this.#stream.next().then(this.#deliver, this.#failWith);
    }
    if (this.#opening !== undefined) {
      this.#isReading = true;
      return this.#opening.then(() => {
        this.#isReading = false;
        return this.next();
      });
    }
    if (this.#failure === undefined) return Promise.resolve(DONE);
    const { error } = this.#failure;
    this.#failure = undefined;
    return Promise.reject(error);
  }

  return(): Promise<IteratorResult<WatchEvent<Object>, undefined>> {
    this.close();
    return Promise.resolve(DONE);
  }

  close(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#offSignal();
    const stream = this.#stream;
    this.#stream = undefined;
    this.#endOpening();
    stream?.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<Object>, undefined> {
    if (this.#isInLoop && !this.#isEnded) throw new Error(`orchplane: ${SECOND_READER}`);
    this.#isInLoop = true;
    this.#follow();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** A loop reads all events; manual calls of `next` may stop at any time. */
  #follow(): void {
    if (this.#stream !== undefined && isDirect(this.#stream)) this.#stream.follow();
  }

  #openLater(opened: Promise<WatchStream>): void {
    this.#opening = new Promise((resolve) => {
      this.#endOpening = () => {
        this.#opening = undefined;
        resolve();
      };
    });
    opened.then(
      (stream) => {
        if (this.#isEnded) stream.close();
        else this.#stream = stream;
        if (this.#isInLoop) this.#follow();
        this.#endOpening();
      },
      (error: unknown) => {
        this.#fail(error);
        this.#endOpening();
      },
    );
  }

  /** Keeps the error for the next read; errors after the end are dropped. */
  #fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#failure = { error };
    this.close();
  }

  #nextDirect(stream: DirectWatchStream): Promise<IteratorResult<WatchEvent<Object>, undefined>> {
    const event = stream.take();
    if (event === undefined || event.type === 'ERROR') {
      this.#pendingError = event;
      return new Promise(this.#readOne);
    }
    this.#isReading = false;
    return Promise.resolve({ done: false, value: event as WatchEvent<Object> });
  }

  /** An ERROR event that was taken but not delivered yet. */
  #pendingError: ServerWatchEvent | undefined;
  #resolve: (result: IteratorResult<WatchEvent<Object>, undefined>) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  // Created once per watch, not per event: one change may be delivered to thousands of watches.
  readonly #readOne = (
    resolve: (result: IteratorResult<WatchEvent<Object>, undefined>) => void,
    reject: (error: unknown) => void,
  ): void => {
    this.#resolve = resolve;
    this.#reject = reject;
    if (this.#pendingError !== undefined) this.#receive(this.#pendingError);
    else if (this.#stream !== undefined && isDirect(this.#stream)) this.#stream.read(this.#receive);
  };

  readonly #receive = (event: ServerWatchEvent | undefined): void => {
    this.#isReading = false;
    if (event !== undefined && event.type !== 'ERROR' && !this.#isEnded) {
      this.#resolve({ done: false, value: event as WatchEvent<Object> });
      return;
    }
    const isFailure = event?.type === 'ERROR' && !this.#isEnded;
    this.close();
    if (isFailure) this.#reject(new StatusError(event.object));
    else this.#resolve(DONE);
  };

  readonly #deliver = (
    result: IteratorResult<ServerWatchEvent, undefined>,
  ): IteratorResult<WatchEvent<Object>, undefined> => {
    this.#isReading = false;
    if (this.#isEnded) return DONE;
    if (result.done !== true && result.value.type !== 'ERROR') return result as IteratorYieldResult<WatchEvent<Object>>;
    this.close();
    if (result.done !== true && result.value.type === 'ERROR') throw new StatusError(result.value.object);
    return DONE;
  };

  readonly #failWith = (error: unknown): IteratorReturnResult<undefined> => {
    this.#isReading = false;
    if (this.#isEnded) return DONE;
    this.close();
    throw error;
  };
}

const SECOND_READER = 'a watch has one reader, and this one is being read already; call watch() again for another';

function isDirect(stream: WatchStream): stream is DirectWatchStream {
  return 'read' in stream;
}
