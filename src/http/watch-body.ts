/**
 * The response body of a watch. The reader sets the pace: events are taken from the watch only on demand, except for
 * one event in advance from watches that cannot report whether an event is available.
 */
import type { Document, Encoded, EventDocument, StreamCodec } from '../codec/codec.js';
import type { Dialect } from '../meta/dialect.js';
import type { ByteSource } from '../protocol/http.js';
import type { Bookmark, DirectWatchStream, ServerWatchEvent, WatchStream } from '../protocol/watch-event.js';
import { decodeBase64Text, encodeBase64 } from '../util/base64.js';
import { Chunk } from './chunk.js';
import type { ErrorListener } from './respond.js';
import { toStatusError } from './respond.js';
import type { DocumentOptions } from './response-document.js';
import { toEventDocument } from './response-document.js';

/** The options of {@link createWatchBody}. */
export interface WatchBodyOptions {
  /**
   * Its signal ends the stream and the watch. The request must stay referenced: in Node its signal follows the caller's
   * only as long as the request is reachable.
   */
  readonly request: { readonly signal: AbortSignal; readonly isWebSocket?: boolean };
  readonly codec: StreamCodec;
  /** Encodes the empty list in the bookmark that ends the initial events. Text: the list stays in JSON. */
  readonly encodeList?: (list: Document) => Encoded;
  /** The current document options; ages in tables change over time. */
  readonly documentOptions: () => DocumentOptions;
  /** Encoded events shared between watches; absent: every event is encoded anew. */
  readonly eventCache?: EncodedEventCache;
  readonly onError: ErrorListener;
  /** Called with the length of each sent event. */
  readonly onEvent?: (bytes: number) => void;
  /** Called once when the stream ends. */
  readonly onEnd?: () => void;
}

/** Available events are sent together up to about this many bytes, which a socket accepts at once. */
const MAX_CHUNK_BYTES = 64 * 1024;

/** The bytes of a watch. The watch is closed when the reader cancels, the signal aborts or the events end. */
export function createWatchBody(watch: WatchStream, options: WatchBodyOptions): ByteSource {
  return new WatchByteSource(watch, options);
}

class WatchByteSource implements ByteSource {
  readonly #watch: WatchStream;
  readonly #direct: DirectWatchStream | undefined;
  readonly #options: WatchBodyOptions;
  #hasSent = false;
  /** Requested, but not sent yet. */
  #pendingNext: Promise<IteratorResult<ServerWatchEvent, undefined>> | undefined;
  #ended = false;
  readonly #onAbort = (): void => this.#end();

