/**
 * The messages between the thread of the cluster and the thread of its HTTP server. Each request has a number.
 */
import type { MessagePort, TransferListItem } from 'node:worker_threads';
import type { Peer, WebSocketSession } from '../protocol/http.js';
import type { RequestLogEntry } from './http-listener.js';
import type { HttpServerSettings } from './http-server.js';

/** A request as data. */
export interface RequestMessage {
  readonly type: 'request';
  readonly id: number;
  readonly method: string;
  readonly url: string;
  /** See {@link packHeaders}. */
  readonly headers: string;
  /** All headers as the client sent them. Absent: none is repeated. */
  readonly rawHeaders?: string;
  readonly peer?: Peer;
  readonly remote?: string | undefined;
  readonly isWebSocket?: true;
  readonly hasBody?: true;
  /** A small body that has arrived with the headers. Absent: the cluster asks for the body when it needs it. */
  body?: Uint8Array | undefined;
}

/** From the HTTP server to the cluster. */
export type ClusterMessage =
  | { readonly type: 'listening'; readonly port: number; readonly url: string }
  | RequestMessage
  /** The answer to `read`. Without bytes: the end of the body or of the WebSocket, or a body that is too long. */
  | { readonly type: 'body'; readonly id: number; readonly bytes?: Uint8Array | undefined; readonly isCut?: boolean }
  | { readonly type: 'abort'; readonly id: number; readonly isClosing: boolean }
  /** These clients have taken a chunk of a stream and want the next one, or their connections have become WebSockets. */
  | { readonly type: 'next'; readonly ids: number[] }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'end'; readonly entry: RequestLogEntry }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'closed' };

/** From the cluster to the HTTP server. */
export type ServerMessage =
  | { readonly type: 'listen'; readonly settings: HttpServerSettings; readonly hasLog: boolean }
  | AnswerMessage
  /** A part of the streaming bodies or a message of the WebSockets of these requests; without bytes: their end. */
  | { readonly type: 'chunk'; readonly ids: number[]; readonly bytes?: Uint8Array | undefined }
  /** Asks for the whole body up to a limit, or without a limit for its next part or the next message of a WebSocket. */
  | { readonly type: 'read'; readonly id: number; readonly limit?: number }
  /** A health check waits for the storage: the cluster is not busy. */
  | { readonly type: 'waiting'; readonly id: number }
  /** The handler or a stream failed; the cluster has reported the error. */
  | { readonly type: 'failed'; readonly id: number }
  | { readonly type: 'close' };

export interface AnswerMessage {
  readonly type: 'answer';
  readonly id: number;
  readonly code: number;
  readonly headers: string;
  readonly body: string | Uint8Array | null;
  /** `live`: a watch; `stream`: another body that is read piece by piece. The first chunk follows unasked. */
  readonly stream?: 'live' | 'stream';
  readonly compress?: 'gzip';
  /** The connection becomes a WebSocket: its messages are sent as chunks and read like a body. */
  readonly webSocket?: Pick<WebSocketSession, 'protocol' | 'isText'>;
}

/** Names and values as one text, which is copied to the other thread in a third of the time. */
export function packHeaders(headers: Iterable<readonly [name: string, value: string]>): string {
  let text = '';
  for (const [name, value] of headers) {
    if (value.includes('\n')) throw new TypeError(`orchplane: the header ${name} contains a line feed`);
    text += `${name}\n${value}\n`;
  }
  return text;
}

export function unpackHeaders(text: string): [name: string, value: string][] {
  const parts = text.split('\n');
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) headers.push([parts[at] ?? '', parts[at + 1] ?? '']);
  return headers;
}

/** Above this size, queued messages are sent at once, so that both threads work at the same time. */
const MAX_QUEUED_BYTES = 64 * 1024;

/** Sends all messages of a turn of the event loop together: waking up the other thread costs more than a message. */
export class MessageBatch<Message> {
  readonly #port: Pick<MessagePort, 'postMessage'>;
  #messages: Message[] = [];
  #transferred: TransferListItem[] = [];
  #bytes = 0;

  constructor(port: Pick<MessagePort, 'postMessage'>) {
    this.#port = port;
  }

  /** The message that was sent last, unless it has left. What watches receive together is one message for all of them. */
  get last(): Message | undefined {
    return this.#messages.at(-1);
  }

  /** `content` is the large part of the message, if it has one. */
  send(message: Message, content?: string | Uint8Array | null): void {
    // Not after the message: further watches may receive it, too.
    if (this.#bytes > MAX_QUEUED_BYTES) this.flush();
    if (this.#messages.push(message) === 1) setImmediate(() => this.flush());
    this.#bytes += content?.length ?? 0;
  }

  /** Like `send`, but the bytes move to the other thread. They must have a buffer of their own. */
  move(message: Message, bytes: Uint8Array): void {
    this.send(message, bytes);
    if (bytes.length > MAX_QUEUED_BYTES) this.#transferred.push(bytes.buffer as ArrayBuffer);
  }

  flush(): void {
    if (this.#messages.length === 0) return;
    this.#port.postMessage(this.#messages, this.#transferred);
    this.#messages = [];
    this.#transferred = [];
    this.#bytes = 0;
  }
}

/** The same bytes with a buffer of their own: a message contains the whole buffer of an array. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
