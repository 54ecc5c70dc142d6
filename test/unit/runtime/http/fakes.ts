/** Requests and WebSockets without a network. */
import type { Answer, HttpRequest, MessageSocket } from '../../../../src/protocol/http.js';
import { answerConnection } from '../../../../src/runtime/http/answer-connection.js';

export interface FakeRequest extends HttpRequest {
  disconnect(): void;
}

export interface RequestParts {
  readonly path?: string;
  readonly method?: string;
  /** Present: the request asks for a WebSocket. */
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function fakeRequest({ path = '/', method = 'GET', protocols, headers = {}, body }: RequestParts): FakeRequest {
  const controller = new AbortController();
  const offered =
    protocols === undefined || protocols.length === 0 ? {} : { 'sec-websocket-protocol': protocols.join(', ') };
  const request = new Request(`http://cluster.local${path}`, {
    method,
    headers: { ...headers, ...offered },
    ...(body === undefined ? {} : { body }),
  });
  return {
    method,
    url: request.url,
    headers: request.headers,
    body: request.body,
    signal: controller.signal,
    remote: '10.1.1.1',
    isWebSocket: protocols !== undefined,
    arrayBuffer: () => request.arrayBuffer(),
    disconnect: () => controller.abort(new Error('the client has disconnected')),
  };
}

/** The client's side of a WebSocket. */
export interface FakeClient {
  readonly answer: Answer;
  /** Sends a message. */
  send(message: Uint8Array | readonly number[] | string): void;
  /** The next message of the server; undefined when it has closed the connection. */
  next(): Promise<Uint8Array | undefined>;
  /** All messages until the server closes the connection. */
  rest(): Promise<Uint8Array[]>;
  disconnect(): void;
  /** Resolves when the session has ended. */
  readonly ended: Promise<void>;
  /** Whether the server was told that the connection has ended. */
  isEnded(): boolean;
}

type AnyConnection = Parameters<typeof answerConnection>[0];

/** Opens a WebSocket. Without `reads` the client takes every message at once. */
export async function openSession(connection: AnyConnection, parts: RequestParts): Promise<FakeClient> {
  const request = fakeRequest(parts);
  let isEnded = false;
  const answer = await answerConnection(connection, request, () => {
    isEnded = true;
  });
  const toServer = new Mailbox<Uint8Array>();
  const toClient = new Mailbox<Uint8Array>();
  const socket: MessageSocket = {
    receive: () => toServer.take(),
    send: async (message) => toClient.put(message.slice()),
  };
  const ended = (answer.webSocket?.run(socket) ?? Promise.resolve()).finally(() => {
    toClient.close();
    toServer.close();
  });
  return {
    answer,
    ended,
    isEnded: () => isEnded,
    send: (message) =>
      toServer.put(typeof message === 'string' ? new TextEncoder().encode(message) : Uint8Array.from(message)),
    next: () => toClient.take(),
    async rest() {
      const messages: Uint8Array[] = [];
      for (let next = await toClient.take(); next !== undefined; next = await toClient.take()) messages.push(next);
      return messages;
    },
    disconnect() {
      toServer.close();
      request.disconnect();
    },
  };
}

class Mailbox<Message> {
  readonly #messages: Message[] = [];
  readonly #waiting: ((message: Message | undefined) => void)[] = [];
  #isClosed = false;

  put(message: Message): void {
    const take = this.#waiting.shift();
    if (take === undefined) this.#messages.push(message);
    else take(message);
  }

  take(): Promise<Message | undefined> {
    const message = this.#messages.shift();
    if (message !== undefined || this.#isClosed) return Promise.resolve(message);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    for (const take of this.#waiting.splice(0)) take(undefined);
  }
}

/** The content of messages on one channel, as text. */
export function channelText(messages: readonly Uint8Array[], channel: number): string {
  const own = messages.filter(([first]) => first === channel);
  return own.map((message) => new TextDecoder().decode(message.subarray(1))).join('');
}
