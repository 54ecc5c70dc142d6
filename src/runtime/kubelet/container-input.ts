/**
 * The standard input of a container. It is open from the start of the container, and clients that attach write to it.
 */
export class InputStream {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** A stream that is not open ends at once. */
  constructor(isOpen: boolean) {
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        if (isOpen) this.#controller = controller;
        else controller.close();
      },
      cancel: () => {
        this.#controller = undefined;
      },
    });
  }

  /** Nothing happens when the input is closed. */
  write(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes);
  }

  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
