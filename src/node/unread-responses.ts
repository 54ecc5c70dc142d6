/**
 * Limits the responses that clients have not read. A response that is encoded as a whole stays in memory until its client has
 * taken it, and a client can ask for large lists on many connections.
 */
import { type Clock, systemClock } from '../util/clock.js';

/** How long a client may take to read a response. The reference server gives a request so long, including its response. */
export const MAX_UNREAD_MS = 60_000;
/** All responses together. Above that, those are cut off whose clients have not read for the longest time. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
/** Smaller responses are not limited: a connection has only one. */
const MIN_BYTES = 16 * 1024;

interface UnreadBody {
  /** What is still in memory. */
  bytes: number;
  readonly cutOff: () => void;
  readonly undoLimit: () => void;
}

/** Bodies by the response or request that they belong to. */
export class UnreadResponses<Key> {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  #bytes = 0;
  /** In the order in which they were read last. */
  readonly #unread = new Map<Key, UnreadBody>();

  constructor(maxBytes = MAX_UNREAD_BYTES, clock: Clock = systemClock) {
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  /** A response starts whose body is in memory. The newest one is never cut off for its size. */
  add(key: Key, bytes: number, cutOff: () => void): void {
    if (bytes < MIN_BYTES) return;
    for (const [oldest, unread] of this.#unread) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      this.remove(oldest);
      unread.cutOff();
    }
    const undoLimit = this.#clock.after(MAX_UNREAD_MS, cutOff, { background: true });
    this.#unread.set(key, { bytes, cutOff, undoLimit });
    this.#bytes += bytes;
  }

  /** A part of the body was read and is no longer in memory. */
  taken(key: Key, bytes: number): void {
    const unread = this.#unread.get(key);
    if (unread === undefined) return;
    const read = Math.min(bytes, unread.bytes);
    unread.bytes -= read;
    this.#bytes -= read;
    // Becomes the last one.
    this.#unread.delete(key);
    this.#unread.set(key, unread);
  }

  /** The response has ended. */
  remove(key: Key): void {
    const unread = this.#unread.get(key);
    if (unread === undefined) return;
    unread.undoLimit();
    this.#bytes -= unread.bytes;
    this.#unread.delete(key);
  }
}
