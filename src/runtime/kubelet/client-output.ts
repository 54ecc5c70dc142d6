/**
 * The output of a process to a client that may read slowly or not at all.
 */
import { JoinedBytes } from '../../util/bytes.js';

/** A client that leaves more unread is disconnected: a program in JavaScript cannot be held back. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

type Writer = WritableStreamDefaultWriter<Uint8Array> | undefined;

export class ClientOutput {
  readonly #onOverflow: () => void;
  #unread = 0;
  /** What was written while the client took something else: joined, because a program may write single bytes. */
  readonly #waiting = new Map<Writer, JoinedBytes>();
  /** Resolves when the client has taken everything. */
  #writes: Promise<void> | undefined;
  #isOver = false;

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  /** Resolves when the client has taken the bytes, and what was written until then. */
  write(writer: Writer, bytes: Uint8Array): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#unread += bytes.length;
    if (this.#unread > MAX_UNREAD_BYTES) {
      this.#isOver = true;
      this.#waiting.clear();
      this.#onOverflow();
      return Promise.resolve();
    }
    const waiting = this.#waiting.get(writer) ?? new JoinedBytes();
    waiting.add(bytes);
    this.#waiting.set(writer, waiting);
    this.#writes ??= this.#send();
    return this.#writes;
  }

  /** Resolves when the client has taken everything, or at once if it is disconnected. */
  async finished(): Promise<void> {
    if (!this.#isOver) await this.#writes;
  }

  async #send(): Promise<void> {
    // The loop also visits what is added meanwhile.
    for (const [writer, waiting] of this.#waiting) {
      this.#waiting.delete(writer);
      const bytes = waiting.bytes();
      // A client that has gone does not read; its signal ends the connection.
      await writer?.write(bytes).catch(() => undefined);
      this.#unread -= bytes.length;
    }
    this.#writes = undefined;
  }
}
