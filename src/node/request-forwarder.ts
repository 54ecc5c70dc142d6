/**
 * Forwards the requests of an HTTP server to the cluster in another thread (`http-thread.ts`).
 */

import { readableOf } from '../http/answer.js';
import type { Answer, ByteSource, MessageSocket, WebSocketSession } from '../protocol/http.js';
import { type IncomingRequest, ServerClosing } from './incoming-request.js';
import {
  type AnswerMessage,
  type ClusterMessage,
  type MessageBatch,
  ownBytes,
  packHeaders,
  type RequestMessage,
  type ServerMessage,
  unpackHeaders,
} from './thread-messages.js';

/** A failure that the cluster has reported in its thread. */
export class ForwardedFailure extends Error {}

/** A body up to this size is sent along with its request if it has arrived. */
const MAX_SENT_ALONG_BYTES = 64 * 1024;
/** All bodies of unanswered requests that were sent along. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

interface PendingRequest {
  readonly request: IncomingRequest | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly onWaiting?: (() => void) | undefined;
  /** The length of a body that was sent along. */
  queuedBytes?: number;
  /** A small body, which is read at once. */
  body?: Promise<Uint8Array | undefined>;
  parts?: ReadableStreamDefaultReader<Uint8Array> | undefined;
  source?: ForwardedSource;
  session?: ForwardedSession;
}

export class RequestForwarder {
  readonly #batch: MessageBatch<ClusterMessage>;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;
  #queuedBytes = 0;

  constructor(batch: MessageBatch<ClusterMessage>) {
    this.#batch = batch;
  }

  /** `onWaiting` is called if it is a health check, and the cluster waits for its storage. */
  forward(request: IncomingRequest, onWaiting?: () => void): Promise<Answer> {
    const { method, url, peer, remote, headers } = request;
    const repeated = headers.repeated();
    const content = {
      method,
      url,
      headers: packHeaders(headers),
      remote,
      ...(repeated === undefined ? {} : { rawHeaders: packHeaders(repeated) }),
      ...(peer === undefined ? {} : { peer }),
      ...(request.isWebSocket ? { isWebSocket: true as const } : {}),
      ...(request.hasBody ? { hasBody: true as const } : {}),
    };
    return this.#send(content, request, onWaiting);
  }

  /** Sends a request of the server itself. */
  ask(method: string, url: string): Promise<Answer> {
    return this.#send({ method, url, headers: '', remote: '127.0.0.1' });
  }

  #send(
    content: Omit<RequestMessage, 'type' | 'id'>,
    request?: IncomingRequest,
    onWaiting?: () => void,
  ): Promise<Answer> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const pending: PendingRequest = { request, resolve, reject, onWaiting };
      this.#pending.set(id, pending);
      const message: RequestMessage = { type: 'request', id, ...content };
      if (request !== undefined) {
        request.onAbort = (reason) => {
          if (this.#pending.has(id))
            this.#batch.send({ type: 'abort', id, isClosing: reason instanceof ServerClosing });
        };
        const length = lengthSentAlong(request);
        if (length > 0 && this.#queuedBytes + length <= MAX_QUEUED_BYTES) {
          pending.queuedBytes = length;
          this.#queuedBytes += length;
          readAlong(pending, request, message);
        }
      }
      this.#batch.send(message);
    });
  }

  receive(message: Exclude<ServerMessage, { readonly type: 'listen' | 'close' }>): void {
    if (message.type === 'chunk') {
      for (const id of message.ids) this.#receiveChunk(id, message.bytes);
      return;
    }
    const { id } = message;
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if (message.type === 'answer' || message.type === 'failed') {
      this.#queuedBytes -= pending.queuedBytes ?? 0;
      pending.queuedBytes = 0;
    }
    switch (message.type) {
      case 'answer':
        pending.resolve(this.#toAnswer(message, pending));
        if (pending.source === undefined && pending.session === undefined) this.#pending.delete(id);
        break;
      case 'waiting':
        pending.onWaiting?.();
        break;
      case 'read':
        void this.#sendBody(id, pending, message.limit);
        break;
      case 'failed':
        this.#pending.delete(id);
        if (pending.session !== undefined) pending.session.fail(new ForwardedFailure());
        else if (pending.source === undefined) pending.reject(new ForwardedFailure());
        else pending.source.fail(new ForwardedFailure());
    }
  }

  #receiveChunk(id: number, bytes: Uint8Array | undefined): void {
    const { source, session } = this.#pending.get(id) ?? {};
    if (bytes === undefined) this.#pending.delete(id);
    source?.push(bytes);
    session?.push(bytes);
  }

  #askForNext(id: number): void {
    const { last } = this.#batch;
    if (last?.type === 'next') last.ids.push(id);
    else this.#batch.send({ type: 'next', ids: [id] });
  }

  #toAnswer(message: AnswerMessage, pending: PendingRequest): Answer {
    const { id, code, body, stream, compress } = message;
    const headers = unpackHeaders(message.headers);
    const ask = {
      next: () => this.#askForNext(id),
      cancel: () => {
        if (this.#pending.delete(id)) this.#batch.send({ type: 'cancel', id });
      },
    };
    if (message.webSocket !== undefined) {
      pending.session = new ForwardedSession(message.webSocket, ask);
      return { code, headers, body, webSocket: pending.session };
    }
    if (stream === undefined) return { code, headers, body };
    pending.source = new ForwardedSource(ask);
    // The listener paces watches, which it recognizes by their type.
    const source = stream === 'live' ? pending.source : readableOf(pending.source);
    return { code, headers, body: source, ...(compress === undefined ? {} : { compress }) };
  }

  async #sendBody(id: number, pending: PendingRequest, limit: number | undefined): Promise<void> {
    try {
      const bytes = await readBody(pending, limit);
      const own = bytes && ownBytes(bytes);
      const message = { type: 'body', id, bytes: own } as const;
      if (own === undefined) this.#batch.send(message);
      else this.#batch.move(message, own);
    } catch {
      // The client has disconnected, and the listener aborts the request.
      this.#batch.send({ type: 'body', id, isCut: true });
    }
  }
}

