/**
 * Response bodies as byte sources, their compression, and the pauses between their pieces.
 */
import type { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isByteSource } from '../http/answer.js';
import type { Answer, ByteSource } from '../protocol/http.js';
import { systemClock } from '../util/clock.js';

/** The fastest level: each response is compressed for one client only. */
const GZIP_LEVEL = 1;

type Body = NonNullable<Answer['body']>;

/** Whether a body is read piece by piece. */
export function isStream(body: Answer['body']): body is ByteSource | ReadableStream<Uint8Array> {
  return body !== null && (body instanceof ReadableStream || isByteSource(body));
}

/** Reads a stream as a byte source. */
export function toByteSource(body: Extract<Body, ByteSource | ReadableStream<Uint8Array>>): ByteSource {
  if (isByteSource(body)) return body;
  const reader = body.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    },
    // A failed stream has already reported its error to the reader.
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}

/** Compresses a byte source with gzip. */
export function gzipSource(source: ByteSource): ByteSource {
  const gzip = createGzip({ level: GZIP_LEVEL });
  // The reader sees the same error as the end of the stream.
  pipeline(Readable.from(chunksOf(source), { objectMode: false }), gzip).catch(() => undefined);
  const chunks: AsyncIterator<Uint8Array> = gzip[Symbol.asyncIterator]();
  let isCancelled = false;
  return {
    async read() {
      try {
        const { done, value } = await chunks.next();
        return done === true ? undefined : value;
      } catch (error) {
        // A stream that is destroyed fails, which is no error of the response.
        if (isCancelled) return undefined;
        throw error;
      }
    },
    cancel() {
      isCancelled = true;
      source.cancel();
      gzip.destroy();
    },
  };
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) yield bytes;
}

type Destroyable = Pick<EventEmitter, 'on' | 'off'> & { destroy(): unknown };

/** Resolves when the socket has drained or closed. It is closed if that takes longer than the limit. */
export function waitForDrain(outgoing: Destroyable, limitMs?: number): Promise<void> {
  return untilTaken(outgoing, limitMs, (done) => outgoing.on('drain', done));
}

/** Writes, and resolves after the system has taken the bytes and others were served, or when the socket has closed. */
export function writePart(
  outgoing: Destroyable & { write(bytes: Uint8Array, done: () => void): unknown },
  bytes: Uint8Array,
  limitMs: number,
): Promise<void> {
  return untilTaken(outgoing, limitMs, (done) => outgoing.write(bytes, () => setImmediate(done)));
}

function untilTaken(
  outgoing: Destroyable,
  limitMs: number | undefined,
  listen: (done: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const undo =
      limitMs === undefined ? undefined : systemClock.after(limitMs, () => outgoing.destroy(), { background: true });
    const done = (): void => {
      undo?.();
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('close', done);
    listen(done);
  });
}
