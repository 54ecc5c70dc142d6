/**
 * An HttpRequest on top of a message of node:http or node:http2. It copies nothing and creates the body stream only on demand: a fetch
 * Request would cost several times as much as a get.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import { errors, type StatusError } from '../meta/errors.js';
import type { HttpHeaders, HttpRequest, Peer } from '../protocol/http.js';
import { JoinedBytes } from '../util/bytes.js';
import { HeldBody } from '../util/held-body.js';
import { getOrInsertComputed } from '../util/once.js';

/** A request over HTTP/1.1 or HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** The context of a message. */
export interface IncomingContext {
  /** The message asks for a WebSocket. */
  readonly isWebSocket?: boolean;
  /** The absolute URL. */
  readonly url: string;
  /** The client identity that the connection provides. */
  readonly peer?: Peer | undefined;
  /** Called before the body is read, to send `100 Continue`. */
  readonly onRead: () => void;
}

/** The client disconnected before the response was complete. Not an error of the server. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';

  constructor() {
    super('the client closed the connection before its request was over');
  }
}

/** The abort reason of streams on shutdown. */
export class ServerClosing extends Error {
  override readonly name = 'ServerClosing';

  constructor() {
    super('the server is closing');
  }
}

/** Middleware in front of the listener has read the body. An error of the server's author, who reads the response. */
function bodyAlreadyRead(): StatusError {
  return errors.internal('the body was read before the request came here: put the listener in front of body parsers');
}

/** The part of a request that can be aborted. */
export class AbortableRequest {
  #controller: AbortController | undefined;
  #abortedWith: Error | undefined;
  /** Called once when the request is aborted. */
  onAbort: ((reason: Error) => void) | undefined;

  /** Aborts the signal, even when it is created later. */
  abort(reason: Error): void {
    if (this.#abortedWith !== undefined) return;
    this.#abortedWith = reason;
    this.#controller?.abort(reason);
    this.onAbort?.(reason);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedWith !== undefined) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }
}

