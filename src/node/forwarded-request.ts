/**
 * A request that another thread has received. The body stays there until the handler reads it, unless it was sent along.
 */

import { readableOf } from '../http/answer.js';
import type { HttpRequest, Peer } from '../protocol/http.js';
import { AbortableRequest, ClientDisconnectedError, IncomingHeaders } from './incoming-request.js';
import { type ClusterMessage, type RequestMessage, unpackHeaders } from './thread-messages.js';

const NO_BYTES = new Uint8Array();

export class ForwardedRequest extends AbortableRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly peer: Peer | undefined;
  readonly remote: string | undefined;
  readonly isWebSocket: boolean;
  readonly hasBody: boolean;
  #arrived: Uint8Array | undefined;
  #body: ReadableStream<Uint8Array> | undefined;
  readonly #ask: (limit?: number) => void;
  #settle: ((message: Extract<ClusterMessage, { readonly type: 'body' }>) => void) | undefined;

  /** `ask` asks the other thread for the whole body up to a limit, or for the next part. */
  constructor(message: RequestMessage, ask: (limit?: number) => void) {
    super();
    const { method, url, headers, rawHeaders = headers, peer, remote, body } = message;
    this.method = method;
    this.url = url;
    this.headers = new IncomingHeaders({
      headers: Object.fromEntries(unpackHeaders(headers)),
      get rawHeaders() {
        return unpackHeaders(rawHeaders).flat();
      },
    });
    this.peer = peer;
    this.remote = remote;
    this.isWebSocket = message.isWebSocket === true;
    this.hasBody = message.hasBody === true;
    this.#arrived = body;
    this.#ask = ask;
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (!this.hasBody) return null;
    // The other thread reads only what it is asked for, so there is nothing to cancel.
    this.#body ??= readableOf({ read: () => this.#nextPart(), cancel: () => undefined });
    return this.#body;
  }

  async readUpTo(limit: number): Promise<Uint8Array | undefined> {
    if (!this.hasBody) return NO_BYTES;
    if (this.#arrived === undefined) return this.#read(limit);
    return this.#arrived.length > limit ? undefined : this.#arrived;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return new Response(this.body as BodyInit | null).arrayBuffer();
  }

  /** Called with what the other thread answers. */
  receiveBody(message: Extract<ClusterMessage, { readonly type: 'body' }>): void {
    this.#settle?.(message);
  }

  async #nextPart(): Promise<Uint8Array | undefined> {
    const arrived = this.#arrived;
    if (arrived === undefined) return this.#read();
    this.#arrived = NO_BYTES;
    return arrived.length === 0 ? undefined : arrived;
  }

  #read(limit?: number): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#settle = ({ bytes, isCut }) => (isCut === true ? reject(new ClientDisconnectedError()) : resolve(bytes));
      this.#ask(limit);
    });
  }
}
