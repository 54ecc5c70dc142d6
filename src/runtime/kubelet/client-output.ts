/**
 * The output of a process to a client that may read slowly or not at all.
 */

/** A client that leaves more unread is disconnected: a program in JavaScript cannot be held back. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

type Writer = WritableStreamDefaultWriter<Uint8Array> | undefined;

export class ClientOutput {
  readonly #onOverflow: () => void;
  #unread = 0;
  #writes = Promise.resolve();
  #isOver = false;

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  /** Resolves when the client has taken the bytes. */
  write(writer: Writer, bytes: Uint8Array): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#unread += bytes.length;
    if (this.#unread > MAX_UNREAD_BYTES) {
      this.#isOver = true;
      this.#onOverflow();
      return Promise.resolve();
    }
    // A client that has gone does not read; its signal ends the connection.
    this.#writes = this.#writes
      .then(() => writer?.write(bytes))
      .catch(() => undefined)
      .finally(() => {
        this.#unread -= bytes.length;
      });
    return this.#writes;
  }

  /** Resolves when the client has taken everything, or at once if it is disconnected. */
  finished(): Promise<void> {
    return this.#isOver ? Promise.resolve() : this.#writes;
  }
}
