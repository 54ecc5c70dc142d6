/**
 * A body of a request or response between its arrival and its reader. Node keeps each chunk or DATA frame that is not read as an object
 * of its own, which takes more than a hundred bytes even if it contains a single one.
 */
import { JoinedBytes } from './bytes.js';

/** Above this, the sender has to wait. More may be on its way: what the window of HTTP/2 allows. */
const MAX_HELD_BYTES = 64 * 1024;

/** A Readable of Node. */
interface ArrivingBytes {
  readonly destroyed: boolean;
  push(chunk: unknown, encoding?: BufferEncoding): boolean;
  _read(size: number): void;
  on(event: string, listener: (chunk: Uint8Array) => void): this;
}

/** The bytes of a stream that have arrived and were not read. */
export class HeldBody {
  readonly #disconnected: () => Error;
  /** Continues after the sender had to wait. */
  readonly #continue: () => void;
  #bytes = new JoinedBytes();
  #state: 'open' | 'dropped' | 'ended' | 'cut' = 'open';
  /** The stream asked for more while the sender had to wait. */
  #isWanted = false;
  #onArrival: (() => void) | undefined;

  /** Takes the stream over: everything that arrives is moved here at once. `disconnected` is the error if it does not end. */
  constructor(stream: ArrivingBytes, disconnected: () => Error) {
    const { push, _read: read } = stream;
    this.#disconnected = disconnected;
    this.#continue = () => {
      if (!this.#isWanted) return;
      this.#isWanted = false;
      read.call(stream, 0);
    };
    // Pausing the stream would leave the chunks in it.
    stream.push = (chunk, encoding) => push.call(stream, chunk, encoding) && !this.#isFull();
    stream._read = (size) => {
      if (this.#isFull()) this.#isWanted = true;
      else read.call(stream, size);
    };
    stream.on('data', (chunk: Uint8Array) => {
      if (this.#state !== 'open') return;
      this.#bytes.add(chunk);
      this.#onArrival?.();
    });
    const end = (state: 'ended' | 'cut') => () => {
      if (this.#state === 'open') this.#state = state;
      this.#onArrival?.();
    };
    stream.on('end', end('ended')).on('close', end('cut')).on('error', end('cut'));
    if (stream.destroyed) end('cut')();
  }

  /** Everything that has arrived, as soon as there is something; undefined at the end. Rejects if it was dropped. */
  async read(): Promise<Uint8Array | undefined> {
    while (this.#bytes.length === 0 && this.#state === 'open') {
      await new Promise<void>((resolve) => (this.#onArrival = resolve));
    }
    // A body that is not complete must not seem to be.
    if (this.#state === 'cut' || this.#state === 'dropped') throw this.#disconnected();
    const bytes = this.#take();
    return bytes.length === 0 ? undefined : bytes;
  }

  /** The rest as a stream. `onRead` is called before each part is read. */
  readable({ onRead, onCancel }: { onRead?: () => void; onCancel: () => void }): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          onRead?.();
          const bytes = await this.read();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        },
        cancel: onCancel,
      },
      { highWaterMark: 0 },
    );
  }

  /** Drops what has arrived and what comes. */
  drop(): void {
    if (this.#state === 'open') this.#state = 'dropped';
    this.#take();
    this.#onArrival?.();
  }

  #take(): Uint8Array {
    const bytes = this.#bytes.bytes();
    this.#bytes = new JoinedBytes();
    this.#continue();
    return bytes;
  }

  #isFull(): boolean {
    return this.#bytes.length >= MAX_HELD_BYTES;
  }
}
