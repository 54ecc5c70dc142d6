/**
 * A connection between two functions of this process.
 */
import type { ByteConnection } from '../../protocol/connection.js';

/** The two ends of a connection. */
export interface BytePipe {
  readonly client: ByteConnection;
  readonly server: ByteConnection;
  /** Ends both directions with an error. */
  destroy(error: Error): void;
}

/** What one side can send before the other reads: the size of a socket's buffer. */
const BUFFER_BYTES = 64 * 1024;

/** `onEnd` is called when both sides have closed what they send. */
export function bytePipe(onEnd: () => void): BytePipe {
  let open = 2;
  const flush = (): void => {
    open--;
    if (open === 0) onEnd();
  };
  const toServer = direction(flush);
  const toClient = direction(flush);
  return {
    client: { readable: toClient.readable, writable: toServer.writable },
    server: { readable: toServer.readable, writable: toClient.writable },
    destroy(error) {
      toServer.fail(error);
      toClient.fail(error);
    },
  };
}

function direction(flush: () => void): ByteConnection & { fail(error: Error): void } {
  let controller: TransformStreamDefaultController<Uint8Array> | undefined;
  const start = (given: TransformStreamDefaultController<Uint8Array>): void => {
    controller = given;
  };
  const buffer = new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({ start, flush }, undefined, buffer);
  return { readable, writable, fail: (error) => controller?.error(error) };
}
