/** The compressed headers of SPDY. */
import { constants, createDeflate, type Deflate, inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  dictionary,
  EMPTY_HEADER_BLOCKS,
  requireInflate,
  SpdyHeaders,
} from '../../../../src/runtime/http/spdy-headers.js';

/** Encodes names and values as a client does, without compression. */
function encodeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const pairs = Object.entries(headers);
  const parts = pairs.flat().flatMap((text) => [word(text.length), Buffer.from(text)]);
  return Buffer.concat([word(pairs.length), ...parts]);
}

async function compress(deflate: Deflate, content: Uint8Array): Promise<Buffer> {
  const written = new Promise<void>((resolve) => {
    deflate.write(content);
    deflate.flush(constants.Z_SYNC_FLUSH, () => resolve());
  });
  await written;
  return deflate.read() as Buffer;
}

const STREAM = { streamtype: 'error', port: '80', requestid: '0' };

describe('the headers of SPDY', () => {
  test('are read from the blocks of one zlib stream with the dictionary', async () => {
    const deflate = createDeflate({ dictionary: dictionary(), level: 9 });
    const headers = new SpdyHeaders(requireInflate());
    for (const given of [STREAM, { ...STREAM, streamtype: 'data' }, {}, { ...STREAM, requestid: '17' }]) {
      const block = await compress(deflate, encodeHeaders(given));
      expect(Object.fromEntries(headers.read(block) ?? [])).toEqual(given);
    }
  });

  test('are read after more text than the window of deflate has', async () => {
    const deflate = createDeflate({ dictionary: dictionary() });
    const headers = new SpdyHeaders(requireInflate());
    for (let at = 0; at < 200; at++) {
      const given = { ...STREAM, requestid: String(at), note: `${at}-`.repeat(200) };
      expect(headers.read(await compress(deflate, encodeHeaders(given)))?.get('note')).toBe(given.note);
    }
  });

  test('are read without the dictionary if the stream does not name it', async () => {
    const headers = new SpdyHeaders(requireInflate());
    expect(headers.read(await compress(createDeflate(), encodeHeaders(STREAM)))?.get('port')).toBe('80');
  });

  test('are rejected if a block is malformed, shorter than it says, or very long', async () => {
    const read = async (content: Uint8Array) =>
      new SpdyHeaders(requireInflate()).read(await compress(createDeflate(), content));
    expect(new SpdyHeaders(requireInflate()).read(Uint8Array.of(1, 2, 3, 4, 5, 6, 7))).toBeUndefined();
    expect(new SpdyHeaders(requireInflate()).read(new Uint8Array())).toBeUndefined();
    expect(await read(Buffer.from([0, 0, 0, 1, 0, 0, 0, 200, 65]))).toBeUndefined();
    expect(await read(Buffer.from([0xff, 0xff, 0xff, 0xff]))).toBeUndefined();
    expect(await read(encodeHeaders({ port: '1'.repeat(100_000) }))).toBeUndefined();
    expect(await read(encodeHeaders({ port: '1'.repeat(3_000) }))).toBeDefined();
  });

  test('of replies are a valid zlib stream', () => {
    const { first, next } = EMPTY_HEADER_BLOCKS;
    const stream = Uint8Array.from([...first, ...next, ...next]);
    expect([...inflateSync(stream, { finishFlush: constants.Z_SYNC_FLUSH })]).toEqual(new Array(12).fill(0));
  });
});
