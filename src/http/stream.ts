/**
 * A watch → the body of its response: one JSON event per line. The reader sets the pace: nothing is taken from the
 * watch before somebody reads, except one event in advance, to learn whether more are ready to share a chunk.
 */
import { encodeCached, encodeJson } from '../codec/json-encoder.js';
import type { Status } from '../meta/status.js';
import type { WatchStream, WireEvent } from '../protocol/watch-event.js';
import { encodeMetadata } from './encode.js';
import type { ErrorListener } from './failure.js';
import { toStatusError } from './failure.js';
import type { MetadataView } from './negotiate.js';

export interface EventStreamOptions {
  /**
   * Its signal ends the stream and the watch. The request itself must stay referenced: in Node its signal follows the
   * caller's only as long as somebody holds the request.
   */
  readonly request: { readonly signal: AbortSignal };
  /** Absent: whole objects. */
  readonly view?: MetadataView | undefined;
  readonly onError: ErrorListener;
}

/** Events that are ready are sent together up to this many characters, about what a socket takes at once. */
const CHUNK = 64 * 1024;

/** The bytes of a watch. The watch is closed when the stream is cancelled, the signal aborts or the events end. */
export function eventStream(watch: WatchStream, options: EventStreamOptions): ReadableStream<Uint8Array> {
  // No room in the queue: a chunk is made when a reader waits for it.
  return new ReadableStream(new WatchSource(watch, options), { highWaterMark: 0 });
}

type Next = IteratorResult<WireEvent, undefined>;

class WatchSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #watch: WatchStream;
  readonly #options: EventStreamOptions;
  readonly #encoder = new TextEncoder();
  /** Asked for, not yet sent. */
  #ahead: Promise<Next> | undefined;
  #ended = false;
  #onAbort: (() => void) | undefined;

  constructor(watch: WatchStream, options: EventStreamOptions) {
    this.#watch = watch;
    this.#options = options;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#options.request;
    this.#onAbort = () => {
      this.#end();
      controller.close();
    };
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { text, last } = await this.#batch();
    // The reader or the signal may have ended the stream while the watch was silent.
    if (this.#ended) return;
    if (text !== '') controller.enqueue(this.#encoder.encode(text));
    if (!last) return;
    this.#end();
    controller.close();
  }

  cancel(): void {
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    if (this.#onAbort !== undefined) this.#options.request.signal.removeEventListener('abort', this.#onAbort);
    this.#watch.close();
  }

  /** Waits for one event and takes along those that are ready behind it. */
  async #batch(): Promise<{ readonly text: string; readonly last: boolean }> {
    let text = '';
    try {
      let next: Next | undefined = await (this.#ahead ?? this.#watch.next());
      while (next !== undefined) {
        this.#ahead = undefined;
        const line = next.done === true ? undefined : encodeEvent(next.value, this.#options.view);
        if (line === undefined) return { text, last: true };
        text += line;
        if (text.length >= CHUNK) break;
        this.#ahead = this.#watch.next();
        next = await Promise.race([this.#ahead, NOT_YET]);
      }
      return { text, last: false };
    } catch (error) {
      const { status } = toStatusError(error, this.#options.onError);
      return { text: text + encodeError(status), last: true };
    }
  }
}

/** Settled already, so in a race it wins against everything that is not. */
const NOT_YET = Promise.resolve(undefined);

/** One line; undefined when the event cannot be shown as asked, which ends the stream as in the reference server. */
function encodeEvent(event: WireEvent, view: MetadataView | undefined): string | undefined {
  if (event.type === 'ERROR') return encodeError(event.object);
  if (view?.kind === 'PartialObjectMetadataList') return undefined;
  const object = view === undefined ? encodeCached(event.object) : encodeMetadata(event.object, view);
  return `{"type":"${event.type}","object":${object}}\n`;
}

function encodeError(status: Status): string {
  return `{"type":"ERROR","object":${encodeJson(status)}}\n`;
}
