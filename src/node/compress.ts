/**
 * Compression at the pace of whoever reads: the platform's stream for it takes all it can get, and a client that asks
 * for a long list and reads nothing would make the server hold it all.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ByteSource } from '../http/answer.js';

/** The fastest: answers are compressed once for one client. */
const LEVEL = 1;

export function compressed(source: ByteSource): ByteSource {
  const gzip = createGzip({ level: LEVEL });
  // What breaks it shows to the reader too, as the end of what it reads.
  pipeline(Readable.from(chunksOf(source), { objectMode: false }), gzip).catch(() => undefined);
  const chunks: AsyncIterator<Uint8Array> = gzip[Symbol.asyncIterator]();
  return {
    async read() {
      const { done, value } = await chunks.next();
      return done === true ? undefined : value;
    },
    cancel() {
      source.cancel();
      gzip.destroy();
    },
  };
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) yield bytes;
}
