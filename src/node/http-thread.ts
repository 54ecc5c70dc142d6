/**
 * Runs the HTTP server of a cluster in a thread of its own. This side has the cluster: it answers the requests that the
 * other side (`request-forwarder.ts`) forwards.
 */
import { fileURLToPath } from 'node:url';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { isByteSource } from '../http/answer.js';
import { ownsChunks } from '../http/chunk.js';
import type { Handler } from '../http/handler.js';
import type { Answer, ByteSource, WebSocketSession } from '../protocol/http.js';
import { unreachable } from '../util/invariant.js';
import { messageOf } from '../util/message-of.js';
import { isStream, toByteSource } from './byte-sources.js';
import { ForwardedRequest } from './forwarded-request.js';
import { ForwardedSocket } from './forwarded-socket.js';
import { isHealthCheck } from './health-answers.js';
import type { HttpServer, HttpServerSettings, ServerObserver } from './http-server.js';
import { ClientDisconnectedError, ServerClosing } from './incoming-request.js';
import {
  type ClusterMessage,
  MessageBatch,
  ownBytes,
  packHeaders,
  type RequestMessage,
  type ServerMessage,
} from './thread-messages.js';
import { UnreadResponses } from './unread-responses.js';

/** `startHttpServer`, or its equivalent in a thread. */
export type StartServer = (
  settings: HttpServerSettings,
  handler: Handler,
  observer: ServerObserver,
) => Promise<HttpServer>;

/**
 * A thread that can start one HTTP server. It does not keep the process alive before that. Dispose it after the server has
 * closed.
 */
export interface HttpThread extends AsyncDisposable {
  readonly start: StartServer;
}

/** Starts a thread, which loads its code while this thread does something else. */
export function loadHttpThread(file: URL = new URL('./http-thread.cjs', import.meta.url)): HttpThread {
  const worker = new Worker(file, { name: 'orchplane-http', env: SHARE_ENV, execArgv: [] });
  worker.unref();
  const loadError = new Promise<never>((_resolve, reject) => worker.once('error', reject));
  // Reported by `start`.
  loadError.catch(() => undefined);
  const stop = async (): Promise<void> => void (await worker.terminate());
  return {
    async start(settings, handler, observer) {
      worker.ref();
      const clientRequests = new ForwardedRequests(worker, handler, observer);
      const listening = clientRequests.listen(settings);
      const { port, url } = await Promise.race([listening, loadError]).catch((error: unknown) => {
        throw isLoadError(error) ? cannotLoad(file, error) : error;
      });
      // From now on an error that the thread does not handle ends the process, as it does without the thread.
      worker.removeAllListeners('error');
      return { port, url, close: () => clientRequests.close().then(stop) };
    },
    [Symbol.asyncDispose]: stop,
  };
}

function isLoadError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.includes('MODULE_NOT_FOUND');
}

function cannotLoad(file: URL, cause: unknown): Error {
  const advice = 'A bundled program names the file (thread: new URL(…)) or serves without a thread (thread: false)';
  return new Error(
    `orchplane: the HTTP thread cannot load ${fileURLToPath(file)}: ${messageOf(cause).split('\n', 1)[0]}. ${advice}.`,
    { cause },
  );
}

type Listening = Pick<HttpServer, 'port' | 'url'>;

/** After this time, further requests wait until the messages that have arrived in the meantime are received. */
const MAX_TURN_SECONDS = 0.005;

interface OpenRequest {
  readonly request: ForwardedRequest;
  source?: ByteSource;
  /** The chunks of the source may be moved. */
  ownsChunks?: boolean;
  session?: WebSocketSession | undefined;
  /** Present while the session runs. */
  socket?: ForwardedSocket;
}

/** The requests of all clients that have no complete answer yet. */
class ForwardedRequests {
  readonly #batch: MessageBatch<ServerMessage>;
  readonly #handler: Handler;
  readonly #observer: ServerObserver;
  readonly #open = new Map<number, OpenRequest>();
  /** Not started. */
  readonly #waiting = new Map<number, RequestMessage>();
  #isScheduled = false;
  /** Limited here, too: the other thread would hear of the responses to a burst of requests when all of them are encoded. */
  readonly #unread = new UnreadResponses<number>();
  readonly #listening: Promise<Listening>;
  readonly #closed: Promise<void>;
  #onListening: (listening: Listening) => void = () => undefined;
  #onClosed: () => void = () => undefined;

