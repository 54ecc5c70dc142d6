/**
 * Adapts a request handler to node:http and node:http2: sends the headers of streams at once, applies back pressure from slow
 * readers, aborts requests whose client disconnects, and lets a client that is still uploading read the error response.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isByteSource } from '../http/answer.js';
import type { Answer, ByteSource, Peer } from '../protocol/http.js';
import { systemClock } from '../util/clock.js';
import { gzipSource, isStream, toByteSource, waitForDrain, writePart } from './byte-sources.js';
import { HeldBytes } from './held-bytes.js';
import {
  announcesBody,
  ClientDisconnectedError,
  hasLeft,
  hasTooManyHeaders,
  type Incoming,
  IncomingRequest,
  isHttp2,
  pathOfTarget,
  ServerClosing,
  sizeOfHeaders,
} from './incoming-request.js';
import { hasNonAscii, isComplete, isDestroyed, type Outgoing, writeHead } from './outgoing-response.js';
import { closeWithConnection, limitPipeline, tryAssignSocket, untilFirst } from './pipelined-responses.js';
import { MAX_UNREAD_MS, sendMessage, UnreadResponses } from './unread-responses.js';
import { WatchPace } from './watch-pace.js';
import { isWebSocketRequest, runSession, type Switch, switchFor, type UpgradeRequest } from './web-socket.js';

/** Handles a request. It rejects only for an internal error. */
export type RequestHandler = (request: IncomingRequest) => Promise<Answer>;

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
  readonly origin: (incoming: Incoming) => string;
  /** The client identity that a connection provides; absent: none. */
  readonly peerOf?: ((incoming: Incoming) => Peer | undefined) | undefined;
  /** Called with errors of the handler and of streams. */
  readonly onError: (error: unknown) => void;
  /** Called when a request has ended. */
  readonly onRequestEnd?: ((entry: RequestLogEntry) => void) | undefined;
}

/** The request listener of a server. */
export interface Listener {
  /** The listeners of a server's `request`, `checkContinue` and `upgrade` events. */
  request(incoming: Incoming, outgoing: Outgoing): void;
  checkContinue(incoming: Incoming, outgoing: Outgoing): void;
  /**
   * Answers a request for a WebSocket. For other protocols it returns false, and the caller has to handle the request as
   * if it had not asked for one.
   */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * Ends streams at once, lets other responses finish and closes their connections. Resolves when no request is active.
   */
  drain(): Promise<void>;
}

/** Creates a listener that answers requests with a handler. */
export function createListener(handler: RequestHandler, options: ListenerOptions): Listener {
  const watchPace = new WatchPace();
  const unread = new UnreadResponses<Outgoing>();
  const openHeaders = new HeldBytes<Exchange>(MAX_OPEN_HEADER_BYTES);
  const active = new Set<Exchange>();
  const state: ListenerState = { handler, options, active, openHeaders, watchPace, unread, draining: undefined };
  let drained: Promise<void> | undefined;
  return {
    request: (incoming, outgoing) => void new Exchange(state, incoming, outgoing).run(),
    checkContinue: (incoming, outgoing) => {
      const exchange = new Exchange(state, incoming, outgoing);
      exchange.awaitsContinue = true;
      void exchange.run();
    },
    upgrade(incoming, socket, head) {
      // A response that does not switch the protocol is sent as to any other request.
      const outgoing = new ServerResponse(incoming);
      if (!tryAssignSocket(outgoing, socket as Socket)) {
        // Another response is unfinished, and Node has given up its connection.
        socket.destroy();
        return true;
      }
      if (!isWebSocketRequest(incoming)) {
        outgoing.detachSocket(socket as Socket);
        return false;
      }
      outgoing.shouldKeepAlive = false;
      outgoing.on('finish', () => socket.end(() => socket.destroy()));
      socket.on('error', () => socket.destroy());
      const exchange = new Exchange(state, incoming, outgoing);
      exchange.upgrade = { socket, head };
      void exchange.run();
      return true;
    },
    drain() {
      for (const exchange of state.active) exchange.endForShutdown();
      drained ??= new Promise((resolve) => {
        const cutOff = (): void => {
          for (const exchange of state.active) exchange.cutOffStream();
        };
        const undo = systemClock.after(STREAM_GRACE_MS, cutOff, { background: true });
        state.draining = () => {
          undo();
          resolve();
        };
        if (state.active.size === 0) state.draining();
      });
      return drained;
    },
  };
}

interface ListenerState {
  readonly handler: RequestHandler;
  readonly options: ListenerOptions;
  readonly active: Set<Exchange>;
  readonly openHeaders: HeldBytes<Exchange>;
  readonly watchPace: WatchPace;
  readonly unread: UnreadResponses<Outgoing>;
  /** Present while draining; called when the last request has ended. */
  draining: (() => void) | undefined;
}

