/**
 * Reads a stream of this process to its end, an event in each turn of promises: whoever is told of one may write, and
 * others have their turn in between.
 */
import { StatusError } from '../meta/errors.js';
import type { BookmarkEvent, ChangeEvent, LastingStream, WireEvent } from '../protocol/watch-event.js';

type Told = ChangeEvent | BookmarkEvent;

/** Settles when it has ended; rejects with what broke it off, or with what `tell` throws, after which nothing is told. */
export function follow(stream: LastingStream, tell: (event: Told) => void): Promise<void> {
  stream.follow();
  return new Promise((resolve, reject) => new Follower(stream, { tell, resolve, reject }).wait());
}

interface Reader {
  readonly tell: (event: Told) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const soon = Promise.resolve();

class Follower {
  readonly #stream: LastingStream;
  readonly #reader: Reader;
  /** What has come; absent: the end. */
  #came: WireEvent | undefined;

  constructor(stream: LastingStream, reader: Reader) {
    this.#stream = stream;
    this.#reader = reader;
  }

  wait(): void {
    this.#stream.read(this.#receive);
  }

  /** Runs inside writes, where nothing may be told. */
  readonly #receive = (event: WireEvent | undefined): void => {
    this.#came = event;
    void soon.then(this.#tell);
  };

  readonly #tell = (): void => {
    const event = this.#came;
    if (event === undefined) {
      this.#reader.resolve();
      return;
    }
    try {
      if (event.type === 'ERROR') throw new StatusError(event.object);
      this.#reader.tell(event);
      this.wait();
    } catch (error) {
      this.#stream.close();
      this.#reader.reject(error);
    }
  };
}
