/**
 * From node:http to an answerer and back: one function per request of a socket. It keeps what HTTP asks of a server
 * whatever the answer is: heads of streams go out at once, slow readers slow the stream down, a client that leaves ends
 * its request, and a client that is refused in the middle of its upload gets to read why.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Peer } from '../auth/authentication.js';
import type { Answer, ByteSource, HttpRequest } from '../http/answer.js';
import { isByteSource } from '../http/answer.js';
import { systemClock } from '../util/clock.js';
import { announcesBody, ClientGone, IncomingRequest } from './incoming-request.js';

/** The fastest: answers are compressed once for one client. */
const LEVEL = 1;

/** What answers requests. Rejects only by a fault of its own. */
export type Answerer = (request: HttpRequest) => Promise<Answer>;

/** One request and what became of it. */
export interface Exchanged {
  readonly method: string;
  /** As the client wrote it. */
  readonly target: string;
  /** 0 when the client left before there was an answer. */
  readonly status: number;
  /** Of the body as it was handed to the socket. */
  readonly bytes: number;
  readonly userAgent: string;
  /** Nanoseconds of the process's own clock. */
  readonly startedAt: bigint;
  /** The client did not wait for the end. */
  readonly cut: boolean;
}

export interface ListenerOptions {
  /** Scheme, host and port in front of every path. */
  readonly origin: (incoming: IncomingMessage) => string;
  /** What a connection says about its other end; absent: nothing. */
  readonly peerOf?: ((incoming: IncomingMessage) => Peer | undefined) | undefined;
  /** Told about faults of the answerer and of streams. */
  readonly onError: (error: unknown) => void;
  /** Told about every request when it is over. */
  readonly onExchanged?: ((exchanged: Exchanged) => void) | undefined;
}

export interface Listener {
  /** For the events `request` and `checkContinue` of a server. */
  readonly request: RequestListener;
  readonly checkContinue: RequestListener;
  /**
   * Lets what is being answered come to its end, streams at once, and tells the clients that their connections end with
   * it. Fulfilled when nothing is under way any more.
   */
  drain(): Promise<void>;
}

export function createListener(answerer: Answerer, options: ListenerOptions): Listener {
  const setting: Setting = { answerer, options, active: new Set(), draining: undefined };
  return {
    request: (incoming, outgoing) => void new Exchange(setting, incoming, outgoing).run(),
    checkContinue: (incoming, outgoing) => {
      const exchange = new Exchange(setting, incoming, outgoing);
      exchange.awaitsContinue = true;
      void exchange.run();
    },
    drain() {
      for (const exchange of setting.active) exchange.wrapUp();
      return new Promise((resolve) => {
        setting.draining = resolve;
        if (setting.active.size === 0) resolve();
      });
    },
  };
}

interface Setting {
  readonly answerer: Answerer;
  readonly options: ListenerOptions;
  readonly active: Set<Exchange>;
  /** Present once there are to be no more requests; called when the last is over. */
  draining: (() => void) | undefined;
}

/** What the reference server still reads of a refused upload for the sake of the connection. */
const DRAINED_BYTES = 256 * 1024;
/** How long a client that is still sending has to notice that it was answered. */
const LINGER_MS = 500;

class Exchange {
  readonly #setting: Setting;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #startedAt: bigint | undefined;
  #request: IncomingRequest | undefined;
  #bytes = 0;
  #streaming = false;
  /** The client sends its body only when it is told to. */
  awaitsContinue = false;

