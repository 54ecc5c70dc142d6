/**
 * A WebSocket of the HTTP thread, in the thread of the cluster. In both directions something is under way while the session
 * works, because a message to the other thread and back takes longer than most of the work.
 */
import type { MessageSocket } from '../protocol/http.js';
import { nextTurn } from '../util/clock.js';

/** The connection in the other thread. */
export interface ForwardedSocketOptions {
  /** Sends a message. */
  readonly send: (message: Uint8Array) => void;
  /** Asks for the next message. */
  readonly ask: () => void;
}

/** Above this many bytes that the other thread has not taken, the next message waits. */
const MAX_UNSENT_BYTES = 256 * 1024;
/** A message counts at least so much: answers to others wait until the other thread has handled it. */
const MIN_COUNTED_BYTES = 1024;

/** The next message is asked for in advance unless this one is long: then both would be in memory. */
const MAX_SMALL_BYTES = 256 * 1024;

function isSmall(message: Uint8Array | undefined): boolean {
  return (message?.length ?? 0) <= MAX_SMALL_BYTES;
}

export class ForwardedSocket implements MessageSocket {
  readonly #other: ForwardedSocketOptions;
  /** Messages that the other thread has not taken yet. */
  readonly #unsent: { readonly length: number; readonly resolve: () => void }[] = [];
  #unsentBytes = 0;
  #arrived: Uint8Array | undefined;
  #receive: ((message: Uint8Array | undefined) => void) | undefined;
  #isAsked = false;
  #isClosed = false;

  constructor(other: ForwardedSocketOptions) {
    this.#other = other;
  }

  receive(): Promise<Uint8Array | undefined> {
    const arrived = this.#arrived;
    this.#arrived = undefined;
    if (isSmall(arrived)) this.#ask();
    if (arrived !== undefined || this.#isClosed) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#receive = resolve;
    });
  }

  send(message: Uint8Array): Promise<void> {
    // A session that sends without a pause must notice that the connection is closed.
    if (this.#isClosed) return nextTurn();
    const length = Math.max(message.length, MIN_COUNTED_BYTES);
    this.#unsentBytes += length;
    this.#other.send(message);
    return new Promise((resolve) => {
      this.#unsent.push({ length, resolve });
      if (this.#unsentBytes <= MAX_UNSENT_BYTES) resolve();
    });
  }

  /** The other thread has taken a message. */
  onSent(): void {
    const sent = this.#unsent.shift();
    this.#unsentBytes -= sent?.length ?? 0;
    sent?.resolve();
  }

  /** Undefined: the connection is closed. */
  onReceived(message: Uint8Array | undefined): void {
    this.#isAsked = false;
    const receive = this.#receive;
    this.#receive = undefined;
    if (message === undefined) this.close();
    else if (receive === undefined) this.#arrived = message;
    else if (isSmall(message)) this.#ask();
    receive?.(message);
  }

  close(): void {
    this.#isClosed = true;
    this.#receive?.(undefined);
    for (const { resolve } of this.#unsent.splice(0)) resolve();
  }

  #ask(): void {
    if (this.#isAsked || this.#isClosed) return;
    this.#isAsked = true;
    this.#other.ask();
  }
}
