/**
 * A strict DER reader: accepts only the shortest lengths, integers and identifiers, as Go's cryptobyte parser does.
 * Independent of certificates.
 */
import { toHex } from '../../util/bytes.js';

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

/** Invalid DER. Callers convert it to a result; clients do not see it. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/** Reads elements from the start of a byte array. Methods throw a DerError if the next element does not match. */
export class DerReader {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get empty(): boolean {
    return this.#at >= this.bytes.length;
  }

  /** The unread bytes. */
  get rest(): Uint8Array {
    return this.bytes.subarray(this.#at);
  }

  has(tag: number): boolean {
    return this.bytes[this.#at] === tag;
  }

  any(): { readonly tag: number; readonly content: DerReader } {
    const tag = this.#byte();
    // All ones mean a multi-byte tag, which certificates do not contain.
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

  /** Reads an element that must be the last one. */
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
    // The shortest form is required: the first byte must not only repeat the sign.
    const padded = bytes.length > 1 && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
    if (first === undefined || padded) throw new DerError();
    return bytes;
  }

  /** Reads an integer of up to 64 bits, inexact beyond 53. */
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

  /** Reads an object identifier as hexadecimal bytes. */
  oid(): string {
    const { bytes } = this.element(TAG.oid);
    // Each component ends with a byte below 0x80, does not start with 0x80, and fits into 31 bits.
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

  /** Reads a definite length in its shortest form. */
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

/** Whether an integer from {@link DerReader.integer} is negative. */
export function isNegative(integer: Uint8Array): boolean {
  return (integer[0] ?? 0) >= 0x80;
}

/** Runs a reader function; returns undefined on a DerError. */
export function orUndefined<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}
