/**
 * Limits what clients have not read: responses that are encoded as a whole, and the events of watches. It stays in memory
 * until the client has taken it, and a client can ask for large lists and objects on many connections.
 */
import { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '../util/clock.js';
import { waitForDrain } from './byte-sources.js';
import { isDestroyed, type Outgoing } from './outgoing-response.js';

/** How long a client may take to read a response. The reference server gives a request so long, including its response. */
export const MAX_UNREAD_MS = 60_000;
/** All responses together. Above that, those are cut off whose clients have not read for the longest time. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
/** What is written to a connection at a time. */
const PIECE_BYTES = 64 * 1024;
/** Smaller responses are not limited: a connection has only one. */
const MIN_BYTES = 16 * 1024;

interface UnreadBody {
  /** What is still in memory. */
  bytes: number;
  readonly cutOff: () => void;
  readonly undoLimit?: () => void;
  /** Several watches may send the same one. */
  readonly message?: Uint8Array;
}

/** Bodies by the response or request that they belong to. */
export class UnreadResponses<Key> {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  #bytes = 0;
  /** In the order in which they were read last. */
  readonly #unread = new Map<Key, UnreadBody>();
  /** To how many clients each message is sent: it is in memory once. */
  readonly #messages = new Map<Uint8Array, number>();

  constructor(maxBytes = MAX_UNREAD_BYTES, clock: Clock = systemClock) {
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  /** A response starts whose body is in memory. The newest one is never cut off for its size. */
  add(key: Key, bytes: number, cutOff: () => void): void {
    if (bytes < MIN_BYTES) return;
    this.#makeRoom(bytes);
    const undoLimit = this.#clock.after(MAX_UNREAD_MS, cutOff, { background: true });
    this.#unread.set(key, { bytes, cutOff, undoLimit });
    this.#bytes += bytes;
  }

  /** The same for a message of a watch, which its client may read at any time. */
  addMessage(key: Key, message: Uint8Array, cutOff: () => void): void {
    if (message.length < MIN_BYTES) return;
    const count = this.#messages.get(message) ?? 0;
    this.#messages.set(message, count + 1);
    if (count === 0) {
      this.#makeRoom(message.length);
      this.#bytes += message.length;
    }
    this.#unread.set(key, { bytes: 0, cutOff, message });
  }

  #makeRoom(bytes: number): void {
    for (const [oldest, unread] of this.#unread) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      this.remove(oldest);
      unread.cutOff();
    }
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
    const { bytes, message, undoLimit } = unread;
    undoLimit?.();
    this.#bytes -= bytes;
    this.#unread.delete(key);
    if (message === undefined) return;
    const count = (this.#messages.get(message) ?? 0) - 1;
    if (count > 0) this.#messages.set(message, count);
    else if (this.#messages.delete(message)) this.#bytes -= message.length;
  }
}

/** TLS and HTTP/2 copy what they send, and keep buffers of this size for the connection; a plain socket refers to it. */
function isCopied(outgoing: Outgoing): boolean {
  return !(outgoing instanceof ServerResponse) || outgoing.socket instanceof TLSSocket;
}

/** Sends a message of a watch. Resolves when the system has taken it, or the connection is closed; undefined: at once. */
export function sendMessage(
  outgoing: Outgoing,
  message: Uint8Array,
  unread: UnreadResponses<Outgoing>,
): Promise<void> | undefined {
  const pieceBytes = isCopied(outgoing) ? PIECE_BYTES : message.length;
  let end = pieceBytes;
  const hasDrained = outgoing.write(message.subarray(0, end));
  if (hasDrained && end >= message.length) return undefined;
  unread.addMessage(outgoing, message, () => outgoing.destroy());
  return (async () => {
    if (!hasDrained) await waitForDrain(outgoing);
    for (; end < message.length && !isDestroyed(outgoing); end += pieceBytes) {
      if (!outgoing.write(message.subarray(end, end + pieceBytes))) await waitForDrain(outgoing);
    }
    unread.remove(outgoing);
  })();
}
