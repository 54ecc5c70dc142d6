/**
 * The sizes of a client's terminal. A program that reads them slowly gets the latest one only.
 */
import type { TerminalSize } from '../../protocol/connection.js';
import { isRecord } from '../../util/json.js';

/** A size is shorter; the rest of a longer text is no size. */
const MAX_PENDING_LENGTH = 1024;

export class TerminalSizes {
  readonly readable: ReadableStream<TerminalSize>;
  readonly #text = new TextDecoder();
  #controller: ReadableStreamDefaultController<TerminalSize> | undefined;
  #latest: TerminalSize | undefined;
  #pending = '';
  #isWanted = false;

  constructor() {
    this.readable = new ReadableStream<TerminalSize>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#pass();
        },
        cancel: () => {
          this.#controller = undefined;
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads the last JSON document of a message. It may have begun in an earlier message. */
  push(bytes: Uint8Array): void {
    const text = this.#pending + this.#text.decode(bytes, { stream: true });
    const end = text.lastIndexOf('}');
    this.#pending = text.slice(end + 1).slice(0, MAX_PENDING_LENGTH);
    if (end === -1) return;
    const begin = end === 0 ? 0 : text.lastIndexOf('}', end - 1) + 1;
    this.#latest = readSize(text.slice(begin, end + 1)) ?? this.#latest;
    this.#pass();
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #pass(): void {
    if (!this.#isWanted || this.#latest === undefined) return;
    this.#isWanted = false;
    this.#controller?.enqueue(this.#latest);
    this.#latest = undefined;
  }
}

/** Undefined if the text is not a size. */
function readSize(text: string): TerminalSize | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(read)) return undefined;
  const { Width: width, Height: height } = read;
  return isSize(width) && isSize(height) ? { width, height } : undefined;
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;
}
