/**
 * Encoded pieces, collected into the bytes of one write.
 */
import type { Encoded } from '../codec/codec.js';

const NOTHING = new Uint8Array();

export class Chunk {
  /** Texts behind one another are one text, so that they are turned into bytes at once. */
  readonly #pieces: Encoded[] = [];
  #length = 0;

  /** About how many bytes: a text counts its characters. */
  get length(): number {
    return this.#length;
  }

  add(piece: Encoded): void {
    this.#length += piece.length;
    const last = this.#pieces.length - 1;
    const before = this.#pieces[last];
    if (typeof piece === 'string' && typeof before === 'string') this.#pieces[last] = before + piece;
    else this.#pieces.push(piece);
  }

  bytes(): Uint8Array {
    const encoder = new TextEncoder();
    const parts = this.#pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece));
    const [first = NOTHING] = parts;
    if (parts.length <= 1) return first;
    const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}

/** What one read of a long answer gives at least, in characters. */
const PART = 128 * 1024;

/** Encoded pieces as a stream: as many at a time as make a chunk worth sending, and none before a reader wants them. */
export function partsStream(parts: readonly Encoded[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = new Chunk();
        for (; next < parts.length && chunk.length < PART; next++) chunk.add(parts[next] ?? '');
        if (chunk.length > 0) controller.enqueue(chunk.bytes());
        if (next >= parts.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
