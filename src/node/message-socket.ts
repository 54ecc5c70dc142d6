/**
 * The messages of a WebSocket, with back pressure in both directions.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { MessageSocket } from '../protocol/http.js';
import { nextTurn, systemClock } from '../util/clock.js';
import { HeldBytes } from './held-bytes.js';
import { UnreadResponses } from './unread-responses.js';

/** Above this many unsent bytes, the next message waits. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** The same for messages, which may be short. */
const MAX_UNSENT_MESSAGES = 1000;
/** Above this many bytes that the session has not received, the server stops reading. */
const MAX_UNREAD_BYTES = 256 * 1024;
/**
 * A server that does not read does not notice that the client has disconnected, unless it writes. So it sends a ping from
 * time to time.
 */
const PING_INTERVAL_MS = 5_000;

export interface MessageSocketOptions {
  readonly isText: boolean;
  /** The connection of the WebSocket. */
  readonly connection: Pick<Duplex, 'on'>;
  /** Called with the length of each message to the client. */
  readonly onMessage: (bytes: number) => void;
}

export class WebSocketMessages implements MessageSocket {
  readonly #webSocket: WebSocket;
  readonly #options: MessageSocketOptions;
  /** In the order of arrival. */
  #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  /** What has arrived since the last message: a message that is not complete. */
  #arrivingBytes = 0;
  /** The message that the session processes, until it asks for the next one. */
  #takenBytes = 0;
  #unsentMessages = 0;
  /** Pongs that are not sent yet. */
  #pongs = 0;
  #isClosed = false;
  #receive: ((message: Uint8Array | undefined) => void) | undefined;
  #stopPings: (() => void) | undefined;

  constructor(webSocket: WebSocket, options: MessageSocketOptions) {
    this.#webSocket = webSocket;
    this.#options = options;
    webSocket.on('message', (message: Buffer) => this.#onMessage(message));
    options.connection.on('data', (bytes: Uint8Array) => {
      this.#arrivingBytes += bytes.length + CHUNK_BYTES;
      this.#reportHeld();
    });
    // Automatic pongs would queue any number of them for a client that does not read.
    webSocket.on('ping', (data) => {
      this.#pongs++;
      this.#pauseOrResume();
      webSocket.pong(data, false, () => {
        this.#pongs--;
        this.#pauseOrResume();
      });
    });
    webSocket.on('close', () => this.close());
  }

  receive(): Promise<Uint8Array | undefined> {
    const message = this.#unread.shift();
    this.#takenBytes = message?.length ?? 0;
    if (message !== undefined) {
      this.#unreadBytes -= message.length + MESSAGE_BYTES;
      this.#pauseOrResume();
      this.#reportHeld();
      return Promise.resolve(message);
    }
    this.#reportHeld();
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#receive = resolve;
    });
  }

  send(message: Uint8Array): Promise<void> {
    const webSocket = this.#webSocket;
    // A session that sends without a pause must notice that the connection is closed.
    if (webSocket.readyState !== webSocket.OPEN) return nextTurn();
    const { isText, onMessage } = this.#options;
    onMessage(message.length);
    this.#unsentMessages++;
    const key = {};
    unsent.addMessage(key, message, () => webSocket.terminate());
    return new Promise((resolve) => {
      // Also called when the connection closes before the message is sent.
      webSocket.send(message, { binary: !isText }, () => {
        this.#unsentMessages--;
        unsent.remove(key);
        resolve();
      });
      if (webSocket.bufferedAmount <= MAX_UNSENT_BYTES && this.#unsentMessages <= MAX_UNSENT_MESSAGES) resolve();
    });
  }

  /** Ignores what the client sends from now on. */
  close(): void {
    this.#isClosed = true;
    this.#stopPings?.();
    this.#receive?.(undefined);
    this.#unread = [];
    held.set(this, 0, () => undefined);
    // So that the client's part of the closing handshake is read.
    this.#webSocket.resume();
  }

  #onMessage(message: Uint8Array): void {
    if (this.#isClosed) return;
    this.#arrivingBytes = 0;
    const receive = this.#receive;
    this.#receive = undefined;
    if (receive !== undefined) {
      this.#takenBytes = message.length;
      receive(message);
      return;
    }
    this.#unread.push(message);
    this.#unreadBytes += message.length + MESSAGE_BYTES;
    this.#pauseOrResume();
  }

  #reportHeld(): void {
    if (this.#isClosed) return;
    const bytes = this.#arrivingBytes + this.#unreadBytes + this.#takenBytes;
    held.set(this, bytes < MIN_HELD_BYTES ? 0 : bytes, () => this.#webSocket.terminate());
  }

  #pauseOrResume(): void {
    if (this.#isClosed) return;
    const webSocket = this.#webSocket;
    const isPaused = this.#pongs > 0 || this.#unreadBytes > MAX_UNREAD_BYTES;
    if (isPaused === webSocket.isPaused) return;
    if (isPaused) {
      webSocket.pause();
      this.#startPings();
    } else {
      this.#stopPings?.();
      webSocket.resume();
    }
  }

  #startPings(): void {
    const ping = (): void => {
      this.#webSocket.ping(undefined, false, () => undefined);
      this.#startPings();
    };
    this.#stopPings = systemClock.after(PING_INTERVAL_MS, ping, { background: true });
  }
}

const held = new HeldBytes<WebSocketMessages>();
const unsent = new UnreadResponses<object>();
/** Less does not count: most connections hold a few bytes. */
const MIN_HELD_BYTES = 256 * 1024;

/** What a chunk of the connection costs besides its content, which may be a single byte. */
const CHUNK_BYTES = 256;
/** What a message costs besides its content. */
const MESSAGE_BYTES = 64;