/** A smaller part of a response is sent before the next one is read. */
const MIN_PART_BYTES = 512;
/** The reference server reads this much of a rejected upload to keep the connection usable. */
const MAX_DRAINED_BYTES = 256 * 1024;
/** How long an uploading client has to read the response before the connection closes. */
const LINGER_MS = 500;
/** For the headers of open requests: both threads keep them until the response ends, those of a watch for hours. */
const MAX_OPEN_HEADER_BYTES = 32 * 1024 * 1024;
/** Shorter ones do not count. */
const MIN_LONG_HEADER_BYTES = 16 * 1024;
/** How long a client has to read the end of its stream on shutdown. One that does not read at all would never get it. */
const STREAM_GRACE_MS = 200;

function textAnswer(code: number, body: string): Answer {
  return { code, headers: [['Content-Type', 'text/plain; charset=utf-8']], body };
}

class Exchange {
  readonly #state: ListenerState;
  readonly #incoming: Incoming;
  readonly #outgoing: Outgoing;
  readonly #startedAt: bigint | undefined;
  #request: IncomingRequest | undefined;
  #bytes = 0;
  #streaming = false;
  #isLive = false;
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue = false;
  /** Present when the client asks for a WebSocket. */
  upgrade: UpgradeRequest | undefined;

