/**
 * A connection that never leaves the process: two ends, and what is written to one is read at the other. Flow control is
 * that of streams, so a reader that stops reading stops the writer, as a socket's buffers would. It holds no handle of
 * the operating system and so keeps no process alive.
 */
import { Duplex } from 'node:stream';

/** Client first. Which is which makes no difference. */
export function createInProcessConnection(): readonly [ConnectionEnd, ConnectionEnd] {
  const client = new ConnectionEnd();
  const server = new ConnectionEnd();
  client.join(server);
  server.join(client);
  return [client, server];
}

/** A stream with the methods of a socket that clients call without asking whether they are there. */
export class ConnectionEnd extends Duplex {
  #other: ConnectionEnd | undefined;
  /** The write at the other end that waits for somebody to read here. */
  #taken: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: false });
  }

  join(other: ConnectionEnd): void {
    this.#other = other;
  }

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  /**
   * In a turn of its own, as from a socket: else the other end would answer while this one is still in the middle of its
   * write, and what its readers throw would be thrown there.
   */
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    process.nextTick(() => this.#other?.deliver(chunk, done));
  }

  override _final(done: () => void): void {
    process.nextTick(() => this.#other?.deliver(null, done));
  }

  /** What comes to an end that is closed already is lost, as on a network. */
  deliver(chunk: Buffer | null, done: () => void): void {
    const full = !this.destroyed && !this.push(chunk) && chunk !== null;
    if (full) this.#taken = done;
    else done();
  }

  /** As with a socket: the other end reads what came before, then the end, in its own turn. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#other;
    process.nextTick(() => other?.deliver(null, () => undefined));
    this._read();
    done(error);
  }

  // There is no wire that could be idle, slow or in need of a sign of life, and nothing to keep the process for.
  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
