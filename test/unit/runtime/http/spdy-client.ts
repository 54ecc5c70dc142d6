/** A client of SPDY/3.1 over messages, as far as port forwarding needs it. */
import { constants, createDeflate } from 'node:zlib';
import { dictionary } from '../../../../src/runtime/http/spdy-headers.js';

export interface SpdyFrame {
  /** 0: data. */
  readonly type: number;
  readonly flags: number;
  /** Of data, replies and resets. */
  readonly stream: number;
  readonly content: Buffer;
}

const DATA = 0;
const SYN_STREAM = 1;

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export function controlFrame(type: number, content: Buffer, flags = 0): Buffer {
  return Buffer.concat([Buffer.from([0x80, 3, 0, type, flags]), word(content.length).subarray(1), content]);
}

export function dataFrame(stream: number, content: string | Buffer, isLast = false): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([word(stream), Buffer.from([isLast ? 1 : 0]), word(bytes.length).subarray(1), bytes]);
}

/** Encodes the headers of streams. */
export class StreamOpener {
  readonly #deflate = createDeflate({ dictionary: dictionary() });

  async open(stream: number, headers: Readonly<Record<string, string>>): Promise<Buffer> {
    const pairs = Object.entries(headers);
    const parts = pairs.flat().flatMap((text) => [word(text.length), Buffer.from(text)]);
    this.#deflate.write(Buffer.concat([word(pairs.length), ...parts]));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    const block = this.#deflate.read() as Buffer;
    return controlFrame(SYN_STREAM, Buffer.concat([word(stream), word(0), Buffer.alloc(2), block]));
  }
}

/** Divides messages into frames. */
export class FrameParser {
  #rest = Buffer.alloc(0);

  parse(message: Uint8Array): SpdyFrame[] {
    this.#rest = Buffer.concat([this.#rest, message]);
    const frames: SpdyFrame[] = [];
    while (this.#rest.length >= 8) {
      const length = this.#rest.readUIntBE(5, 3);
      if (this.#rest.length < 8 + length) break;
      const first = this.#rest.readUInt32BE(0);
      const content = this.#rest.subarray(8, 8 + length);
      const isData = first < 0x80000000;
      const stream = isData ? first : content.length >= 4 ? content.readUInt32BE(0) : 0;
      frames.push({ type: isData ? DATA : first & 0xffff, flags: this.#rest[4] ?? 0, stream, content });
      this.#rest = this.#rest.subarray(8 + length);
    }
    return frames;
  }
}
