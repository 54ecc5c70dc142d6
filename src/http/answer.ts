/**
 * What goes into a handler and what comes out, before it is anybody's Request or Response. A page has the platform's own
 * objects; a server that has its own way to read and write does without them, which saves it half of its time.
 */
import type { Peer } from '../auth/authentication.js';
import type { Encoded } from '../codec/codec.js';

/** As much of a Request as a handler looks at; a Request is one. */
export interface HttpRequest {
  readonly method: string;
  /** Whole: `http://cluster.local/api/v1/pods?limit=5`. */
  readonly url: string;
  readonly headers: HttpHeaders;
  /** Null: there is none. Undefined: the platform has no stream for it, and `arrayBuffer` has it whole. */
  readonly body: ReadableStream<Uint8Array> | null | undefined;
  /** The same in one word, where to make the stream costs something; absent: `body` tells. */
  readonly hasBody?: boolean;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Who is at the other end of the line, where the line tells: by a certificate. A Request has none. */
  readonly peer?: Peer | undefined;
  /** The address at the other end of the connection, where there is one. */
  readonly remote?: string | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
  /** All of the body at once, where that is cheaper than its stream; undefined when it has more bytes than that. */
  readUpTo?(limit: number): Promise<Uint8Array | undefined>;
}

/** As much of Headers as a handler looks at. Names are in lower case. */
export interface HttpHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
  /** Each value of a header that came several times. Absent where they come as one, joined by comma and space. */
  getAll?(name: string): readonly string[];
}

export interface Answer {
  readonly code: number;
  /** In the order in which they are written; a name may come more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Encoded | ReadableStream<Uint8Array> | ByteSource | null;
  /** The body is still to be compressed, as the headers say it is, by whoever sends it: each platform has its own way. */
  readonly compress?: 'gzip';
}

/** A body that has no end yet, for readers that need no stream of the platform. */
export interface ByteSource {
  /** What there is, as soon as there is something; undefined at the end. Not while another read waits. */
  read(): Promise<Uint8Array | undefined>;
  /** Nobody will read on. */
  cancel(): void;
}

export function isByteSource(body: NonNullable<Answer['body']>): body is ByteSource {
  return typeof body === 'object' && 'read' in body;
}

/** The same as a stream of the platform. */
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
    // No room in the queue: a chunk is made when a reader waits for it.
    { highWaterMark: 0 },
  );
}

/** The answer as the platform's own object. */
export function toResponse({ code, headers, body, compress }: Answer): Response {
  const plain = body !== null && isByteSource(body) ? readableOf(body) : body;
  const shown = compress === undefined ? plain : new Response(plain as BodyInit | null).body?.pipeThrough(gzip());
  return new Response(shown as BodyInit | null, { status: code, headers: headers as [string, string][] });
}

/** The platform's types have it take any kind of bytes, which is what it does. */
function gzip(): ReadableWritablePair<Uint8Array, Uint8Array> {
  return new CompressionStream('gzip') as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
}
