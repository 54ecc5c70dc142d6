/**
 * A watch → the body of its answer, event by event. The reader sets the pace: nothing is taken from the watch before
 * somebody reads, except, where a watch cannot say what is at hand, one event in advance.
 */
import type { Encoded, EventDocument, StreamCodec } from '../codec/codec.js';
import type { Dialect } from '../meta/dialect.js';
import type { DirectWatchStream, WatchStream, WireEvent } from '../protocol/watch-event.js';
import type { ByteSource } from './answer.js';
import { Chunk } from './chunk.js';
import type { ErrorListener } from './respond.js';
import { toStatusError } from './respond.js';
import type { Presentation } from './response-document.js';
import { presentEvent } from './response-document.js';

export class RecentEvents {
  readonly #kept = new Map<object, Kept>();
  readonly #most: number;
  readonly #text = new TextEncoder();

  constructor(most = 128) {
    this.#most = most;
  }

  encode(event: EventDocument, codec: StreamCodec, dialect: Dialect): Uint8Array {
    const known = this.#kept.get(event.object);
    if (known !== undefined && known.type === event.type && known.codec === codec) return known.bytes;
    const bytes = this.#toBytes(codec.encode(event, dialect));
    // What may still change is not the same the next time.
    if (Object.isFrozen(event.object)) this.#keep(event.object, { type: event.type, codec, bytes });
    return bytes;
  }

  #keep(object: object, kept: Kept): void {
    this.#kept.set(object, kept);
    if (this.#kept.size <= this.#most) return;
    // The oldest is the first.
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }

  #toBytes(encoded: Encoded): Uint8Array {
    return typeof encoded === 'string' ? this.#text.encode(encoded) : encoded;
  }
}

export interface EventStreamOptions {
  /**
   * Its signal ends the stream and the watch. The request itself must stay referenced: in Node its signal follows the
   * caller's only as long as somebody holds the request.
   */
  readonly request: { readonly signal: AbortSignal };
  readonly codec: StreamCodec;
  /** How objects are shown at this moment: ages in tables grow. */
  readonly presentation: () => Presentation;
  /** What other watches were sent lately; absent: every event is encoded anew. */
  readonly recent?: RecentEvents;
  readonly onError: ErrorListener;
  /** Called for each event that is sent, with its length. */
  readonly onEvent?: (bytes: number) => void;
  /** Called once when no more events will be sent. */
  readonly onEnd?: () => void;
}

/** Events that are ready are sent together up to about this many bytes, what a socket takes at once. */
const CHUNK = 64 * 1024;

/** The bytes of a watch. The watch is closed when the reader cancels, the signal aborts or the events end. */
export function eventStream(watch: WatchStream, options: EventStreamOptions): ByteSource {
  return new WatchSource(watch, options);
}

class WatchSource implements ByteSource {
  readonly #watch: WatchStream;
  readonly #direct: DirectWatchStream | undefined;
  readonly #options: EventStreamOptions;
  #hasSent = false;
  /** Asked for, not yet sent. */
  #ahead: Promise<IteratorResult<WireEvent, undefined>> | undefined;
  #ended = false;
  readonly #onAbort = (): void => this.#end();

  constructor(watch: WatchStream, options: EventStreamOptions) {
    this.#watch = watch;
    this.#direct = isDirect(watch) ? watch : undefined;
    this.#options = options;
    const { signal } = options.request;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Waits for one event and takes along those that are ready behind it. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#ended) return undefined;
    const chunk = new Chunk();
    try {
      let event = this.#ahead === undefined ? await this.#next() : eventOf(await this.#ahead);
      this.#ahead = undefined;
      while (chunk.length < CHUNK) {
        // The reader or the signal may have ended the stream while the watch was silent.
        const encoded = event === undefined || this.#ended ? undefined : this.#encode(event);
        if (encoded === undefined) {
          this.#end();
          break;
        }
        chunk.add(encoded);
        this.#options.onEvent?.(encoded.length);
        if (chunk.length >= CHUNK) break;
        const more = this.#atHand();
        event = more instanceof Promise ? await more : more;
        if (event === undefined) break;
      }
    } catch (error) {
      const { status } = toStatusError(error, this.#options.onError);
      this.#end();
      chunk.add(this.#encode({ type: 'ERROR', object: status }) ?? '');
    }
    return chunk.length === 0 ? undefined : chunk.bytes();
  }

  cancel(): void {
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.request.signal.removeEventListener('abort', this.#onAbort);
    this.#watch.close();
    this.#options.onEnd?.();
  }

  /** Undefined at the end. */
  #next(): Promise<WireEvent | undefined> {
    if (this.#direct !== undefined) {
      const direct = this.#direct;
      return new Promise((resolve) => direct.read(resolve));
    }
    return this.#watch.next().then(eventOf);
  }

  /** An event that need not be waited for. Of a watch that does not tell, one is asked for and kept until it comes. */
  #atHand(): WireEvent | undefined | Promise<WireEvent | undefined> {
    if (this.#direct !== undefined) return this.#direct.take();
    const asked = this.#watch.next();
    this.#ahead = asked;
    return Promise.race([asked, NOT_YET]).then((result) => {
      const event = result === undefined ? undefined : eventOf(result);
      // An end is left for the next read to find.
      if (event !== undefined) this.#ahead = undefined;
      return event;
    });
  }

  /** Undefined when the event cannot be shown as asked, which ends the stream as in the reference server. */
  #encode(event: WireEvent): Encoded | undefined {
    const { codec, presentation, recent } = this.#options;
    const shown = presentation();
    if (event.type === 'ERROR') return codec.encode(event, shown.dialect);
    if (shown.view === undefined && recent !== undefined) return recent.encode(event, codec, shown.dialect);
    const object = presentEvent(event.object, shown, { isFirst: !this.#hasSent });
    this.#hasSent = true;
    return object === undefined ? undefined : codec.encode({ type: event.type, object }, shown.dialect);
  }
}

function eventOf(result: IteratorResult<WireEvent, undefined>): WireEvent | undefined {
  return result.done === true ? undefined : result.value;
}

function isDirect(watch: WatchStream): watch is DirectWatchStream {
  return 'take' in watch && 'read' in watch;
}

/** Settled already, so in a race it wins against everything that is not. */
const NOT_YET = Promise.resolve(undefined);

interface Kept {
  readonly type: string;
  readonly codec: StreamCodec;
  readonly bytes: Uint8Array;
}
