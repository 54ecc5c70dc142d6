/**
 * A request of node:http as the handler wants it, as lean as can be: nothing is copied or checked again, and the body is
 * a stream only if somebody asks for it. A Request of fetch costs several times what the answer to a get does.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Peer } from '../auth/authentication.js';
import type { HttpHeaders, HttpRequest } from '../http/answer.js';

/** What a request is made of besides the message. */
export interface IncomingContext {
  /** Whole; see `request-target.ts`. */
  readonly url: string;
  /** What the connection says about its other end. */
  readonly peer?: Peer | undefined;
  /** Called when somebody begins to read the body, for clients that wait to be told to send it. */
  readonly onRead: () => void;
}

/** The client went away before it had its answer. Nobody's fault, and nobody to tell. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the client closed the connection before its request was over');
  }
}

/** Somebody in front of the listener has read the body: there is nothing left to wait for. */
class BodyTaken extends Error {
  override readonly name = 'BodyTaken';

  constructor() {
    super('orchplane: the body of the request was read before it came here; put the listener in front of body parsers');
  }
}

export class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly peer: Peer | undefined;
  readonly #message: IncomingMessage;
  readonly #onRead: () => void;
  #body: ReadableStream<Uint8Array> | null | undefined;
  #controller: AbortController | undefined;
  #abortedWith: Error | undefined;

  constructor(message: IncomingMessage, { url, onRead, peer }: IncomingContext) {
    this.method = message.method ?? 'GET';
    this.url = url;
    this.headers = new IncomingHeaders(message);
    this.peer = peer;
    this.#message = message;
    this.#onRead = onRead;
  }

  /** Aborts the signal, also one that is asked for later. */
  abort(reason: Error): void {
    this.#abortedWith ??= reason;
    this.#controller?.abort(this.#abortedWith);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedWith !== undefined) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  get hasBody(): boolean {
    return announcesBody(this.#message);
  }

  /** Null when the head of the message announces none. */
  get body(): ReadableStream<Uint8Array> | null {
    if (this.#body === undefined) {
      this.#body = announcesBody(this.#message) ? bodyStream(this.#message, this.#onRead) : null;
    }
    return this.#body;
  }

  readUpTo(limit: number): Promise<Uint8Array | undefined> {
    return announcesBody(this.#message) ? readWhole(this.#message, limit, this.#onRead) : Promise.resolve(NO_BYTES);
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return new Response(this.body as BodyInit | null).arrayBuffer();
  }
}

/**
 * Headers, read where they are: names are in lower case already, and the parser has refused what no header may hold. Of
 * headers that make sense only once (Authorization, Content-Type, User-Agent, …) the first counts, as in the reference
 * server; others are joined, as in fetch.
 */
export class IncomingHeaders implements HttpHeaders {
  readonly #values: IncomingHttpHeaders;
  readonly #message: Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

  constructor(message: Pick<IncomingMessage, 'headers' | 'headersDistinct'>) {
    this.#values = message.headers;
    this.#message = message;
  }

  get(name: string): string | null {
    // A name such as `constructor` is no header unless the client sent it.
    return Object.hasOwn(this.#values, name) ? textOf(this.#values[name]) : null;
  }

  getAll(name: string): readonly string[] {
    // Node counts them again at the first look, which only those pay who ask for a header that was sent.
    return Object.hasOwn(this.#values, name) ? (this.#message.headersDistinct[name] ?? []) : [];
  }

  *[Symbol.iterator](): IterableIterator<[string, string]> {
    for (const name of Object.keys(this.#values)) yield [name, textOf(this.#values[name])];
  }
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

/** By its head alone; an announced length of zero is no body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > 0;
}

/** Before the first byte is read here: whether others were faster. */
function isTaken({ readableDidRead, readableEnded }: IncomingMessage): boolean {
  return readableDidRead || readableEnded;
}

const NO_BYTES = new Uint8Array();

/** The whole body; undefined as soon as it is longer than that, and the rest is left where it is. */
function readWhole(message: IncomingMessage, limit: number, onRead: () => void): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) {
        settle();
        message.pause();
        resolve(undefined);
      }
    };
    const onEnd = (): void => {
      settle();
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length));
    };
    const onClose = (): void => {
      settle();
      reject(new ClientGone());
    };
    const settle = (): void => {
      message.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    if (isTaken(message)) return reject(new BodyTaken());
    if (message.destroyed && !message.readableEnded) return reject(new ClientGone());
    onRead();
    message.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    message.resume();
  });
}

/**
 * The body as it comes. Nothing is taken from the socket before somebody reads, nor faster than they do; to ask whether
 * there is a body, and then to read it whole by other means, leaves the message as it was.
 */
function bodyStream(message: IncomingMessage, onRead: () => void): ReadableStream<Uint8Array> {
  let settle: (() => void) | undefined;
  const listen = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (isTaken(message)) throw new BodyTaken();
    const onData = (chunk: Uint8Array): void => {
      message.pause();
      controller.enqueue(chunk);
    };
    const onEnd = (): void => {
      settle?.();
      controller.close();
    };
    const onClose = (): void => {
      settle?.();
      controller.error(new ClientGone());
    };
    settle = () => {
      message.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    message.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    if (message.destroyed && !message.readableEnded) onClose();
  };
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (settle === undefined) listen(controller);
        onRead();
        message.resume();
      },
      cancel() {
        settle?.();
      },
    },
    { highWaterMark: 0 },
  );
}
