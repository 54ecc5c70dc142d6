/**
 * Limits what clients have sent and the server keeps: messages of WebSockets that no session has processed, and the headers
 * of open requests. A message is in memory as a whole before a session gets it, and a client can begin long ones on many
 * connections.
 */

/** All connections together. Above that, those are closed that hold most. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

export class HeldBytes<Key> {
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #held = new Map<Key, { readonly bytes: number; readonly close: () => void }>();

  constructor(maxBytes = MAX_HELD_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** How much a connection holds now. `close` is called if it is too much. */
  set(key: Key, bytes: number, close: () => void): void {
    this.remove(key);
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#held.set(key, { bytes, close });
    while (this.#bytes > this.#maxBytes) this.#closeLargest();
  }

  /** A connection holds nothing any more. */
  remove(key: Key): void {
    this.#bytes -= this.#held.get(key)?.bytes ?? 0;
    this.#held.delete(key);
  }

  #closeLargest(): void {
    const [first, ...rest] = this.#held;
    if (first === undefined) return;
    const [key, { bytes, close }] = rest.reduce(
      (largest, each) => (each[1].bytes > largest[1].bytes ? each : largest),
      first,
    );
    this.#held.delete(key);
    this.#bytes -= bytes;
    close();
  }
}
