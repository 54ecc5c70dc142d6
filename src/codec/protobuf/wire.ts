/**
 * Reads the protobuf wire format: varints, lengths and skipped fields. Errors have the messages of the reference server's
 * decoder. Unlike the reader of protobufjs it handles lengths and tags of up to 64 bits exactly.
 */
import protobuf from 'protobufjs/minimal.js';
import { BodyError } from '../../protocol/body.js';
import { decodeUtf8 } from './utf8.js';

const INT64_LIMIT = 2n ** 63n;

export class WireReader extends protobuf.Reader {
  /** The low and high 32 bits of the last varint, unsigned. */
  low = 0;
  high = 0;
  /** The start of the current message; `len` is its end. */
  start = 0;
  /** The first invalid value. It is reported only after the whole wire format was read without errors. */
  problem: BodyError | undefined;

  /** Reads a varint of up to ten bytes into `low` and `high`. Bits beyond the 64th are dropped. */
  varint(): void {
    let byte = this.nextByte();
    this.low = byte & 0x7f;
    this.high = 0;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift >= 64) throw new BodyError('proto: integer overflow');
      byte = this.nextByte();
      const bits = byte & 0x7f;
      if (shift < 32) this.low = (this.low | (bits << shift)) >>> 0;
      // The fifth byte spans both halves.
      if (shift === 28) this.high = bits >>> 4;
      else if (shift > 28) this.high = (this.high | (bits << (shift - 32))) >>> 0;
    }
  }

  /** The last varint, unsigned. */
  exact(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  /** A signed 64-bit integer: a number if it is safe, else a bigint. */
  integer(): number | bigint {
    this.varint();
    const number = (this.high | 0) * 2 ** 32 + this.low;
    return Number.isSafeInteger(number) ? number : BigInt.asIntN(64, this.exact());
  }

  override int32(): number {
    this.varint();
    return this.low | 0;
  }

  override bool(): boolean {
    this.varint();
    return this.low !== 0 || this.high !== 0;
  }

  override double(): number {
    if (this.pos + 8 > this.len) throw unexpectedEnd();
    return super.double();
  }

  /** Reads a length and returns the end of the value, which is inside the message. */
  extent(): number {
    this.varint();
    if (this.high === 0 && this.pos + this.low <= this.len) return this.pos + this.low;
    const end = this.exact() + BigInt(this.pos - this.start);
    throw end >= INT64_LIMIT ? new BodyError('proto: negative length found during unmarshaling') : unexpectedEnd();
  }

  /** The bytes of a length-delimited value, not copied. */
  slice(): Uint8Array {
    const end = this.extent();
    const bytes = this.buf.subarray(this.pos, end);
    this.pos = end;
    return bytes;
  }

  text(): string {
    const end = this.extent();
    const text = decodeUtf8(this.buf, this.pos, end);
    this.pos = end;
    return text;
  }

  /** Skips a field including its tag. Groups are skipped with their content. */
  skipField(): void {
    let depth = 0;
    do {
      if (this.pos >= this.len) throw unexpectedEnd();
      this.varint();
      const wireType = this.low & 7;
      if (wireType === 0) this.varint();
      else if (wireType === 1) this.pos += 8;
      else if (wireType === 2) this.pos = this.extent();
      else if (wireType === 3) depth++;
      else if (wireType === 4) {
        if (depth === 0) throw new BodyError('proto: unexpected end of group');
        depth--;
      } else if (wireType === 5) this.pos += 4;
      else throw new BodyError(`proto: illegal wireType ${wireType}`);
    } while (depth > 0);
    if (this.pos > this.len) throw unexpectedEnd();
  }

  private nextByte(): number {
    if (this.pos >= this.len) throw unexpectedEnd();
    return this.buf[this.pos++] as number;
  }
}

export function unexpectedEnd(): BodyError {
  return new BodyError('unexpected EOF');
}
