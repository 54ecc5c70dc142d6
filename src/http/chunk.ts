/**
 * Collects encoded pieces (text or bytes) into chunks of bytes.
 */
import type { Encoded } from '../codec/codec.js';
import { concatBytes } from '../util/bytes.js';

const NO_BYTES = new Uint8Array();

/** Collects encoded pieces and joins them into one byte array. */
export class Chunk {
  /** Consecutive texts are concatenated, so that they are encoded in one call. */
  readonly #pieces: Encoded[] = [];
  #length = 0;

  /** The approximate size in bytes: a text counts one per character. */
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

  /** Whether it has the same pieces: the same byte arrays, not only equal ones. */
  equals(other: Chunk): boolean {
    return (
      this.#pieces.length === other.#pieces.length && this.#pieces.every((piece, at) => piece === other.#pieces[at])
    );
  }

  /** Like `bytes`, but never a piece itself, which may be cached elsewhere. */
  ownBytes(): Uint8Array {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && typeof only === 'object' ? new Uint8Array(only) : this.bytes();
  }

  bytes(): Uint8Array {
    const encoder = new TextEncoder();
    const parts = this.#pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece));
    const [first = NO_BYTES] = parts;
    if (parts.length <= 1) return first;
    return concatBytes(parts);
  }
}

/** The minimum length of one read of a long response body, in characters. */
const MIN_PART_LENGTH = 128 * 1024;

/** The streams of {@link partsStream}. */
const partsStreams = new WeakSet<object>();

/** Whether all chunks of a stream belong to its reader, which may move them to another thread. */
export function ownsChunks(stream: object): boolean {
  return partsStreams.has(stream);
}

/** A pull-based stream of encoded pieces, combined or split into chunks worth sending. */
export function partsStream(parts: readonly Encoded[]): ReadableStream<Uint8Array> {
  let next = 0;
  let offset = 0;
  const take = (): Encoded => {
    const part = parts[next] ?? '';
    const end = endOfSlice(part, offset);
    const slice = typeof part === 'string' ? part.slice(offset, end) : part.subarray(offset, end);
    offset = end === part.length ? 0 : end;
    if (offset === 0) next++;
    return slice;
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = new Chunk();
        while (next < parts.length && chunk.length < MIN_PART_LENGTH) chunk.add(take());
        if (chunk.length > 0) controller.enqueue(chunk.ownBytes());
        if (next >= parts.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  partsStreams.add(stream);
  return stream;
}

/** Parts up to this length are not split. */
const MAX_PART_LENGTH = 2 * MIN_PART_LENGTH;

function endOfSlice(part: Encoded, start: number): number {
  if (part.length - start <= MAX_PART_LENGTH) return part.length;
  const end = start + MIN_PART_LENGTH;
  if (typeof part !== 'string') return end;
  // Both halves of a surrogate pair are encoded together.
  const last = part.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