  constructor(state: ListenerState, incoming: Incoming, outgoing: Outgoing) {
    this.#state = state;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    if (state.options.onRequestEnd !== undefined) this.#startedAt = process.hrtime.bigint();
    state.active.add(this);
    const headerBytes = sizeOfHeaders(incoming);
    if (headerBytes >= MIN_LONG_HEADER_BYTES) state.openHeaders.set(this, headerBytes, () => this.#disconnect());
    if (outgoing instanceof ServerResponse) limitPipeline(outgoing, incoming.socket);
    outgoing.on('close', () => this.#onClose());
    if (outgoing instanceof ServerResponse && outgoing.socket === null) closeWithConnection(outgoing, incoming.socket);
    // Over HTTP/2, a stream stays open until the client has sent its body, which was not read.
    if (isHttp2(incoming)) outgoing.on('finish', () => (incoming.complete ? undefined : incoming.stream.close()));
  }

  async run(): Promise<void> {
    const { handler, options } = this.#state;
    try {
      const outgoing = this.#outgoing;
      // Its headers were too long, together with those of others.
      if (isDestroyed(outgoing)) return;
      if (outgoing instanceof ServerResponse && outgoing.socket === null && !(await untilFirst(outgoing))) return;
      if (!isHttp2(this.#incoming) && this.#incoming.httpVersionMajor !== 1) {
        this.#closeConnectionAfterResponse();
        return this.#send(textAnswer(505, '505 HTTP Version Not Supported: unsupported protocol version'));
      }
      if (hasLeft(this.#incoming)) return void outgoing.destroy();
      if (hasTooManyHeaders(this.#incoming)) return this.#send(textAnswer(431, '431 Request Header Fields Too Large'));
      const path = pathOfTarget(this.#incoming.url ?? '');
      if (path === undefined) return this.#send(this.#answerWithoutPath());
      const onRead = (): void => {
        if (this.awaitsContinue) this.#outgoing.writeContinue();
        this.awaitsContinue = false;
      };
      const url = options.origin(this.#incoming) + path;
      this.#request = new IncomingRequest(this.#incoming, {
        url,
        onRead,
        peer: options.peerOf?.(this.#incoming),
        isWebSocket: this.upgrade !== undefined,
      });
      const answer = handler(this.#request);
      // Most bodies are read at once.
      if (this.upgrade === undefined && this.#request.hasBody) setImmediate(() => this.#request?.holdUnreadBody());
      await this.#send(await answer);
    } catch (error) {
      // The headers may have been sent; destroying the connection is the only remaining signal.
      if (!(error instanceof ClientDisconnectedError)) options.onError(error);
      this.#outgoing.destroy();
    }
  }

  /** Called on shutdown: ends a stream and closes the connection after the response. */
  endForShutdown(): void {
    this.#closeConnectionAfterResponse();
    if (this.#streaming) this.#request?.abort(new ServerClosing());
  }

  #disconnect(): void {
    (isHttp2(this.#incoming) ? this.#outgoing : this.#incoming.socket).destroy();
  }

  cutOffStream(): void {
    if (this.#isLive) (this.upgrade?.socket ?? this.#outgoing).destroy();
  }

  /** On shutdown, HTTP/2 closes whole sessions instead. */
  #closeConnectionAfterResponse(): void {
    const outgoing = this.#outgoing;
    if (outgoing instanceof ServerResponse && !outgoing.headersSent) outgoing.shouldKeepAlive = false;
  }

  /** The response to a target without a path: `OPTIONS *`, or 400. */
  #answerWithoutPath(): Answer {
    const { url, method } = this.#incoming;
    const isForServer = url === '*' && method === 'OPTIONS';
    return isForServer ? { code: 200, headers: [], body: '' } : textAnswer(400, '400 Bad Request');
  }

  async #send(answer: Answer): Promise<void> {
    const { code, headers, body, compress, heldBytes = 0 } = answer;
    const outgoing = this.#outgoing;
    if (isDestroyed(outgoing)) {
      answer.webSocket?.cancel();
      if (isStream(body)) toByteSource(body).cancel();
      return;
    }
    const upgrade = this.upgrade;
    const switched = upgrade === undefined ? undefined : switchFor(this.#incoming as IncomingMessage, answer);
    if (upgrade !== undefined && switched !== undefined) return this.#switchProtocols(upgrade, switched);
    // Nothing else would notice that the client disconnects.
    this.upgrade?.socket.resume();
    // 1. Send the headers.
    const hasBody = code !== 204 && code !== 304 && this.#incoming.method !== 'HEAD';
    // A backend may give a length to a response that has none (204, 304) or another one (205).
    const dropsLength = code === 204 || code === 304 || (hasBody && !isStream(body));
    const sent = headers.filter(([name]) => !dropsLength || !/^content-length$/i.test(name));
    const head = sent.flat();
    const lingers = this.#abandonsUpload();
    if (lingers || this.#state.draining !== undefined) this.#closeConnectionAfterResponse();
    if (isStream(body)) {
      writeHead(outgoing, code, head);
      this.#state.unread.add(outgoing, heldBytes, () => outgoing.destroy());
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
    writeHead(outgoing, code, head);
    // 2. Send the body. In one write with a string, Node would encode the headers like the string, but they are already
    // bytes.
    const content = typeof body === 'string' && head.some(hasNonAscii) ? Buffer.from(body) : (body ?? '');
    if (lingers) this.#linger(hasBody ? content : '');
    else if (hasBody) outgoing.end(content);
    else outgoing.end();
    this.#state.unread.add(outgoing, this.#bytes, () => outgoing.destroy());
  }

  async #switchProtocols(upgrade: UpgradeRequest, switched: Switch): Promise<void> {
    const outgoing = this.#outgoing as ServerResponse;
    if ('code' in switched) {
      writeHead(outgoing, switched.code, []);
      outgoing.end();
      return;
    }
    this.#streaming = true;
    this.#isLive = true;
    if (this.#state.draining !== undefined) this.endForShutdown();
    outgoing.statusCode = 101;
    outgoing.detachSocket(upgrade.socket as Socket);
    await runSession(this.#incoming as IncomingMessage, upgrade, switched, {
      onMessage: (bytes) => {
        this.#bytes += bytes;
      },
      onClose: () => {
        this.#streaming = false;
        outgoing.emit('close');
      },
    });
  }

  /** Whether the client is still sending a body that will not be read, so that the connection cannot be reused. */
  #abandonsUpload(): boolean {
    const incoming = this.#incoming;
    if (isHttp2(incoming) || incoming.complete || !announcesBody(incoming)) return false;
    const length = incoming.headers['content-length'];
    return this.awaitsContinue || length === undefined || Number(length) > MAX_DRAINED_BYTES;
  }

  /**
   * Sends the response but delays closing: closing a socket while the peer still sends discards what the peer has not
   * read yet.
   */
  #linger(body: string | Uint8Array): void {
    const [outgoing, incoming] = [this.#outgoing, this.#incoming];
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
    else {
      incoming.on('end', end).on('close', end).resume();
      this.#request?.dropUnreadBody();
    }
  }

  async #stream(source: ByteSource, isLive: boolean): Promise<void> {
    const outgoing = this.#outgoing;
    outgoing.flushHeaders();
    this.#streaming = true;
    this.#isLive = isLive;
    if (this.#state.draining !== undefined) this.endForShutdown();
    // The body of a watch has no meaning. Over HTTP/2, each of its bytes can be an object of its own.
    if (this.#incoming.method === 'GET') this.#request?.dropUnreadBody();
    // Also ends a stream that ignores the request's signal. A failed stream has already ended.
    outgoing.on('close', () => {
      if (this.#streaming) source.cancel();
    });
    try {
      for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) {
        if (isDestroyed(outgoing)) return;
        this.#bytes += bytes.length;
        this.#state.unread.taken(outgoing, bytes.length);
        // Events that arrive in the meantime share a write.
        if (isLive) await (sendMessage(outgoing, bytes, this.#state.unread) ?? this.#state.watchPace.next());
        // Small parts that are not sent are joined by their source. Each would be an object of its own.
        else if (bytes.length < MIN_PART_BYTES) await writePart(outgoing, bytes, MAX_UNREAD_MS);
        else if (!outgoing.write(bytes)) await waitForDrain(outgoing, MAX_UNREAD_MS);
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
    if (!isComplete(outgoing)) this.#request?.abort(new ClientDisconnectedError());
    active.delete(this);
    this.#state.openHeaders.remove(this);
    if (this.upgrade === undefined) this.#request?.dropUnreadBody();
    this.#state.unread.remove(outgoing);
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
      isAborted: !isComplete(outgoing),
    });
  }
}
