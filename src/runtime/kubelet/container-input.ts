/**
 * The standard input of a container. It is open from the start of the container, and clients that attach write to it.
 */

/** What clients can write before the container reads: the size of a pipe. */
const BUFFER_BYTES = 64 * 1024;

export class InputStream {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The clients that wait until the container reads. */
  readonly #waiting = new Set<() => void>();

  /** A stream that is not open ends at once. */
  constructor(isOpen: boolean) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (isOpen) this.#controller = controller;
          else controller.close();
        },
        pull: () => this.#wake(),
        cancel: () => {
          this.#controller = undefined;
          this.#wake();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
    );
  }

  /** Waits until there is space. Nothing is written when the input is closed or the client has disconnected. */
  async write(bytes: Uint8Array, client: AbortSignal): Promise<void> {
    while (!client.aborted && this.#controller !== undefined && (this.#controller.desiredSize ?? 0) <= 0) {
      await new Promise<void>((resolve) => {
        const proceed = (): void => {
          this.#waiting.delete(proceed);
          client.removeEventListener('abort', proceed);
          resolve();
        };
        this.#waiting.add(proceed);
        client.addEventListener('abort', proceed);
      });
    }
    if (!client.aborted) this.#controller?.enqueue(bytes);
  }

  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
    this.#wake();
  }

  #wake(): void {
    for (const proceed of [...this.#waiting]) proceed();
  }
}
