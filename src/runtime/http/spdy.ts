/**
 * The server side of SPDY/3.1, as far as port forwarding needs it: a client opens streams, both sides send data, end or reset
 * them. There is no flow control for streams, because the clients have none (they ignore WINDOW_UPDATE and send more than the
 * window): a stream whose program does not read stops the connection.
 * upstream: vendor/github.com/moby/spdystream/connection.go
 */
import type { MessageSocket } from '../../protocol/http.js';
import { JoinedBytes } from '../../util/bytes.js';
import { nextTurn } from '../../util/clock.js';
import { ClientInput, partsOf } from './channels.js';
import { EMPTY_HEADER_BLOCKS, type Inflate, SpdyHeaders } from './spdy-headers.js';
import { wordAt, wordBytes } from './words.js';

const SYN_STREAM = 1;
const SYN_REPLY = 2;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;
const HEADERS = 8;

const PROTOCOL_ERROR = 1;
const REFUSED_STREAM = 3;
const CANCEL = 5;

const FLAG_FIN = 1;
const HEAD_BYTES = 8;
/** A longer control frame is a violation of the protocol. */
const MAX_CONTROL_BYTES = 64 * 1024;
const MAX_DATA_BYTES = 32 * 1024;
/** A client with more open streams gets no new one. Two are a connection. */
const MAX_STREAMS = 2000;

const FRAMES_PER_TURN = 64;

const NO_BYTES = new Uint8Array();

/** A frame, or a part of the data of one. */
interface Frame {
  /** Undefined: data. */
  readonly type: number | undefined;
  readonly flags: number;
  /** The stream of data. */
  readonly stream: number;
  readonly content: Uint8Array;
}

/** A violation of the protocol, which ends the connection. */
class SpdyError extends Error {}

export class SpdyConnection {
  readonly #socket: MessageSocket;
  readonly #headers: SpdyHeaders;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #frames = new FrameReader();
  #lastStream = 0;
  #repliesSent = 0;
  /** Resolves when more can be sent. */
  #sent: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(socket: MessageSocket, inflate: Inflate) {
    this.#socket = socket;
    this.#headers = new SpdyHeaders(inflate);
  }

  /** Reads frames until the client closes the connection or violates the protocol. */
  async run(onStream: (stream: SpdyStream) => void): Promise<void> {
    try {
      let count = 0;
      for (let bytes = await this.#socket.receive(); bytes !== undefined; bytes = await this.#socket.receive()) {
        for (const frame of this.#frames.read(bytes)) {
          if (this.#isClosed || frame.type === GOAWAY) return;
          await this.#handle(frame, onStream);
          // A client that does not read what the server answers cannot send more.
          await this.#sent;
          // A message may have millions of frames; others must not wait for all of them.
          if (++count % FRAMES_PER_TURN === 0) await nextTurn();
        }
      }
    } catch (error) {
      // The client gets no answer: it is the one that sends malformed frames.
      if (!(error instanceof SpdyError)) throw error;
    } finally {
      this.close(new Error('the client has disconnected'));
    }
  }

  close(reason: unknown): void {
    this.#isClosed = true;
    for (const stream of [...this.#streams.values()]) stream.onReset(reason);
  }

  async #handle({ type, flags, stream: id, content }: Frame, onStream: (stream: SpdyStream) => void): Promise<void> {
    switch (type) {
      case undefined: {
        const stream = this.#streams.get(id);
        await stream?.input.write(content);
        if ((flags & FLAG_FIN) !== 0) stream?.onFinished();
        return;
      }
      case SYN_STREAM:
        return this.#open(content, flags, onStream);
      case RST_STREAM:
        this.#streams.get(wordAt(content, 0))?.onReset(new Error('the client has closed the connection'));
        return;
      case PING:
        if (wordAt(content, 0) % 2 === 1) await this.#sendControl(PING, content.subarray(0, 4));
        return;
      case SYN_REPLY:
      case HEADERS:
        // Their content does not matter, but later headers are compressed with it.
        this.#readHeaders(content.subarray(4));
    }
  }

  async #open(content: Uint8Array, flags: number, onStream: (stream: SpdyStream) => void): Promise<void> {
    const id = wordAt(content, 0) & 0x7fffffff;
    const headers = this.#readHeaders(content.subarray(10));
    if (id <= this.#lastStream || id % 2 === 0) return this.#sendReset(id, PROTOCOL_ERROR);
    this.#lastStream = id;
    if (this.#streams.size >= MAX_STREAMS) return this.#sendReset(id, REFUSED_STREAM);
    const stream = new SpdyStream(id, headers, {
      reply: () => void this.#sendReply(id),
      data: (bytes, isLast) => this.#sendData(id, bytes, isLast),
      reset: () => void this.#sendReset(id, CANCEL),
      closed: () => this.#streams.delete(id),
    });
    this.#streams.set(id, stream);
    if ((flags & FLAG_FIN) !== 0) stream.onFinished();
    onStream(stream);
  }

  #readHeaders(block: Uint8Array): ReadonlyMap<string, string> {
    const headers = this.#headers.read(block);
    if (headers === undefined) throw new SpdyError('malformed headers');
    return headers;
  }

  #sendReply(id: number): Promise<void> {
    const block = this.#repliesSent++ === 0 ? EMPTY_HEADER_BLOCKS.first : EMPTY_HEADER_BLOCKS.next;
    return this.#sendControl(SYN_REPLY, Uint8Array.of(...wordBytes(id), ...block));
  }

  #sendReset(id: number, status: number): Promise<void> {
    return this.#sendControl(RST_STREAM, Uint8Array.of(...wordBytes(id), ...wordBytes(status)));
  }

  #sendControl(type: number, content: Uint8Array): Promise<void> {
    this.#sent = this.#send([0x80, 3, 0, type, ...wordBytes(content.length)], content);
    return this.#sent;
  }

  async #sendData(id: number, bytes: Uint8Array, isLast: boolean): Promise<void> {
    for (const part of partsOf(bytes, MAX_DATA_BYTES))
      await this.#send([...wordBytes(id), ...wordBytes(part.length)], part);
    if (isLast) await this.#send([...wordBytes(id), FLAG_FIN, 0, 0, 0], NO_BYTES);
  }

  #send(head: readonly number[], content: Uint8Array): Promise<void> {
    const frame = new Uint8Array(HEAD_BYTES + content.length);
    frame.set(head);
    frame.set(content, HEAD_BYTES);
    return this.#socket.send(frame);
  }
}