/** A message as an HttpRequest. */
export class IncomingRequest extends AbortableRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly peer: Peer | undefined;
  /** Read at once: a connection that is closed has none. */
  readonly remote: string | undefined;
  readonly isWebSocket: boolean;
  readonly #message: Incoming;
  readonly #onRead: () => void;
  #body: ReadableStream<Uint8Array> | null | undefined;
  #held: HeldBody | undefined;

  constructor(message: Incoming, { url, onRead, peer, isWebSocket = false }: IncomingContext) {
    super();
    this.method = message.method ?? 'GET';
    this.isWebSocket = isWebSocket;
    this.url = url;
    this.headers = new IncomingHeaders(message);
    this.peer = peer;
    // An IPv4 client of a server that listens on IPv6.
    this.remote = socketOf(message)?.remoteAddress?.replace(/^::ffff:/, '');
    this.#message = message;
    this.#onRead = onRead;
  }

  /** The size of the request without its body. */
  get headerBytes(): number {
    return sizeOfHeaders(this.#message) + this.url.length;
  }

  get hasBody(): boolean {
    return announcesBody(this.#message);
  }

  /** Closes the connection, over HTTP/2 only the stream. */
  disconnect(): void {
    (isHttp2(this.#message) ? this.#message.stream : this.#message.socket).destroy();
  }

  /** Null when the headers announce no body. */
  get body(): ReadableStream<Uint8Array> | null {
    if (!this.hasBody) return null;
    this.#body ??= this.#hold().readable({ onRead: this.#onRead, onCancel: () => this.dropUnreadBody() });
    return this.#body;
  }

  readUpTo(limit: number): Promise<Uint8Array | undefined> {
    if (!this.hasBody) return Promise.resolve(NO_BYTES);
    return this.#held === undefined ? readWholeBody(this.#message, limit, this.#onRead) : this.#readHeld(limit);
  }

  /** Keeps what arrives of a body that is not being read yet in as little memory as its content needs. */
  holdUnreadBody(): void {
    const { complete } = this.#message;
    if (this.hasBody && !complete && this.#held === undefined && !isBodyRead(this.#message)) this.#hold();
  }

  /** Drops what is not read of a body: nothing reads it any more. */
  dropUnreadBody(): void {
    if (this.hasBody && (this.#held !== undefined || !isBodyRead(this.#message))) this.#hold().drop();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return new Response(this.body as BodyInit | null).arrayBuffer();
  }

  async #readHeld(limit: number): Promise<Uint8Array | undefined> {
    const whole = new JoinedBytes();
    this.#onRead();
    for (let bytes = await this.#hold().read(); bytes !== undefined; bytes = await this.#hold().read()) {
      whole.add(bytes);
      if (whole.length > limit) return undefined;
    }
    return whole.bytes();
  }

  /** Starts to read the body. */
  #hold(): HeldBody {
    const message = this.#message;
    if (this.#held === undefined) {
      if (isBodyRead(message)) throw bodyAlreadyRead();
      this.#held = new HeldBody(isHttp2(message) ? message.stream : message, () => new ClientDisconnectedError());
    }
    return this.#held;
  }
}

/**
 * Headers without copying. Node has lowercased the names and validated the values. Of headers that must be unique
 * (Authorization, Content-Type, User-Agent, …) the first counts, as in the reference server; others are joined, as in
 * fetch.
 */
export class IncomingHeaders implements HttpHeaders {
  readonly #values: IncomingHttpHeaders;
  readonly #message: Pick<Incoming, 'headers' | 'rawHeaders'>;
  #valuesByName: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(message: Pick<Incoming, 'headers' | 'rawHeaders'>) {
    this.#values = message.headers;
    this.#message = message;
  }

  get(name: string): string | null {
    if (name === 'host') return this.#host ?? null;
    // A name such as `constructor` must not find an inherited property.
    return Object.hasOwn(this.#values, name) ? headerText(this.#values[name]) : null;
  }

  getAll(name: string): readonly string[] {
    if (!Object.hasOwn(this.#values, name)) return [];
    this.#valuesByName ??= valuesByName(this.#message.rawHeaders);
    return this.#valuesByName.get(name) ?? [];
  }

  /** All values of all headers as the client sent them; undefined if none is repeated. */
  repeated(): [name: string, value: string][] | undefined {
    const raw = this.#message.rawHeaders;
    if (raw.length === Object.keys(this.#values).length * 2) return undefined;
    return raw.flatMap((value, at) => (at % 2 === 1 ? [[raw[at - 1] ?? '', value]] : []));
  }

  *[Symbol.iterator](): IterableIterator<[string, string]> {
    for (const name of Object.keys(this.#values)) {
      // HTTP/2 has pseudo-headers: `:path`.
      if (!name.startsWith(':')) yield [name, headerText(this.#values[name])];
    }
    if (this.#values.host === undefined && this.#host !== undefined) yield ['host', this.#host];
  }

  /** Browsers send `:authority` instead over HTTP/2. */
  get #host(): string | undefined {
    return this.#values.host ?? (this.#values[':authority'] as string | undefined);
  }
}

/** Of a flat list of names and values. A request may have a hundred thousand headers. */
function valuesByName(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    getOrInsertComputed(byName, raw[at]?.toLowerCase() ?? '', () => []).push(raw[at + 1] ?? '');
  }
  return byName;
}

function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

/** The limit of a node:http server whose `maxHeadersCount` is not set. */
const DEFAULT_MAX_HEADERS = 1000;

/**
 * A client can repeat a header of 4 kB with a single byte (HPACK), so the limit over HTTP/2 is lower than over HTTP/1.1. Node
 * knows it only when the client has acknowledged the settings, which it need not do.
 */
export const MAX_HTTP2_HEADER_BYTES = 64 * 1024;
/** What a header counts besides its name and its value, as in HTTP/2. */
const FIELD_BYTES = 32;

/** The size of all headers as the client sent them. */
export function sizeOfHeaders({ rawHeaders }: Incoming): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, 0) + (rawHeaders.length / 2) * FIELD_BYTES;
}

/**
 * Whether headers are too long, or Node may have dropped some: it does so silently above the server's `maxHeadersCount`.
 * Among them could be one that changes whom the request acts as.
 */
export function hasTooManyHeaders(message: Incoming): boolean {
  if (isHttp2(message)) return sizeOfHeaders(message) > MAX_HTTP2_HEADER_BYTES;
  const { server } = message.socket as { server?: { maxHeadersCount?: number | null } };
  const limit = server?.maxHeadersCount ?? DEFAULT_MAX_HEADERS;
  return limit > 0 && message.rawHeaders.length / 2 >= limit;
}

/** Whether the headers announce a body; a Content-Length of zero does not. */
export function announcesBody(message: Incoming): boolean {
  const { headers } = message;
  if (isHttp2(message)) return !message.stream.endAfterHeaders && headers['content-length'] !== '0';
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > 0;
}

/** Whether a message came over HTTP/2. Its version does not tell: HTTP/1 requests may claim any. */
export function isHttp2(message: Incoming): message is Http2ServerRequest {
  return 'stream' in message;
}

/** Undefined if the session is closed. */
function socketOf(message: Incoming): Socket | undefined {
  if (!isHttp2(message)) return message.socket;
  const { session } = message.stream;
  return session === undefined || session.destroyed ? undefined : (session.socket as Socket);
}

/**
 * Whether the client has closed its connection before the request was read. Nothing tells the address of one that has reset it,
 * which access checks and the audit log need. A Unix socket has no addresses.
 */
export function hasLeft(message: Incoming): boolean {
  const socket = socketOf(message);
  if (socket === undefined || socket.destroyed) return true;
  return socket.remoteAddress === undefined && socket.localAddress !== undefined;
}

/** Whether other code has read from the message. */
function isBodyRead({ readableDidRead, readableEnded }: Incoming): boolean {
  return readableDidRead || readableEnded;
}

const NO_BYTES = new Uint8Array();

/** Reads the whole body; undefined as soon as it exceeds the limit, and the rest stays unread. */
export function readWholeBody(message: Incoming, limit: number, onRead?: () => void): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const body = new JoinedBytes();
    const onData = (chunk: Buffer): void => {
      body.add(chunk);
      if (body.length > limit) {
        settle();
        message.pause();
        resolve(undefined);
      }
    };
    const onEnd = (): void => {
      settle();
      resolve(body.bytes());
    };
    const onClose = (): void => {
      settle();
      reject(new ClientDisconnectedError());
    };
    const settle = (): void => {
      message.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    if (isBodyRead(message)) return reject(bodyAlreadyRead());
    if (message.destroyed && !message.readableEnded) return reject(new ClientDisconnectedError());
    onRead?.();
    message.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    message.resume();
  });
}

/** The path and query of a request target; undefined when it has none. */
export function pathOfTarget(target: string): string | undefined {
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