  constructor(watch: WatchStream, options: WatchBodyOptions) {
    this.#watch = watch;
    this.#direct = isDirect(watch) ? watch : undefined;
    this.#options = options;
    const { signal } = options.request;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Waits for one event and appends those that are already available. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#ended) return undefined;
    const chunk = new Chunk();
    try {
      let event = this.#pendingNext === undefined ? await this.#next() : eventOf(await this.#pendingNext);
      this.#pendingNext = undefined;
      const maxBytes = this.#options.request.isWebSocket === true ? 1 : MAX_CHUNK_BYTES;
      while (chunk.length < maxBytes) {
        // The reader or the signal may have ended the stream during the wait.
        const encoded = event === undefined || this.#ended ? undefined : this.#encode(event);
        if (encoded === undefined) {
          this.#end();
          break;
        }
        chunk.add(encoded);
        this.#options.onEvent?.(encoded.length);
        if (chunk.length >= maxBytes) break;
        const more = this.#takeAvailable();
        event = more instanceof Promise ? await more : more;
        if (event === undefined) break;
      }
    } catch (error) {
      const { status } = toStatusError(error, this.#options.onError);
      this.#end();
      chunk.add(this.#encode({ type: 'ERROR', object: status }) ?? '');
    }
    if (chunk.length === 0) return undefined;
    const { codec, request, eventCache } = this.#options;
    if (request.isWebSocket === true) return chunk.bytes().subarray(codec.framingBytes ?? 0);
    return eventCache?.join(chunk) ?? chunk.bytes();
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
  #next(): Promise<ServerWatchEvent | undefined> {
    if (this.#direct !== undefined) {
      const direct = this.#direct;
      return new Promise((resolve) => direct.read(resolve));
    }
    return this.#watch.next().then(eventOf);
  }

  /** An event that is already available. For a watch that cannot tell, one is requested and kept until it arrives. */
  #takeAvailable(): ServerWatchEvent | undefined | Promise<ServerWatchEvent | undefined> {
    if (this.#direct !== undefined) return this.#direct.take();
    const next = this.#watch.next();
    this.#pendingNext = next;
    return Promise.race([next, NOT_YET]).then((result) => {
      const event = result === undefined ? undefined : eventOf(result);
      // The next read handles the end.
      if (event !== undefined) this.#pendingNext = undefined;
      return event;
    });
  }

  /** Undefined when the view does not apply to the event, which ends the stream as in the reference server. */
  #encode(event: ServerWatchEvent): Encoded | undefined {
    const { codec, documentOptions, eventCache } = this.#options;
    const options = documentOptions();
    if (event.type === 'ERROR') return codec.encode(event, options.dialect);
    if (event.type === 'BOOKMARK') return this.#encodeBookmark(event.object, options);
    if (options.view === undefined && eventCache !== undefined) return eventCache.encode(event, codec, options.dialect);
    const object = toEventDocument(event.object, options, { isFirst: !this.#hasSent });
    this.#hasSent = true;
    return object === undefined ? undefined : codec.encode({ type: event.type, object }, options.dialect);
  }

  /** The first bookmark may have the empty list of a streaming list, in the encoding of the response. */
  #encodeBookmark(bookmark: Bookmark, options: DocumentOptions): Encoded | undefined {
    const { codec, encodeList } = this.#options;
    const shown = toEventDocument(bookmark, options, { isFirst: !this.#hasSent });
    this.#hasSent = true;
    if (shown === undefined) return undefined;
    const object = encodeList === undefined ? shown : withEncodedBlueprint(shown, encodeList, options.dialect);
    return codec.encode({ type: 'BOOKMARK', object }, options.dialect);
  }
}

/** The blueprint in a bookmark is JSON; other encodings replace it. */
function withEncodedBlueprint(
  document: Document & { readonly metadata?: Partial<Bookmark['metadata']> },
  encodeList: (list: Document) => Encoded,
  dialect: Dialect,
): Document {
  const key = dialect.key('initial-events-list-blueprint');
  const { metadata } = document;
  const blueprint = metadata?.annotations?.[key];
  if (blueprint === undefined) return document;
  const encoded = encodeList(JSON.parse(decodeBase64Text(blueprint)) as Document);
  if (typeof encoded === 'string') return document;
  const annotations = { ...metadata?.annotations, [key]: encodeBase64(encoded) };
  const changed: Document & { readonly metadata: object } = { ...document, metadata: { ...metadata, annotations } };
  return changed;
}

function eventOf(result: IteratorResult<ServerWatchEvent, undefined>): ServerWatchEvent | undefined {
  return result.done === true ? undefined : result.value;
}

function isDirect(watch: WatchStream): watch is DirectWatchStream {
  return 'take' in watch && 'read' in watch;
}

/** Already settled, so it wins a race against a pending promise. */
const NOT_YET = Promise.resolve(undefined);

interface CachedEvent {
  readonly type: string;
  readonly codec: StreamCodec;
  readonly bytes: Uint8Array;
}

/** The most recently encoded events: an event that many watches receive is encoded once. */
export class EncodedEventCache {
  readonly #entries = new Map<object, CachedEvent>();
  readonly #capacity: number;
  readonly #text = new TextEncoder();
  #joined: { readonly chunk: Chunk; readonly bytes: Uint8Array } | undefined;

  constructor(capacity = 128) {
    this.#capacity = capacity;
  }

  encode(event: EventDocument, codec: StreamCodec, dialect: Dialect): Uint8Array {
    const cached = this.#entries.get(event.object);
    if (cached !== undefined && cached.type === event.type && cached.codec === codec) return cached.bytes;
    const bytes = this.#toBytes(codec.encode(event, dialect));
    // An object that is not frozen may change, so it is not cached.
    if (Object.isFrozen(event.object)) this.#store(event.object, { type: event.type, codec, bytes });
    return bytes;
  }

  /** The bytes of a chunk, which the next chunk with the same pieces shares: many watches receive the same events together. */
  join(chunk: Chunk): Uint8Array {
    if (this.#joined?.chunk.equals(chunk) !== true) this.#joined = { chunk, bytes: chunk.bytes() };
    return this.#joined.bytes;
  }

  #store(object: object, event: CachedEvent): void {
    this.#entries.set(object, event);
    if (this.#entries.size <= this.#capacity) return;
    // Map keys are in insertion order: the first is the oldest.
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  #toBytes(encoded: Encoded): Uint8Array {
    return typeof encoded === 'string' ? this.#text.encode(encoded) : encoded;
  }
}
