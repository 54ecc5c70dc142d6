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

/** `onEnd` is called when both directions have ended. */
export function bytePipe(onEnd: () => void): BytePipe {
  let open = 2;
  const end = (): void => {
    open--;
    if (open === 0) onEnd();
  };
  const toServer = direction(end);
  const toClient = direction(end);
  return {
    client: { readable: toClient.readable, writable: toServer.writable },
    server: { readable: toServer.readable, writable: toClient.writable },
    destroy(error) {
      toServer.fail(error);
      toClient.fail(error);
    },
  };
}

/** Not a TransformStream, because not all platforms tell it that its reader has cancelled. */
function direction(onEnd: () => void): ByteConnection & { fail(error: unknown): void } {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let sink: WritableStreamDefaultController | undefined;
  let resume: (() => void) | undefined;
  let isOpen = true;
  const end = (): void => {
    resume?.();
    if (isOpen) onEnd();
    isOpen = false;
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        source = controller;
      },
      pull: () => resume?.(),
      cancel(reason) {
        sink?.error(reason ?? new Error('write: broken pipe'));
        end();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );
  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      sink = controller;
    },
    write(chunk) {
      source?.enqueue(chunk);
      if ((source?.desiredSize ?? 1) > 0) return undefined;
      return new Promise<void>((resolve) => {
        resume = resolve;
      });
    },
    close() {
      source?.close();
      end();
    },
    abort(reason) {
      source?.error(reason);
      end();
    },
  });
  const fail = (error: unknown): void => {
    if (!isOpen) return;
    source?.error(error);
    sink?.error(error);
    end();
  };
  return { readable, writable, fail };
}
