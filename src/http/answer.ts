/** Converts answers to the platform's types, and headers for another server. */
import type { Answer, ByteSource, HttpHeaders } from '../protocol/http.js';

/** Whether a body is a byte source rather than bytes, text or a stream. */
export function isByteSource(body: NonNullable<Answer['body']>): body is ByteSource {
  return typeof body === 'object' && 'read' in body;
}

/** Wraps a byte source in a ReadableStream. */
export function readableOf(source: ByteSource): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await source.read();
        if (bytes === undefined) controller.close();
        else controller.enqueue(bytes);
      },
      cancel: () => source.cancel(),
    },
    // No buffering: a chunk is produced only when a reader waits for it.
    { highWaterMark: 0 },
  );
}

/** Converts an answer to a Response. */
export function toResponse({ code, headers, body, compress }: Answer): Response {
  const plain = body !== null && isByteSource(body) ? readableOf(body) : body;
  const shown = compress === undefined ? plain : new Response(plain as BodyInit | null).body?.pipeThrough(gzip());
  return new Response(shown as BodyInit | null, { status: code, headers: headers as [string, string][] });
}

/** The platform's type allows any BufferSource as input, which Uint8Array satisfies. */
function gzip(): ReadableWritablePair<Uint8Array, Uint8Array> {
  return new CompressionStream('gzip') as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
}

/** Headers of one connection, which a proxy does not forward in either direction. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** The headers that a proxy forwards: all but those of the connection and those that `Connection` names. */
export function endToEndHeaders(headers: HttpHeaders): [string, string][] {
  const named = (headers.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return [...headers].filter(([name]) => !dropped.has(name));
}