/** The length of a small body, which is sent with the request; 0 if it is read when the cluster asks for it. */
function lengthSentAlong({ hasBody, headers }: IncomingRequest): number {
  if (!hasBody || headers.get('expect') !== null) return 0;
  const length = Number(headers.get('content-length') ?? 0);
  return length <= MAX_SENT_ALONG_BYTES ? length : 0;
}

/** Reads a small body. It becomes part of the message if it arrives before the message is sent. */
function readAlong(pending: PendingRequest, request: IncomingRequest, message: RequestMessage): void {
  pending.body = request.readUpTo(MAX_SENT_ALONG_BYTES).then((bytes) => {
    message.body = bytes && ownBytes(bytes);
    return bytes;
  });
  // The cluster asks for it later, or the request is aborted.
  pending.body.catch(() => undefined);
}

/** The whole body, or its next part if there is no limit. */
async function readBody(pending: PendingRequest, limit: number | undefined): Promise<Uint8Array | undefined> {
  const { request, body, session } = pending;
  if (session !== undefined) return session.receive();
  if (body !== undefined) {
    const bytes = await body;
    // The next part is the end.
    if (limit === undefined) pending.body = Promise.resolve(undefined);
    return bytes !== undefined && bytes.length > (limit ?? bytes.length) ? undefined : bytes;
  }
  if (limit !== undefined) return request?.readUpTo(limit);
  pending.parts ??= request?.body?.getReader();
  return (await pending.parts?.read())?.value;
}

/** What the cluster is asked for. */
interface Ask {
  readonly next: () => void;
  readonly cancel: () => void;
}

/** The body of a response whose chunks come from the other thread. */
class ForwardedSource implements ByteSource {
  readonly #ask: Ask;
  /** The first chunk comes unasked. */
  #isAsked = true;
  #arrived: Promise<Uint8Array | undefined> | undefined;
  #settle: { resolve(bytes: Uint8Array | undefined): void; reject(error: Error): void } | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  read(): Promise<Uint8Array | undefined> {
    if (!this.#isAsked) this.#ask.next();
    this.#isAsked = false;
    const arrived = this.#arrived;
    this.#arrived = undefined;
    return arrived ?? new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  cancel(): void {
    this.#ask.cancel();
    this.#settle?.resolve(undefined);
  }

  push(bytes: Uint8Array | undefined): void {
    if (this.#settle === undefined) this.#arrived = Promise.resolve(bytes);
    else this.#settle.resolve(bytes);
    this.#settle = undefined;
  }

  fail(error: Error): void {
    if (this.#settle !== undefined) {
      this.#settle.reject(error);
      return;
    }
    this.#arrived = Promise.reject(error);
    // The reader sees it.
    this.#arrived.catch(() => undefined);
  }
}

/** A session over WebSocket that runs in the other thread. */
class ForwardedSession implements WebSocketSession {
  readonly protocol: string | undefined;
  readonly isText: boolean;
  readonly #ask: Ask;
  #socket: MessageSocket | undefined;
  #settle: { resolve(): void; reject(error: Error): void } | undefined;

  constructor({ protocol, isText = false }: Pick<WebSocketSession, 'protocol' | 'isText'>, ask: Ask) {
    this.protocol = protocol;
    this.isText = isText;
    this.#ask = ask;
  }

  run(socket: MessageSocket): Promise<void> {
    this.#socket = socket;
    this.#ask.next();
    return new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  cancel(): void {
    this.#ask.cancel();
    this.#settle?.resolve();
  }

  receive(): Promise<Uint8Array | undefined> {
    return this.#socket?.receive() ?? Promise.resolve(undefined);
  }

  /** Sends a message; undefined: the session has ended. */
  push(message: Uint8Array | undefined): void {
    if (message === undefined) this.#settle?.resolve();
    else void this.#socket?.send(message).then(() => this.#ask.next());
  }

  fail(error: Error): void {
    this.#settle?.reject(error);
  }
}
