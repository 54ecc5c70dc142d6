/**
 * Several streams over one WebSocket: the first byte of a message is the number of its channel.
 * upstream: apimachinery/pkg/util/httpstream/wsstream/conn.go Conn
 */
import type { MessageSocket } from '../../protocol/http.js';
import { decodeBase64, encodeBase64 } from '../../util/base64.js';

/** A message of the client, or the end of one of its channels. */
export interface ChannelMessage {
  readonly channel: number;
  /** Absent: the client sends no more on this channel. */
  readonly data?: Uint8Array;
}

export interface ChannelOptions {
  readonly isBase64: boolean;
  /** Whether the client can end a channel. */
  readonly canClose: boolean;
}

/** In a message to end a channel, it precedes the number of the channel. */
const CLOSE_SIGNAL = 255;

/** Longer output is sent as several messages. */
const MAX_MESSAGE_BYTES = 32 * 1024;

const NO_BYTES = new Uint8Array();

export class Channels {
  readonly #socket: MessageSocket;
  readonly #options: ChannelOptions;

  constructor(socket: MessageSocket, options: ChannelOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** The next message with content. Undefined: the connection is closed, or the message is malformed. */
  async receive(): Promise<ChannelMessage | undefined> {
    const { isBase64, canClose } = this.#options;
    for (let message = await this.#socket.receive(); message !== undefined; message = await this.#socket.receive()) {
      const [first] = message;
      if (first === undefined) continue;
      if (canClose && first === CLOSE_SIGNAL) {
        const [, channel] = message;
        return channel === undefined || message.length > 2 ? undefined : { channel };
      }
      const content = message.subarray(1);
      const data = isBase64 ? decodeMessage(content) : content;
      if (data !== undefined) return { channel: isBase64 ? first - ZERO : first, data };
    }
    return undefined;
  }

  /** Sends bytes; at least one message. Resolves when more can be sent. */
  async send(channel: number, bytes: Uint8Array = NO_BYTES): Promise<void> {
    const { isBase64 } = this.#options;
    for (const part of bytes.length === 0 ? [bytes] : partsOf(bytes, MAX_MESSAGE_BYTES)) {
      const content = encodeMessage(part, isBase64);
      const message = new Uint8Array(content.length + 1);
      message[0] = isBase64 ? ZERO + channel : channel;
      message.set(content, 1);
      await this.#socket.send(message);
    }
  }
}

const ZERO = '0'.charCodeAt(0);

/** Divides bytes into parts of limited length. */
export function* partsOf(bytes: Uint8Array, limit: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += limit) yield bytes.subarray(at, at + limit);
}

export function encodeMessage(bytes: Uint8Array, isBase64: boolean): Uint8Array {
  return isBase64 ? new TextEncoder().encode(encodeBase64(bytes)) : bytes;
}

/** Undefined if it is not base64: the message is ignored, as by the reference server. */
function decodeMessage(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return decodeBase64(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Bytes of a client that a program reads. It has no buffer: the client waits until the program reads. */
export class ClientInput {
  readonly readable: ReadableStream<Uint8Array>;
  /** Absent: the program does not read any more, or there is nothing more to read. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isWanted = false;
  #onWanted: (() => void) | undefined;

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#onWanted?.();
        },
        cancel: () => void this.#close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Resolves when the program has read the bytes, or does not want them. No other call may be pending. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.#controller === undefined) return;
    if (!this.#isWanted) {
      await new Promise<void>((resolve) => {
        this.#onWanted = resolve;
      });
    }
    this.#isWanted = false;
    this.#controller?.enqueue(bytes);
  }

  /** The program reads the end after what was written. */
  end(): void {
    this.#close()?.close();
  }

  /** The client has disconnected: reads fail. */
  abort(reason: unknown): void {
    this.#close()?.error(reason);
  }

  #close(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller;
    this.#controller = undefined;
    this.#onWanted?.();
    return controller;
  }
}
