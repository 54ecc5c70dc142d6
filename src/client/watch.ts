/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A watch as its reader has it: the server's stream, with an ERROR frame turned into a thrown StatusError and every
 * end made quiet that the reader asked for. It subscribes when it is made, not at the first `next()`, and it holds no
 * events of its own: they pass through, in the objects the server made.
 */
import { StatusError } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import {
  type BookmarkEvent,
  type ChangeEvent,
  type DirectWatchStream,
  isLasting,
  type LastingStream,
  type WatchStream,
  type WireEvent,
} from '../protocol/watch-event.js';
import { onAbort } from '../util/abort.js';
import type { Undo } from '../util/clock.js';
import { isPromise } from '../util/maybe-promise.js';
import type { Endpoint } from './endpoint.js';

/** One event of a watch. Bookmarks come only to those who asked for them. */
export type WatchEvent<Object> = ChangeEvent<Object> | BookmarkEvent;

/**
 * A running watch. It has one reader: a loop, or calls of `next()` one after another.
 *
 * - It ends without an error on `close()`, on abort of its signal, on leaving a loop over it, and when the server ends
 *   it (its timeout).
 * - It throws StatusError when the server refuses it or breaks it off: Expired means that its version is gone from the
 *   history and that one has to list again. After that it has ended.
 */
export interface Watch<Object> extends AsyncIterable<WatchEvent<Object>>, AsyncDisposable {
  /** The next event. Rejects while another call waits, because the two readers would each miss events. */
  next(): Promise<IteratorResult<WatchEvent<Object>, undefined>>;
  /** What a loop calls when it is left early: closes. */
  return(): Promise<IteratorResult<WatchEvent<Object>, undefined>>;
  /** Ends the watch, also for a reader that waits. Again: does nothing. */
  close(): void;
  /** This watch itself. Throws when a loop is reading it already. */
  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<Object>, undefined>;
}

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** Internal: made by `watch()` and by the reflector. */
export class LiveWatch<Object> implements Watch<Object> {
  /** Present while events can come. */
  #stream: WatchStream | undefined;
  /** Present until an asynchronous transport has answered; settles early, without a stream, on `close`. */
  #opening: Promise<void> | undefined;
  #endOpening: () => void = () => undefined;
  /** What the next read throws. */
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #reading = false;
  #inLoop = false;
  #offSignal: Undo = () => undefined;

  /** Sends the request. Never throws: a refusal is what the first read throws, as over an asynchronous transport. */
  constructor(endpoint: Endpoint, request: ApiRequest) {
    const { signal } = request;
    if (signal?.aborted === true) {
      this.#ended = true;
      return;
    }
    try {
      const opened = endpoint.open(request);
      if (isPromise(opened)) this.#openLater(opened);
      else this.#stream = opened;
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#ended) this.#offSignal = onAbort(signal, () => this.close());
  }

  /** The stream, for a reader who wants it as it is; absent where it is not of this process, or was refused. */
  get lasting(): LastingStream | undefined {
    return this.#stream !== undefined && isLasting(this.#stream) ? this.#stream : undefined;
  }

  next(): Promise<IteratorResult<WatchEvent<Object>, undefined>> {
    if (this.#reading) return Promise.reject(new Error(`orchplane: ${SECOND_READER}`));
    if (this.#stream !== undefined) {
      this.#reading = true;
      // A stream in this process needs one promise per event instead of two.
      if (isDirect(this.#stream)) return this.#nextDirect(this.#stream);
      return this.#stream.next().then(this.#deliver, this.#breakOff);
    }
    if (this.#opening !== undefined) {
      this.#reading = true;
      return this.#opening.then(() => {
        this.#reading = false;
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
    if (this.#ended) return;
    this.#ended = true;
    this.#offSignal();
    const stream = this.#stream;
    this.#stream = undefined;
    this.#endOpening();
    stream?.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<Object>, undefined> {
    if (this.#inLoop && !this.#ended) throw new Error(`orchplane: ${SECOND_READER}`);
    this.#inLoop = true;
    this.#follow();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** A loop reads everything; whoever calls `next` by hand may stop when it likes. */
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
        if (this.#ended) stream.close();
        else this.#stream = stream;
        if (this.#inLoop) this.#follow();
        this.#endOpening();
      },
      (error: unknown) => {
        this.#fail(error);
        this.#endOpening();
      },
    );
  }

  /** Keeps the error for the reader; nobody is told of an error after the end that was asked for. */
  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#failure = { error };
    this.close();
  }

  #nextDirect(stream: DirectWatchStream): Promise<IteratorResult<WatchEvent<Object>, undefined>> {
    const event = stream.take();
    if (event === undefined || event.type === 'ERROR') {
      this.#taken = event;
      return new Promise(this.#readOne);
    }
    this.#reading = false;
    return Promise.resolve({ done: false, value: event as WatchEvent<Object> });
  }

  /** An error that was taken and is still to be told. */
  #taken: WireEvent | undefined;
  #resolve: (result: IteratorResult<WatchEvent<Object>, undefined>) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  // Made once per watch, not once per event: a thousand watches of one change are a thousand of these calls.
  readonly #readOne = (
    resolve: (result: IteratorResult<WatchEvent<Object>, undefined>) => void,
    reject: (error: unknown) => void,
  ): void => {
    this.#resolve = resolve;
    this.#reject = reject;
    if (this.#taken !== undefined) this.#receive(this.#taken);
    else if (this.#stream !== undefined && isDirect(this.#stream)) this.#stream.read(this.#receive);
  };

  readonly #receive = (event: WireEvent | undefined): void => {
    this.#reading = false;
    if (event !== undefined && event.type !== 'ERROR' && !this.#ended) {
      this.#resolve({ done: false, value: event as WatchEvent<Object> });
      return;
    }
    const isFailure = event?.type === 'ERROR' && !this.#ended;
    this.close();
    if (isFailure) this.#reject(new StatusError(event.object));
    else this.#resolve(DONE);
  };

  readonly #deliver = (result: IteratorResult<WireEvent, undefined>): IteratorResult<WatchEvent<Object>, undefined> => {
    this.#reading = false;
    if (this.#ended) return DONE;
    if (result.done !== true && result.value.type !== 'ERROR') return result as IteratorYieldResult<WatchEvent<Object>>;
    this.close();
    if (result.done !== true && result.value.type === 'ERROR') throw new StatusError(result.value.object);
    return DONE;
  };

  readonly #breakOff = (error: unknown): IteratorReturnResult<undefined> => {
    this.#reading = false;
    if (this.#ended) return DONE;
    this.close();
    throw error;
  };
}

const SECOND_READER = 'a watch has one reader, and this one is being read already; call watch() again for another';

function isDirect(stream: WatchStream): stream is DirectWatchStream {
  return 'read' in stream;
}
