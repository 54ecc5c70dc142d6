/**
 * DER, the one spelling of ASN.1 that certificates are written in, read element by element and strictly: the shortest
 * lengths, integers and identifiers only, as the reference server's parser wants them. Knows nothing of certificates.
 */
import { toHex } from '../../util/hex.js';

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  t61: 0x14,
  ia5: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
  context1: 0x81,
  context2: 0x82,
  context3: 0xa3,
} as const;

/** The bytes are not what they should be. Readers turn it into an answer; no client sees it. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/** Reads elements off the front of some bytes. Every method throws a DerError when the next element is another. */
export class DerReader {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get empty(): boolean {
    return this.#at >= this.bytes.length;
  }

  /** What is not read yet. */
  get rest(): Uint8Array {
    return this.bytes.subarray(this.#at);
  }

  has(tag: number): boolean {
    return this.bytes[this.#at] === tag;
  }

  any(): { readonly tag: number; readonly content: DerReader } {
    const tag = this.#byte();
    // All ones announce a tag of several bytes; nothing in a certificate has one.
    if ((tag & 0x1f) === 0x1f) throw new DerError();
    const length = this.#length();
    if (length > this.bytes.length - this.#at) throw new DerError();
    const content = this.bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return { tag, content: new DerReader(content) };
  }

  element(tag: number): DerReader {
    if (!this.has(tag)) throw new DerError();
    return this.any().content;
  }

  /** The element, with nothing behind it. */
  only(tag: number): DerReader {
    const content = this.element(tag);
    if (!this.empty) throw new DerError();
    return content;
  }

  sequence(): DerReader {
    return this.element(TAG.sequence);
  }

  each(read: (rest: DerReader) => void): void {
    while (!this.empty) read(this);
  }

  integer(): Uint8Array {
    const { bytes } = this.element(TAG.integer);
    const [first, second = 0] = bytes;
    // The shortest form only: a first byte that merely repeats the sign is one too many.
    const padded = bytes.length > 1 && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
    if (first === undefined || padded) throw new DerError();
    return bytes;
  }

  /** An integer of 64 bits, inexact beyond 53. */
  smallInteger(): number {
    const bytes = this.integer();
    if (bytes.length > 8) throw new DerError();
    return bytes.reduce((value, byte) => value * 256 + byte, isNegative(bytes) ? -1 : 0);
  }

  boolean(): boolean {
    const { bytes } = this.element(TAG.boolean);
    if (bytes.length !== 1 || (bytes[0] !== 0 && bytes[0] !== 0xff)) throw new DerError();
    return bytes[0] === 0xff;
  }

  bitString(): Uint8Array {
    const { bytes } = this.element(TAG.bitString);
    const unused = bytes[0] ?? 8;
    const mask = (1 << unused) - 1;
    if (unused > 7 || (bytes.length === 1 && unused > 0)) throw new DerError();
    if (((bytes.at(-1) ?? 0) & mask) !== 0 && bytes.length > 1) throw new DerError();
    return bytes.subarray(1);
  }

  /** In hexadecimal, which is all that comparing takes. */
  oid(): string {
    const { bytes } = this.element(TAG.oid);
    // Each number ends with a byte below 0x80, starts with one other than 0x80, and fits 31 bits.
    let [value, start] = [0, true];
    for (const byte of bytes) {
      if (start && byte === 0x80) throw new DerError();
      value = (start ? 0 : value * 128) + (byte & 0x7f);
      if (value > 0x7fffffff) throw new DerError();
      start = byte < 0x80;
    }
    if (bytes.length === 0 || !start) throw new DerError();
    return toHex(bytes);
  }

  #byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw new DerError();
    return byte;
  }

  /** Definite and in as few bytes as possible. */
  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError();
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + this.#byte();
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError();
    return length;
  }
}

/** The sign of what {@link DerReader.integer} returns. */
export function isNegative(integer: Uint8Array): boolean {
  return (integer[0] ?? 0) >= 0x80;
}

/** What was read, or undefined where the bytes are something else. */
export function orUndefined<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}