  constructor(worker: Worker, handler: Handler, observer: ServerObserver) {
    this.#batch = new MessageBatch(worker);
    this.#handler = handler;
    this.#observer = observer;
    this.#listening = new Promise((resolve) => {
      this.#onListening = resolve;
    });
    this.#closed = new Promise((resolve) => {
      this.#onClosed = resolve;
      worker.once('exit', () => resolve());
    });
    worker.on('message', (messages: readonly ClusterMessage[]) => {
      for (const message of messages) this.#receive(message);
      if (!this.#isScheduled) this.#startWaiting();
    });
  }

  listen(settings: HttpServerSettings): Promise<Listening> {
    this.#batch.send({ type: 'listen', settings, hasLog: this.#observer.onRequestEnd !== undefined });
    return this.#listening;
  }

  close(): Promise<void> {
    this.#batch.send({ type: 'close' });
    return this.#closed;
  }

  #receive(message: ClusterMessage): void {
    switch (message.type) {
      case 'request':
        this.#waiting.set(message.id, message);
        break;
      case 'body': {
        const { request, socket } = this.#open.get(message.id) ?? {};
        if (socket === undefined) request?.receiveBody(message);
        else socket.onReceived(message.bytes);
        break;
      }
      case 'abort': {
        const reason = message.isClosing ? new ServerClosing() : new ClientDisconnectedError();
        if (this.#waiting.delete(message.id)) this.#fail(message.id, reason);
        else this.#open.get(message.id)?.request.abort(reason);
        break;
      }
      case 'next':
        for (const id of message.ids) this.#onNext(id);
        break;
      case 'cancel':
        this.#cancel(message.id);
        break;
      case 'end':
        this.#observer.onRequestEnd?.(message.entry);
        break;
      case 'error':
        this.#observer.onError(message.error);
        break;
      case 'listening':
        this.#onListening(message);
        break;
      case 'closed':
        this.#onClosed();
        // No connection is left. The rest of a body that was arriving never comes.
        for (const [id, { request }] of this.#open) {
          request.abort(new ServerClosing());
          request.receiveBody({ type: 'body', id, isCut: true });
        }
        break;
      default:
        unreachable(message);
    }
  }

  /**
   * Starts requests in order of arrival. When they take long, it lets messages arrive, so that requests whose clients have
   * disconnected are not executed: clients can cancel thousands of them at once.
   */
  #startWaiting(): void {
    this.#isScheduled = false;
    const end = process.uptime() + MAX_TURN_SECONDS;
    for (const [id, message] of this.#waiting) {
      if (process.uptime() > end) {
        this.#isScheduled = true;
        setImmediate(() => this.#startWaiting());
        return;
      }
      this.#waiting.delete(id);
      void this.#answer(message);
    }
  }

  async #answer(message: RequestMessage): Promise<void> {
    const { id } = message;
    const read = (limit?: number): void =>
      this.#batch.send({ type: 'read', id, ...(limit === undefined ? {} : { limit }) });
    const open: OpenRequest = { request: new ForwardedRequest(message, read) };
    this.#open.set(id, open);
    try {
      const answering = this.#handler(open.request);
      if (isHealthCheck(message)) setImmediate(() => this.#open.has(id) && this.#batch.send({ type: 'waiting', id }));
      this.#sendAnswer(id, open, await answering);
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #sendAnswer(
    id: number,
    open: OpenRequest,
    { code, headers, body, compress, webSocket, heldBytes = 0 }: Answer,
  ): void {
    if (webSocket !== undefined) {
      const { protocol, isText = false } = webSocket;
      open.session = webSocket;
      const shown = { protocol, isText };
      this.#batch.send({ type: 'answer', id, code, headers: packHeaders(headers), body: null, webSocket: shown });
      return;
    }
    if (isStream(body)) {
      const stream = isByteSource(body) ? 'live' : 'stream';
      open.ownsChunks = ownsChunks(body);
      open.source = toByteSource(body);
      const head = { type: 'answer', id, code, headers: packHeaders(headers), body: null, stream } as const;
      this.#batch.send(compress === undefined ? head : { ...head, compress });
      this.#unread.add(id, heldBytes, () => {
        open.source?.cancel();
        this.#fail(id, new ClientDisconnectedError());
      });
      void this.#sendNext(id);
      return;
    }
    this.#open.delete(id);
    const content = body instanceof Uint8Array ? ownBytes(body) : body;
    this.#batch.send({ type: 'answer', id, code, headers: packHeaders(headers), body: content }, content);
  }

  #onNext(id: number): void {
    const open = this.#open.get(id);
    if (open?.socket !== undefined) open.socket.onSent();
    else if (open?.session !== undefined) void this.#runSession(id, open, open.session);
    else void this.#sendNext(id);
  }

  async #runSession(id: number, open: OpenRequest, session: WebSocketSession): Promise<void> {
    open.session = undefined;
    const socket = new ForwardedSocket({
      send: (message) => this.#batch.send({ type: 'chunk', ids: [id], bytes: ownBytes(message) }, message),
      ask: () => this.#batch.send({ type: 'read', id }),
    });
    open.socket = socket;
    try {
      await session.run(socket);
      if (this.#open.delete(id)) this.#batch.send({ type: 'chunk', ids: [id] });
    } catch (error) {
      this.#fail(id, error);
    } finally {
      // A process that the session has left may still send.
      socket.close();
    }
  }

  async #sendNext(id: number): Promise<void> {
    const { source, ownsChunks: movesChunks = false } = this.#open.get(id) ?? {};
    if (source === undefined) return;
    try {
      const bytes = await source.read();
      if (!this.#open.has(id)) return;
      if (bytes === undefined) this.#end(id);
      else this.#unread.taken(id, bytes.length);
      const own = bytes && ownBytes(bytes);
      const { last } = this.#batch;
      // Watches share the bytes of an event.
      if (own !== undefined && last?.type === 'chunk' && last.bytes === own) last.ids.push(id);
      else if (own !== undefined && movesChunks) this.#batch.move({ type: 'chunk', ids: [id], bytes: own }, own);
      else this.#batch.send({ type: 'chunk', ids: [id], bytes: own }, own);
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #cancel(id: number): void {
    const { source, session, socket } = this.#open.get(id) ?? {};
    source?.cancel();
    session?.cancel();
    socket?.close();
    this.#end(id);
  }

  #end(id: number): void {
    this.#open.delete(id);
    this.#unread.remove(id);
  }

  #fail(id: number, error: unknown): void {
    this.#end(id);
    if (!isExpected(error)) this.#observer.onError(error);
    this.#batch.send({ type: 'failed', id });
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof ClientDisconnectedError || error instanceof ServerClosing;
}
