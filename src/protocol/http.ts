/**
 * HTTP requests and responses, independent of the platform's Request and Response. A server with its own way to read and
 * write avoids the platform objects, which halves the cost of a request.
 */
import type { User } from './request.js';

/** The part of a Request that a handler reads; a Request satisfies it. */
export interface HttpRequest {
  readonly method: string;
  /** The absolute URL: `http://cluster.local/api/v1/pods?limit=5`. */
  readonly url: string;
  readonly headers: HttpHeaders;
  /** Null: the request has no body. Undefined: the platform has no stream for it; use `arrayBuffer`. */
  readonly body: ReadableStream<Uint8Array> | null | undefined;
  /** Whether there is a body, where creating the stream is expensive; absent: `body` tells. */
  readonly hasBody?: boolean;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** The client identity that the connection provides (a TLS client certificate). A Request has none. */
  readonly peer?: Peer | undefined;
  /** The client asks for a WebSocket: the body of a watch then yields one event per read, without framing. */
  readonly isWebSocket?: boolean;
  /** The remote address of the connection, if known. */
  readonly remote?: string | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
  /** Reads the whole body, where that is cheaper than its stream; undefined when it is longer than `limit` bytes. */
  readUpTo?(limit: number): Promise<Uint8Array | undefined>;
}

/** The part of Headers that a handler reads. Names are in lower case. */
export interface HttpHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
  /** All values of a repeated header. Absent where repeated values arrive as one, joined by `, `. */
  getAll?(name: string): readonly string[];
}

/** A response before it is converted to a platform Response. */
export interface Answer {
  readonly code: number;
  /** In the order in which they are sent; a name may occur more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | ByteSource | null;
  /**
   * The headers announce gzip, but the body is not compressed yet: the sender compresses it with its platform's API.
   */
  readonly compress?: 'gzip';
  /** How much memory the stream in `body` holds until it is read, if it is the only one that holds it. */
  readonly heldBytes?: number | undefined;
  /** Switches the connection to WebSocket, if the client asked for it. The code is 101. */
  readonly webSocket?: WebSocketSession;
}

/** A conversation over WebSocket. */
export interface WebSocketSession {
  /** The subprotocol to name in the response. */
  readonly protocol: string | undefined;
  /** True: the messages to the client are text. Otherwise they are binary. */
  readonly isText?: boolean;
  /** Sends and receives messages. The connection is closed when it resolves or rejects. */
  run(socket: MessageSocket): Promise<void>;
  /** Called instead of `run` if the connection is not switched. */
  cancel(): void;
}

export interface MessageSocket {
  /** The next message; undefined when the connection is closed. At most one call may be pending. */
  receive(): Promise<Uint8Array | undefined>;
  /** Resolves when the next message can be sent. Does nothing if the connection is closed. */
  send(message: Uint8Array): Promise<void>;
}

/** A streaming body for readers that need no ReadableStream. */
export interface ByteSource {
  /** The next bytes when there are any; undefined at the end. At most one read may be pending. */
  read(): Promise<Uint8Array | undefined>;
  /** Stops the source; no further reads follow. */
  cancel(): void;
}

/** The client certificate of a connection: valid or invalid. */
export type Peer =
  | { readonly type: 'known'; readonly user: User }
  /** The request is rejected unless it carries another credential. */
  | { readonly type: 'refused'; readonly error: string };
