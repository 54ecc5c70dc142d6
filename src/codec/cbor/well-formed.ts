/**
 * The first pass over a document: checks that it is one data item within the limits, without disallowed items. It
 * allocates nothing, so an announced size (a gigabyte of text, a million keys) costs no more than the bytes that were
 * sent. Later passes rely on this check.
 */
import {
  ARRAY,
  BYTES,
  HeadReader,
  INDEFINITE,
  MAP,
  type MajorType,
  NotWellFormed,
  TAG,
  TEXT,
  TYPE_NAMES,
  UNEXPECTED_END,
  unacceptable,
} from './head.js';

/** The nesting depth of containers and tags. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 1024;
const MAX_PAIRS = 1024;

/** Throws {@link NotWellFormed} with the reference server's message. */
export function requireWellFormed(bytes: Uint8Array): void {
  if (bytes.length === 0) throw new NotWellFormed('EOF');
  const checker = new Checker(new HeadReader(bytes));
  const end = checker.checkItem(0);
  if (end === bytes.length) return;
  throw new NotWellFormed(`cbor: ${bytes.length - end} bytes of extraneous data starting at index ${end}`);
}

class Checker {
  constructor(private readonly reader: HeadReader) {}

  /** Checks one data item at nesting level `depth`; returns the position after it. */
  checkItem(depth: number): number {
    const { type, info, argument } = this.reader.head();
    switch (type) {
      case BYTES:
      case TEXT:
        if (info === INDEFINITE) this.#checkChunks(type);
        else this.#passString(type, argument);
        break;
      case ARRAY:
      case MAP:
        requireDepth(depth + 1);
        if (info === INDEFINITE) this.#checkUntilBreak(type, depth + 1);
        else this.#checkCounted(type, argument, depth + 1);
        break;
      case TAG:
        this.#checkTagged(argument, depth);
    }
    return this.reader.at;
  }

  #passString(type: MajorType, length: number): void {
    if (length >= 2 ** 63) {
      const exact = this.reader.lastWide();
      throw new NotWellFormed(`cbor: ${TYPE_NAMES[type]} length ${exact} is too large, causing integer overflow`);
    }
    if (this.reader.bytes.length - this.reader.at < length) throw new NotWellFormed(UNEXPECTED_END);
    this.reader.at += length;
  }

  /** A string of indefinite length: chunks of the same type and of definite length. */
  #checkChunks(type: MajorType): void {
    while (!this.#takeBreak()) {
      const found = this.reader.nextType();
      if (found !== type) {
        throw new NotWellFormed(
          `cbor: wrong element type ${TYPE_NAMES[found]} for indefinite-length ${TYPE_NAMES[type]}`,
        );
      }
      if (((this.reader.bytes[this.reader.at] ?? 0) & 31) === INDEFINITE) {
        throw new NotWellFormed(`cbor: indefinite-length ${TYPE_NAMES[type]} chunk is not definite-length`);
      }
      this.#passString(type, this.reader.head().argument);
    }
  }

  #checkCounted(type: typeof ARRAY | typeof MAP, length: number, depth: number): void {
    if (length >= 2 ** 63) {
      const exact = this.reader.lastWide();
      throw new NotWellFormed(
        `cbor: ${TYPE_NAMES[type]} length ${exact} is too large, it would cause integer overflow`,
      );
    }
    requireSize(type, length);
    for (let left = type === MAP ? length * 2 : length; left > 0; left--) this.checkItem(depth);
  }

  #checkUntilBreak(type: typeof ARRAY | typeof MAP, depth: number): void {
    let items = 0;
    while (!this.#takeBreak()) {
      this.checkItem(depth);
      items++;
      if (type === ARRAY || items % 2 === 0) requireSize(type, type === ARRAY ? items : items / 2);
    }
    if (type === MAP && items % 2 === 1) throw new NotWellFormed('cbor: unexpected "break" code');
  }

  /** Nested tags count as levels; the outermost tag does not. */
  #checkTagged(outermost: number, outerDepth: number): void {
    let tag = outermost;
    let depth = outerDepth;
    for (;;) {
      if (this.reader.at === this.reader.bytes.length) throw new NotWellFormed(UNEXPECTED_END);
      if (tag === 2 || tag === 3) throw new NotWellFormed(unacceptable(TAG, 'bignum'));
      if (this.reader.nextType() !== TAG) break;
      tag = this.reader.head().argument;
      requireDepth(++depth);
    }
    this.checkItem(depth);
  }

  #takeBreak(): boolean {
    if (this.reader.at === this.reader.bytes.length) throw new NotWellFormed(UNEXPECTED_END);
    return this.reader.takeBreak();
  }
}

function requireDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new NotWellFormed(`cbor: exceeded max nested level ${MAX_DEPTH}`);
}

function requireSize(type: typeof ARRAY | typeof MAP, size: number): void {
  if (type === ARRAY && size > MAX_ELEMENTS) {
    throw new NotWellFormed(`cbor: exceeded max number of elements ${MAX_ELEMENTS} for CBOR array`);
  }
  if (type === MAP && size > MAX_PAIRS) {
    throw new NotWellFormed(`cbor: exceeded max number of key-value pairs ${MAX_PAIRS} for CBOR map`);
  }
}
