/**
 * Adapts a request handler to node:http. It sends the headers of streams at once, applies back pressure from slow
 * readers, aborts the request when the client disconnects, and lets a client that is still uploading read the error
 * response.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Peer } from '../auth/authentication.js';
import type { Answer, ByteSource, HttpRequest } from '../http/answer.js';
import { isByteSource } from '../http/answer.js';
import { systemClock } from '../util/clock.js';
import { announcesBody, ClientDisconnectedError, IncomingRequest } from './incoming-request.js';

/** The fastest level: each response is compressed for one client only. */
const GZIP_LEVEL = 1;

/** Handles a request. It rejects only for an internal error. */
export type RequestHandler = (request: HttpRequest) => Promise<Answer>;

/** A finished request, for the log. */
export interface RequestLogEntry {
  readonly method: string;
  /** The request target as sent by the client. */
  readonly target: string;
  /** 0 when the client disconnected before the response. */
  readonly status: number;
  /** The size of the response body. */
  readonly bytes: number;
  readonly userAgent: string;
  /** From `process.hrtime.bigint()`. */
  readonly startedAt: bigint;
  /** The client disconnected before the end of the response. */
  readonly isAborted: boolean;
}

/** The options of {@link createListener}. */
export interface ListenerOptions {
  /** The origin of a request: scheme, host and port. */
  readonly origin: (incoming: IncomingMessage) => string;
  /** The client identity that a connection provides; absent: none. */
  readonly peerOf?: ((incoming: IncomingMessage) => Peer | undefined) | undefined;
  /** Called with errors of the handler and of streams. */
  readonly onError: (error: unknown) => void;
  /** Called when a request has ended. */
  readonly onRequestEnd?: ((entry: RequestLogEntry) => void) | undefined;
}

/** The request listener of a server. */
export interface Listener {
  /** The listeners of a server's `request` and `checkContinue` events. */
  readonly request: RequestListener;
  readonly checkContinue: RequestListener;
  /**
   * Ends streams at once, lets other responses finish and closes their connections. Resolves when no request is active.
   */
  drain(): Promise<void>;
}

/** Creates a listener that answers requests with a handler. */
export function createListener(handler: RequestHandler, options: ListenerOptions): Listener {
  const state: ListenerState = { handler, options, active: new Set(), draining: undefined };
  return {
    request: (incoming, outgoing) => void new Exchange(state, incoming, outgoing).run(),
    checkContinue: (incoming, outgoing) => {
      const exchange = new Exchange(state, incoming, outgoing);
      exchange.awaitsContinue = true;
      void exchange.run();
    },
    drain() {
      for (const exchange of state.active) exchange.endForShutdown();
      return new Promise((resolve) => {
        state.draining = resolve;
        if (state.active.size === 0) resolve();
      });
    },
  };
}

interface ListenerState {
  readonly handler: RequestHandler;
  readonly options: ListenerOptions;
  readonly active: Set<Exchange>;
  /** Present while draining; called when the last request has ended. */
  draining: (() => void) | undefined;
}

/** The reference server reads this much of a rejected upload to keep the connection usable. */
const MAX_DRAINED_BYTES = 256 * 1024;
/** How long an uploading client has to read the response before the connection closes. */
const LINGER_MS = 500;

class Exchange {
  readonly #state: ListenerState;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #startedAt: bigint | undefined;
  #request: IncomingRequest | undefined;
  #bytes = 0;
  #streaming = false;
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue = false;