  constructor(setting: Setting, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#setting = setting;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    if (setting.options.onExchanged !== undefined) this.#startedAt = process.hrtime.bigint();
    setting.active.add(this);
    outgoing.on('close', () => this.#over());
  }

  async run(): Promise<void> {
    const { answerer, options } = this.#setting;
    try {
      const path = pathOfTarget(this.#incoming.url ?? '');
      if (path === undefined) return this.#send(this.#withoutPath());
      const onRead = (): void => {
        if (this.awaitsContinue) this.#outgoing.writeContinue();
        this.awaitsContinue = false;
      };
      const url = options.origin(this.#incoming) + path;
      this.#request = new IncomingRequest(this.#incoming, { url, onRead, peer: options.peerOf?.(this.#incoming) });
      await this.#send(await answerer(this.#request));
    } catch (error) {
      // The client is gone, or will see its connection end: there is no other way left to tell it.
      if (!(error instanceof ClientGone)) options.onError(error);
      this.#outgoing.destroy();
    }
  }

  /** The server is to end: so do streams, and connections with the answer that is under way. */
  wrapUp(): void {
    if (!this.#outgoing.headersSent) this.#outgoing.shouldKeepAlive = false;
    if (this.#streaming) this.#request?.abort(new ServerClosing());
  }

  /** A target without a path: the one question about the server as a whole, or nonsense. */
  #withoutPath(): Answer {
    if (this.#incoming.url === '*' && this.#incoming.method === 'OPTIONS') {
      return { code: 200, headers: [], body: '' };
    }
    return { code: 400, headers: [['Content-Type', 'text/plain; charset=utf-8']], body: '400 Bad Request' };
  }

  async #send({ code, headers, body, compress }: Answer): Promise<void> {
    const outgoing = this.#outgoing;
    if (outgoing.destroyed) {
      if (isStream(body)) sourceOf(body).cancel();
      return;
    }
    // 1. The head.
    const head: string[] = [];
    for (const [name, value] of headers) head.push(name, value);
    const lingers = this.#leavesUpload();
    if (lingers || this.#setting.draining !== undefined) outgoing.shouldKeepAlive = false;
    const hasBody = code !== 204 && code !== 304 && this.#incoming.method !== 'HEAD';
    if (isStream(body)) {
      outgoing.writeHead(code, head);
      const source = compress === undefined ? sourceOf(body) : compressed(sourceOf(body));
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
    // 2. The body. In one write with a text Node encodes the head as it does the text, and a head is bytes already.
    const content = typeof body === 'string' && head.some(isBeyondAscii) ? Buffer.from(body) : (body ?? '');
    if (!lingers) outgoing.end(hasBody ? content : undefined);
    else this.#linger(hasBody ? content : '');
  }

  /** Whether the connection is of no more use, because the client is in the middle of a body nobody will read. */
  #leavesUpload(): boolean {
    const incoming = this.#incoming;
    if (incoming.complete || !announcesBody(incoming)) return false;
    const length = incoming.headers['content-length'];
    return this.awaitsContinue || length === undefined || Number(length) > DRAINED_BYTES;
  }

  /**
   * Sends the whole answer, but closes a little later: a socket that is closed while its peer still sends takes back
   * what the peer has not read yet.
   */
  #linger(body: string | Uint8Array): void {
    const outgoing = this.#outgoing;
    const incoming = this.#incoming;
    const end = (): void => {
      undo();
      outgoing.end();
    };
    const undo = systemClock.after(LINGER_MS, end, { background: true });
    // Without a word to write, the head would wait for the end.
    if (body.length === 0) outgoing.flushHeaders();
    else outgoing.write(body);
    // A client that waits to be told sends nothing.
    if (this.awaitsContinue) end();
    else incoming.on('end', end).on('close', end).resume();
  }

  async #stream(source: ByteSource, isLive: boolean): Promise<void> {
    const outgoing = this.#outgoing;
    outgoing.flushHeaders();
    this.#streaming = true;
    if (this.#setting.draining !== undefined) this.wrapUp();
    // Ends also a stream that does not listen to the request's signal. One that failed has ended by itself.
    outgoing.on('close', () => {
      if (this.#streaming) source.cancel();
    });
    try {
      for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) {
        if (outgoing.destroyed) return;
        this.#bytes += bytes.length;
        if (!outgoing.write(bytes)) await drained(outgoing);
        // What happens meanwhile shares a write: a busy server would else spend its time in handing over single events.
        else if (isLive) await nextTurn();
      }
    } finally {
      this.#streaming = false;
    }
    outgoing.end();
  }

  /** The last byte is with the operating system, or the connection is gone. */
  #over(): void {
    const { active, draining, options } = this.#setting;
    const outgoing = this.#outgoing;
    if (!outgoing.writableFinished) this.#request?.abort(new ClientGone());
    active.delete(this);
    if (draining !== undefined && active.size === 0) draining();
    if (options.onExchanged === undefined || this.#startedAt === undefined) return;
    const { method = '', url = '', headers } = this.#incoming;
    options.onExchanged({
      method,
      target: url,
      status: outgoing.headersSent ? outgoing.statusCode : 0,
      bytes: this.#bytes,
      userAgent: headers['user-agent'] ?? '',
      startedAt: this.#startedAt,
      cut: !outgoing.writableFinished,
    });
  }
}

/** Why requests end when nobody left. */
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

function sourceOf(body: Extract<Body, ByteSource | ReadableStream<Uint8Array>>): ByteSource {
  if (isByteSource(body)) return body;
  const reader = body.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    },
    // A stream that failed has told its reader already.
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}

function isBeyondAscii(text: string): boolean {
  return /[\x80-\xff]/.test(text);
}

/** When everything that is ready now has been dealt with. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The socket has taken what was written, or never will. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

export function compressed(source: ByteSource): ByteSource {
  const gzip = createGzip({ level: LEVEL });
  // What breaks it shows to the reader too, as the end of what it reads.
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

/** Path and query of a target, beginning with a slash; undefined when it addresses nothing on this server. */
function pathOfTarget(target: string): string | undefined {
  const path = target.startsWith('/') ? target : pathOfAbsolute(target);
  // There are no fragments in requests, so this is a character of the path; in a URL it must not look like one.
  return path?.includes('#') ? path.replaceAll('#', '%23') : path;
}

/** `http://host/path`, which proxies are sent; whom it names does not matter. */
function pathOfAbsolute(target: string): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+(.*)$/i.exec(target);
  if (match === null) return undefined;
  const rest = match[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
