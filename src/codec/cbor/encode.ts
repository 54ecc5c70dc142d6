/**
 * Encodes JSON as CBOR like the reference server: text and keys as byte strings, numbers in their smallest form, maps in
 * key order. Binary fields stay base64 text, which the reference server's decoder accepts.
 *
 * A layer on cbor-x writes the same bytes, but is larger than this codec: see docs/decisions/0013-own-cbor.md.
 */
import { jsonView } from '../../util/json.js';
import { encodeEach, isFrozenObject } from '../codec.js';
import { ARRAY, BYTES, MAP, type MajorType, NEGATIVE, POSITIVE } from './head.js';

/** The self-described CBOR tag, the prefix of each document. */
const SELF_DESCRIBED = Uint8Array.of(0xd9, 0xd9, 0xf7);

/** The encodings of frozen objects, without the prefix. */
const encodings = new WeakMap<object, Uint8Array>();

/** Encodes a document. The encodings of the document and its items are cached if they are frozen. */
export function encodeDocument(document: object): Uint8Array {
  const writer = new Writer();
  writer.raw(SELF_DESCRIBED);
  writer.document(document);
  return writer.written();
}

/** Encodes the items of a list in steps; the document then consists of cached encodings. */
export function* encodeSteps(document: object): Generator<undefined, Uint8Array> {
  const items: unknown = 'items' in document ? document.items : undefined;
  const frozen = Array.isArray(items) ? items.filter(isFrozenObject) : [];
  yield* encodeEach(frozen, (item) => encodeKept(item).length);
  return encodeDocument(document);
}

/** Encodes a watch event; its object is a document with its own prefix. */
export function encodeEvent({ type, object }: { readonly type: string; readonly object: object }): Uint8Array {
  const writer = new Writer();
  writer.raw(SELF_DESCRIBED);
  writer.head(MAP, 2);
  writer.text('type');
  writer.text(type);
  writer.text('object');
  writer.raw(SELF_DESCRIBED);
  writer.document(object);
  return writer.written();
}

/** Encodes a value without the prefix; cached if it is frozen (by convention it is then deeply frozen). */
function encodeKept(value: object): Uint8Array {
  const known = encodings.get(value);
  if (known !== undefined) return known;
  const writer = new Writer();
  writer.value(value);
  const bytes = writer.written();
  if (Object.isFrozen(value)) encodings.set(value, bytes);
  return bytes;
}

const FIRST_CAPACITY = 1024;
/** For texts up to this length a loop is faster than TextEncoder. */
const SHORT_TEXT = 48;
const encoder = new TextEncoder();

