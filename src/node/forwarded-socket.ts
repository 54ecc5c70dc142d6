/**
 * A WebSocket of the HTTP thread, in the thread of the cluster.
 */
import type { MessageSocket } from '../http/answer.js';

/** The connection in the other thread. */
export interface ForwardedSocketOptions {
  /** Sends a message. */
  readonly send: (message: Uint8Array) => void;
  /** Asks for the next message. */
  readonly ask: () => void;
}

export class ForwardedSocket implements MessageSocket {
  readonly #other: ForwardedSocketOptions;
  /** Messages that the other thread has not taken yet. */
  readonly #sending: (() => void)[] = [];
  #receive: ((message: Uint8Array | undefined) => void) | undefined;
  #isClosed = false;

  constructor(other: ForwardedSocketOptions) {
    this.#other = other;
  }

  receive(): Promise<Uint8Array | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#receive = resolve;
      this.#other.ask();
    });
  }

  send(message: Uint8Array): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#sending.push(resolve);
      this.#other.send(message);
    });
  }

  /** The other thread has taken a message. */
  onSent(): void {
    this.#sending.shift()?.();
  }

  /** Undefined: the connection is closed. */
  onReceived(message: Uint8Array | undefined): void {
    if (message === undefined) this.close();
    else this.#receive?.(message);
  }

  close(): void {
    this.#isClosed = true;
    this.#receive?.(undefined);
    for (const resolve of this.#sending.splice(0)) resolve();
  }
}