interface StreamFrames {
  readonly reply: () => void;
  readonly data: (bytes: Uint8Array, isLast: boolean) => Promise<void>;
  readonly reset: () => void;
  /** Called when no more frames are sent or received. */
  readonly closed: () => void;
}

/** A stream that the client has opened. */
export class SpdyStream {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  /** What the client sends. */
  readonly input = new ClientInput();
  /** Called when the stream is closed. */
  onEnd: (() => void) | undefined;
  readonly #frames: StreamFrames;
  readonly #closing = new AbortController();
  #isFinished = false;
  #isEnded = false;

  constructor(id: number, headers: ReadonlyMap<string, string>, frames: StreamFrames) {
    this.id = id;
    this.headers = headers;
    this.#frames = frames;
  }

  /** Aborts when the stream is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  reply(): void {
    this.#frames.reply();
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (!this.#isEnded) await this.#frames.data(bytes, false);
  }

  /** Sends no more data. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    void this.#frames.data(NO_BYTES, true);
    if (this.#isFinished) this.#close(undefined);
  }

  reset(): void {
    if (!this.#closing.signal.aborted) this.#frames.reset();
    this.onReset(undefined);
  }

  /** The client sends no more data. */
  onFinished(): void {
    this.#isFinished = true;
    this.input.end();
    if (this.#isEnded) this.#close(undefined);
  }

  /** The client has reset the stream, or has disconnected. */
  onReset(reason: unknown): void {
    this.#isEnded = true;
    this.input.abort(reason);
    this.#close(reason);
  }

  #close(reason: unknown): void {
    this.#frames.closed();
    this.#closing.abort(reason);
    this.onEnd?.();
  }
}

/** Divides the bytes of a connection into frames. The data of a frame may come in several parts, the last with its flags. */
class FrameReader {
  /** The beginning of a frame, and how much of it is needed. */
  #rest = new JoinedBytes();
  #needed = 0;
  /** The frame whose data is being read. */
  #data: { readonly stream: number; readonly flags: number; missing: number } | undefined;

  *read(bytes: Uint8Array): Generator<Frame> {
    this.#rest.add(bytes);
    // A client may send single bytes.
    if (this.#rest.length < this.#needed) return;
    let rest = this.#rest.bytes();
    this.#rest = new JoinedBytes();
    this.#needed = 0;
    while (rest.length > 0) {
      const frame = this.#data === undefined ? this.#start(rest) : this.#continue(rest, this.#data);
      if (frame === undefined) break;
      rest = rest.subarray(frame.used);
      if (frame.frame !== undefined) yield frame.frame;
    }
    if (rest.length > 0) this.#rest.add(new Uint8Array(rest));
  }

  /** Undefined: more bytes are needed. */
  #start(bytes: Uint8Array): { readonly used: number; readonly frame?: Frame } | undefined {
    if (bytes.length < HEAD_BYTES) return undefined;
    const first = wordAt(bytes, 0);
    const flags = bytes[4] ?? 0;
    const length = wordAt(bytes, 4) & 0xffffff;
    if (first < 0x80000000) {
      if (first === 0) throw new SpdyError('data without a stream');
      if (length === 0)
        return { used: HEAD_BYTES, frame: { type: undefined, flags, stream: first, content: NO_BYTES } };
      this.#data = { stream: first, flags, missing: length };
      return { used: HEAD_BYTES };
    }
    const type = first & 0xffff;
    if (length > MAX_CONTROL_BYTES) throw new SpdyError('a control frame is too long');
    this.#needed = HEAD_BYTES + length;
    if (bytes.length < this.#needed) return undefined;
    this.#needed = 0;
    const content = bytes.subarray(HEAD_BYTES, HEAD_BYTES + length);
    if (content.length < (MIN_CONTENT[type] ?? 0)) throw new SpdyError('a control frame is too short');
    return { used: HEAD_BYTES + length, frame: { type, flags, stream: 0, content } };
  }

  #continue(
    bytes: Uint8Array,
    data: { readonly stream: number; readonly flags: number; missing: number },
  ): { readonly used: number; readonly frame: Frame } {
    const content = bytes.subarray(0, data.missing);
    data.missing -= content.length;
    if (data.missing === 0) this.#data = undefined;
    const flags = data.missing === 0 ? data.flags : 0;
    return { used: content.length, frame: { type: undefined, flags, stream: data.stream, content } };
  }
}

/** The lengths of the fixed parts of control frames. */
const MIN_CONTENT: Readonly<Record<number, number>> = {
  [SYN_STREAM]: 10,
  [SYN_REPLY]: 4,
  [RST_STREAM]: 8,
  [PING]: 4,
  [HEADERS]: 4,
};