/** A growing buffer. */
class Writer {
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** A copy of the written bytes, without spare capacity. */
  written(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  document(document: object): void {
    const items: unknown = 'items' in document ? document.items : undefined;
    if (!Array.isArray(items)) {
      this.raw(encodeKept(document));
      return;
    }
    this.#map(document, (key, value) => {
      if (key === 'items') this.#items(items);
      else this.value(value);
    });
  }

  #items(items: readonly unknown[]): void {
    this.head(ARRAY, items.length);
    for (const item of items) {
      if (typeof item === 'object' && item !== null) this.raw(encodeKept(item));
      else this.value(item);
    }
  }

  value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.text(value);
        break;
      case 'number':
        this.#number(value);
        break;
      case 'bigint':
        this.#integer(value);
        break;
      case 'boolean':
        this.#byte(value ? TRUE : FALSE);
        break;
      case 'object':
        this.#object(jsonView(value));
        break;
      default:
        // Values that JSON cannot represent are null in an array; in a map they are omitted.
        this.#byte(NULL);
    }
  }

  #object(value: unknown): void {
    if (value === null) this.#byte(NULL);
    else if (typeof value !== 'object') this.value(value);
    else if (Array.isArray(value)) {
      this.head(ARRAY, value.length);
      for (const item of value) this.value(item);
    } else this.#map(value, (_key, item) => this.value(item));
  }

  #map(map: object, write: (key: string, value: unknown) => void): void {
    const entries = Object.entries(map).filter(([, value]) => value !== undefined);
    this.head(MAP, entries.length);
    for (const [key, value] of entries) {
      this.text(key);
      write(key, value);
    }
  }

  text(text: string): void {
    if (text.length <= SHORT_TEXT && this.#shortText(text)) return;
    const bytes = encoder.encode(text);
    this.head(BYTES, bytes.length);
    this.raw(bytes);
  }

  /** Writes ASCII text; returns false and writes nothing for other text. */
  #shortText(text: string): boolean {
    const before = this.#length;
    this.head(BYTES, text.length);
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.#length = before;
        return false;
      }
      this.#bytes[this.#length++] = code;
    }
    return true;
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) this.head(value < 0 ? NEGATIVE : POSITIVE, value < 0 ? -1 - value : value);
    // The same integer as in JSON, where the digits beyond the precision of a number are zeros.
    else if (Number.isInteger(value) && Math.abs(value) < 1e21) this.#integer(BigInt(String(value)));
    else this.#float(value);
  }

  /** Integers have 64 bits like in the reference server; larger ones become floats. */
  #integer(value: bigint): void {
    const argument = value < 0n ? -1n - value : value;
    const type = value < 0n ? NEGATIVE : POSITIVE;
    if (argument >= INT64_END) this.#float(Number(value));
    else if (argument <= 0xffff_ffffn) this.head(type, Number(argument));
    else {
      this.#reserve(9);
      this.#view.setUint8(this.#length, (type << 5) | 27);
      this.#view.setBigUint64(this.#length + 1, argument);
      this.#length += 9;
    }
  }

  /** Uses the smallest of the three sizes that preserves the value. */
  #float(value: number): void {
    const half = toHalf(value);
    this.#reserve(9);
    if (half !== undefined) {
      this.#view.setUint8(this.#length, 0xf9);
      this.#view.setUint16(this.#length + 1, half);
      this.#length += 3;
    } else if (Math.fround(value) === value) {
      this.#view.setUint8(this.#length, 0xfa);
      this.#view.setFloat32(this.#length + 1, value);
      this.#length += 5;
    } else {
      this.#view.setUint8(this.#length, 0xfb);
      this.#view.setFloat64(this.#length + 1, value);
      this.#length += 9;
    }
  }

  /** A type and its argument, which is a safe integer, in the smallest form. */
  head(type: MajorType, argument: number): void {
    this.#reserve(9);
    const first = type << 5;
    if (argument < 24) {
      this.#view.setUint8(this.#length, first | argument);
      this.#length += 1;
    } else if (argument < 2 ** 8) {
      this.#view.setUint8(this.#length, first | 24);
      this.#view.setUint8(this.#length + 1, argument);
      this.#length += 2;
    } else if (argument < 2 ** 16) {
      this.#view.setUint8(this.#length, first | 25);
      this.#view.setUint16(this.#length + 1, argument);
      this.#length += 3;
    } else if (argument < 2 ** 32) {
      this.#view.setUint8(this.#length, first | 26);
      this.#view.setUint32(this.#length + 1, argument);
      this.#length += 5;
    } else {
      this.#view.setUint8(this.#length, first | 27);
      this.#view.setUint32(this.#length + 1, Math.floor(argument / 2 ** 32));
      this.#view.setUint32(this.#length + 5, argument % 2 ** 32);
      this.#length += 9;
    }
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const INT64_END = 2n ** 63n;

/** The bits of the 16-bit float with exactly this value; undefined if there is none. */
function toHalf(value: number): number | undefined {
  const size = Math.abs(value);
  // Subnormal values are multiples of 2^-24.
  if (size > 65504) return undefined;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  const fraction = size / 2 ** (exponent - 10);
  if (!Number.isInteger(fraction)) return undefined;
  const sign = value < 0 ? 0x8000 : 0;
  return sign | (size < 2 ** -14 ? fraction : ((exponent + 15) << 10) | (fraction - 1024));
}