  constructor(state: ListenerState, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#state = state;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    if (state.options.onRequestEnd !== undefined) this.#startedAt = process.hrtime.bigint();
    state.active.add(this);
    outgoing.on('close', () => this.#onClose());
  }

  async run(): Promise<void> {
    const { handler, options } = this.#state;
    try {
      const path = pathOfTarget(this.#incoming.url ?? '');
      if (path === undefined) return this.#send(this.#answerWithoutPath());
      const onRead = (): void => {
        if (this.awaitsContinue) this.#outgoing.writeContinue();
        this.awaitsContinue = false;
      };
      const url = options.origin(this.#incoming) + path;
      this.#request = new IncomingRequest(this.#incoming, { url, onRead, peer: options.peerOf?.(this.#incoming) });
      await this.#send(await handler(this.#request));
    } catch (error) {
      // The headers may have been sent; destroying the connection is the only remaining signal.
      if (!(error instanceof ClientDisconnectedError)) options.onError(error);
      this.#outgoing.destroy();
    }
  }

  /** Called on shutdown: ends a stream and closes the connection after the response. */
  endForShutdown(): void {
    if (!this.#outgoing.headersSent) this.#outgoing.shouldKeepAlive = false;
    if (this.#streaming) this.#request?.abort(new ServerClosing());
  }

  /** The response to a target without a path: `OPTIONS *`, or 400. */
  #answerWithoutPath(): Answer {
    if (this.#incoming.url === '*' && this.#incoming.method === 'OPTIONS') {
      return { code: 200, headers: [], body: '' };
    }
    return { code: 400, headers: [['Content-Type', 'text/plain; charset=utf-8']], body: '400 Bad Request' };
  }

  async #send({ code, headers, body, compress }: Answer): Promise<void> {
    const outgoing = this.#outgoing;
    if (outgoing.destroyed) {
      if (isStream(body)) toByteSource(body).cancel();
      return;
    }
    // 1. Send the headers.
    const head: string[] = [];
    for (const [name, value] of headers) head.push(name, value);
    const lingers = this.#abandonsUpload();
    if (lingers || this.#state.draining !== undefined) outgoing.shouldKeepAlive = false;
    const hasBody = code !== 204 && code !== 304 && this.#incoming.method !== 'HEAD';
    if (isStream(body)) {
      outgoing.writeHead(code, head);
      const source = compress === undefined ? toByteSource(body) : gzipSource(toByteSource(body));
      if (hasBody) return this.#stream(source, isByteSource(body));
      source.cancel();
      outgoing.end();
      return;
    }
    if (hasBody) {
      this.#bytes = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
      head.push('Content-Length', String(this.#bytes));
    }
    outgoing.writeHead(code, head);
    // 2. Send the body. In one write with a string, Node would encode the headers like the string, but they are already
    // bytes.
    const content = typeof body === 'string' && head.some(hasNonAscii) ? Buffer.from(body) : (body ?? '');
    if (!lingers) outgoing.end(hasBody ? content : undefined);
    else this.#linger(hasBody ? content : '');
  }

  /** Whether the client is still sending a body that will not be read, so that the connection cannot be reused. */
  #abandonsUpload(): boolean {
    const incoming = this.#incoming;
    if (incoming.complete || !announcesBody(incoming)) return false;
    const length = incoming.headers['content-length'];
    return this.awaitsContinue || length === undefined || Number(length) > MAX_DRAINED_BYTES;
  }

  /**
   * Sends the response but delays closing: closing a socket while the peer still sends discards what the peer has not
   * read yet.
   */
  #linger(body: string | Uint8Array): void {
    const outgoing = this.#outgoing;
    const incoming = this.#incoming;
    const end = (): void => {
      undo();
      outgoing.end();
    };
    const undo = systemClock.after(LINGER_MS, end, { background: true });
    // Without a body to write, the headers would be sent only at the end.
    if (body.length === 0) outgoing.flushHeaders();
    else outgoing.write(body);
    // A client that waits for `100 Continue` sends nothing.
    if (this.awaitsContinue) end();
    else incoming.on('end', end).on('close', end).resume();
  }

  async #stream(source: ByteSource, isLive: boolean): Promise<void> {
    const outgoing = this.#outgoing;
    outgoing.flushHeaders();
    this.#streaming = true;
    if (this.#state.draining !== undefined) this.endForShutdown();
    // Also ends a stream that ignores the request's signal. A failed stream has already ended.
    outgoing.on('close', () => {
      if (this.#streaming) source.cancel();
    });
    try {
      for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) {
        if (outgoing.destroyed) return;
        this.#bytes += bytes.length;
        if (!outgoing.write(bytes)) await waitForDrain(outgoing);
        // Events that arrive in the meantime share a write; otherwise a busy server would spend its time on
        // single-event writes.
        else if (isLive) await nextEventLoopTurn();
      }
    } finally {
      this.#streaming = false;
    }
    outgoing.end();
  }

  /** The response is complete, or the connection is closed. */
  #onClose(): void {
    const { active, draining, options } = this.#state;
    const outgoing = this.#outgoing;
    if (!outgoing.writableFinished) this.#request?.abort(new ClientDisconnectedError());
    active.delete(this);
    if (draining !== undefined && active.size === 0) draining();
    if (options.onRequestEnd === undefined || this.#startedAt === undefined) return;
    const { method = '', url = '', headers } = this.#incoming;
    options.onRequestEnd({
      method,
      target: url,
      status: outgoing.headersSent ? outgoing.statusCode : 0,
      bytes: this.#bytes,
      userAgent: headers['user-agent'] ?? '',
      startedAt: this.#startedAt,
      isAborted: !outgoing.writableFinished,
    });
  }
}

/** The abort reason of streams on shutdown. */
class ServerClosing extends Error {
  override readonly name = 'ServerClosing';

  constructor() {
    super('the server is closing');
  }
}

type Body = NonNullable<Answer['body']>;

function isStream(body: Answer['body']): body is ByteSource | ReadableStream<Uint8Array> {
  return body !== null && (body instanceof ReadableStream || isByteSource(body));
}

function toByteSource(body: Extract<Body, ByteSource | ReadableStream<Uint8Array>>): ByteSource {
  if (isByteSource(body)) return body;
  const reader = body.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    },
    // A failed stream has already reported its error to the reader.
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}

function hasNonAscii(text: string): boolean {
  return /[\x80-\xff]/.test(text);
}

/** Resolves after pending I/O callbacks. */
function nextEventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Resolves when the socket has drained or closed. */
function waitForDrain(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

/** Compresses a byte source with gzip. */
export function gzipSource(source: ByteSource): ByteSource {
  const gzip = createGzip({ level: GZIP_LEVEL });
  // The reader sees the same error as the end of the stream.
  pipeline(Readable.from(chunksOf(source), { objectMode: false }), gzip).catch(() => undefined);
  const chunks: AsyncIterator<Uint8Array> = gzip[Symbol.asyncIterator]();
  return {
    async read() {
      const { done, value } = await chunks.next();
      return done === true ? undefined : value;
    },
    cancel() {
      source.cancel();
      gzip.destroy();
    },
  };
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) yield bytes;
}

/** The path and query of a request target; undefined when it has none. */
function pathOfTarget(target: string): string | undefined {
  const path = target.startsWith('/') ? target : pathOfAbsolute(target);
  // A request target has no fragment, so `#` is part of the path and must be escaped in a URL.
  return path?.includes('#') ? path.replaceAll('#', '%23') : path;
}

/** The absolute form `http://host/path`, as sent to proxies; the host is ignored. */
function pathOfAbsolute(target: string): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+(.*)$/i.exec(target);
  if (match === null) return undefined;
  const rest = match[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
