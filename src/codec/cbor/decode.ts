/**
 * Decodes a well-formed document to JSON, or returns its error. Byte strings are text; tags 21 to 23 convert the byte
 * strings inside them to base64url, base64 or base16; other tags are ignored.
 *
 * Errors are values, because decoding continues after an error: an array or map reports its first error, but a duplicate
 * key replaces earlier errors of its map.
 *
 * cbor-x is not suitable: its values do not tell `1.0` from `1` or contain duplicate keys, and it accepts invalid UTF-8. See
 * docs/decisions/0013-own-cbor.md.
 */

import { encodeBase64 } from '../../util/base64.js';
import { decodeStrictUtf8, decodeUtf8, toHex } from '../../util/bytes.js';
import type { MutableRecord } from '../../util/json.js';
import { NumberText, setOwn } from '../../util/json.js';
import { trimRight } from '../../util/trim.js';
import {
  ARRAY,
  BYTES,
  CborFault,
  type Head,
  HeadReader,
  INDEFINITE,
  MAP,
  type MajorType,
  NEGATIVE,
  POSITIVE,
  PRIMITIVE,
  TAG,
  TEXT,
  TYPE_NAMES,
  TypeFault,
  unacceptable,
} from './head.js';
import { timeFromSeconds, timeFromText } from './time.js';

/** Decodes a well-formed document to a map, or to null. */
export function decodeMap(bytes: Uint8Array): MutableRecord | null | CborFault {
  return new Decoder(bytes).into(MAP_TARGET) ?? null;
}

/** The accepted types of a value, with the Go type name for messages. Undefined results mean null. */
interface Target<Value> {
  readonly goType: string;
  readonly text?: (text: string) => Value;
  readonly map?: (decoder: Decoder) => Value | CborFault;
  /** The addition to the message if the value is an array. */
  readonly noArray?: string;
}

const TEXT_TARGET: Target<string> = { goType: 'string', text: (text) => text };
const MAP_TARGET: Target<MutableRecord> = { goType: 'map[string]interface {}', map: (decoder) => decoder.map() };

const SELF_DESCRIBED = 55799;
const LATER_BASE64URL = 21;
const LATER_BASE64 = 22;
const LATER_BASE16 = 23;

/** 2^63, the exclusive limit of integers. */
const INT64_END = 2n ** 63n;

/** Decodes consecutive data items. */
export class Decoder {
  readonly #reader: HeadReader;
  /** The enclosing tags 21 to 23; the innermost applies. */
  readonly #laterEncodings: number[] = [];

  constructor(bytes: Uint8Array) {
    this.#reader = new HeadReader(bytes);
  }

  /** Decodes the next item for a target that accepts only some types. */
  into<Value>(target: Target<Value>): Value | undefined | CborFault {
    this.#skipSelfDescription();
    const misplaced = this.#misplacedTag();
    if (misplaced !== undefined) return misplaced;
    const type = this.#reader.nextType();
    if (type === MAP && target.map !== undefined) return target.map(this);
    if (type === BYTES || type === TEXT) {
      const text = type === BYTES ? this.#byteString(target.text !== undefined) : this.#textString();
      if (text instanceof CborFault || target.text === undefined) return asFault(text) ?? misfit(type, target);
      return target.text(text);
    }
    if (type === ARRAY || type === MAP) {
      this.#reader.skip();
      return new TypeFault(type, target.goType, type === ARRAY ? target.noArray : undefined);
    }
    const head = this.#reader.head();
    if (type === TAG) return this.#within(head.argument, () => this.into(target));
    if (type === PRIMITIVE) return isNull(head) ? undefined : (rejectedSimple(head) ?? misfit(type, target));
    const integer = type === NEGATIVE ? this.#integer(head) : 0;
    return new TypeFault(type, target.goType, integer instanceof Overflow ? integer.note : undefined);
  }

  /** The next item as text; undefined for null. */
  text(): string | undefined | CborFault {
    return this.into(TEXT_TARGET);
  }

  /** A map whose keys are text. */
  map(): MutableRecord | CborFault {
    const map: MutableRecord = {};
    let fault: CborFault | undefined;
    let key = '';
    const entries = this.entries();
    for (let index = 0; entries.hasNext(); index++) {
      const nextKey = this.text();
      if (nextKey instanceof CborFault) {
        fault ??= nextKey;
        this.#reader.skip();
        continue;
      }
      // For a null key the reference server reuses the previous key, which is then a duplicate.
      key = nextKey ?? key;
      const value = this.value();
      if (value instanceof CborFault) fault ??= value;
      else if (Object.hasOwn(map, key)) return this.repeatedKey(key, { index, entries });
      else setOwn(map, key, value);
    }
    return fault ?? map;
  }

  /** The error of a duplicate key; skips the rest of the map. */
  repeatedKey(key: string, { index, entries }: { readonly index: number; readonly entries: Entries }): CborFault {
    while (entries.hasNext()) {
      this.#reader.skip();
      this.#reader.skip();
    }
    return new CborFault(`cbor: found duplicate map key "${key}" at map element index ${index}`);
  }

  /** Starts reading an array or map. */
  entries(): Entries {
    const { info, argument } = this.#reader.head();
    let left = argument;
    return { hasNext: info === INDEFINITE ? () => !this.#reader.takeBreak() : () => left-- > 0 };
  }

  nextType(): MajorType {
    return this.#reader.nextType();
  }

  /** The next string as a field name; tags do not affect it. */
  fieldName(): string | CborFault {
    return this.#reader.nextType() === TEXT ? this.#textString() : decodeUtf8(this.#bytes());
  }

  /** The next integer as a field number, truncated to 64 bits; an error if a negative integer overflows. */
  fieldNumber(): bigint | CborFault {
    const { type, info, argument } = this.#reader.head();
    const exact = info === 27 ? this.#reader.lastWide() : BigInt(argument);
    if (type === POSITIVE) return BigInt.asIntN(64, exact);
    if (exact < INT64_END) return -1n - exact;
    return new TypeFault(type, 'int64', ` (-1-${exact} overflows Go's int64)`);
  }

  skip(): void {
    this.#reader.skip();
  }

  /** Decodes the next item of any type. */
  value(): unknown {
    this.#skipSelfDescription();
    const misplaced = this.#misplacedTag();
    if (misplaced !== undefined) return misplaced;
    switch (this.#reader.nextType()) {
      case BYTES:
        return this.#byteString(true);
      case TEXT:
        return this.#textString();
      case ARRAY:
        return this.#array();
      case MAP:
        return this.map();
      case TAG:
        return this.#tagged();
      case PRIMITIVE:
        return this.#primitive(this.#reader.head());
      default:
        return this.#plainInteger(this.#reader.head());
    }
  }

  #array(): unknown {
    const array: unknown[] = [];
    let fault: CborFault | undefined;
    const entries = this.entries();
    while (entries.hasNext()) {
      const value = this.value();
      if (value instanceof CborFault) fault ??= value;
      else array.push(value);
    }
    return fault ?? array;
  }

  #tagged(): unknown {
    const { argument: tag } = this.#reader.head();
    if (tag === 0) {
      const text = this.#textString();
      return text instanceof CborFault ? text : timeFromText(text);
    }
    if (tag === 1) return this.#epochTime();
    return this.#within(tag, () => this.value());
  }

  #epochTime(): unknown {
    const head = this.#reader.head();
    if (head.type === PRIMITIVE) return timeFromSeconds(this.#reader.lastFloat(1 << (head.info - 24)));
    const integer = this.#integer(head);
    return integer instanceof Overflow ? integer.fault('time.Time') : timeFromSeconds(Number(integer));
  }

  #plainInteger(head: Head): unknown {
    const integer = this.#integer(head);
    return integer instanceof Overflow ? integer.fault('int64') : integer;
  }

  /** Exact as in JSON bodies: a bigint if it is not a safe integer. */
  #integer({ type, argument }: Head): number | bigint | Overflow {
    if (argument < Number.MAX_SAFE_INTEGER) return type === POSITIVE ? argument : -1 - argument;
    const exact = this.#reader.lastWide();
    const value = type === POSITIVE ? exact : -1n - exact;
    return exact >= INT64_END ? new Overflow(type, value) : safeInteger(value);
  }

  /** A simple value or float. A float with an integral value stays a float, which the reference server distinguishes. */
  #primitive(head: Head): unknown {
    if (isNull(head)) return null;
    if (head.info <= 24) return rejectedSimple(head) ?? head.argument === 21;
    const value = this.#reader.lastFloat(1 << (head.info - 24));
    if (!Number.isInteger(value)) return value;
    const text = Object.is(value, -0) ? '-0' : String(value);
    return new NumberText(/e/.test(text) ? text : `${text}.0`);
  }

  #within<Value>(tag: number, read: () => Value): Value {
    if (tag < LATER_BASE64URL || tag > LATER_BASE16) return read();
    this.#laterEncodings.push(tag);
    const value = read();
    this.#laterEncodings.pop();
    return value;
  }

  #byteString(asText: boolean): string {
    const bytes = this.#bytes();
    const encoding = asText ? this.#laterEncodings.at(-1) : undefined;
    switch (encoding) {
      case LATER_BASE64URL:
        return trimRight(encodeBase64(bytes), '=').replaceAll('+', '-').replaceAll('/', '_');
      case LATER_BASE64:
        return encodeBase64(bytes);
      case LATER_BASE16:
        return toHex(bytes);
      default:
        return decodeUtf8(bytes);
    }
  }

  #bytes(): Uint8Array {
    const { info, argument } = this.#reader.head();
    return info === INDEFINITE ? this.#pieces().bytes : this.#reader.take(argument);
  }

  /** Concatenates the chunks of a string without an allocation for each: there may be millions. */
  #pieces(): { readonly bytes: Uint8Array; readonly areWhole: boolean } {
    const { bytes: source, at: start } = this.#reader;
    let length = 0;
    // Whether no chunk starts inside a character.
    let areWhole = true;
    while (!this.#reader.takeBreak()) {
      const { argument } = this.#reader.head();
      if (argument > 0 && ((source[this.#reader.at] ?? 0) & 0xc0) === 0x80) areWhole = false;
      length += argument;
      this.#reader.at += argument;
    }
    const bytes = new Uint8Array(length);
    this.#reader.at = start;
    for (let to = 0; !this.#reader.takeBreak(); ) {
      const end = this.#reader.head().argument + this.#reader.at;
      while (this.#reader.at < end) bytes[to++] = source[this.#reader.at++] ?? 0;
    }
    return { bytes, areWhole };
  }

  /** Each chunk must be valid UTF-8. */
  #textString(): string | CborFault {
    const { info, argument } = this.#reader.head();
    const { bytes, areWhole } =
      info === INDEFINITE ? this.#pieces() : { bytes: this.#reader.take(argument), areWhole: true };
    const text = areWhole ? decodeStrictUtf8(bytes) : undefined;
    return text ?? new CborFault('cbor: invalid UTF-8 string');
  }

  #skipSelfDescription(): void {
    while (this.#reader.nextType() === TAG) {
      const { at } = this.#reader;
      if (this.#reader.head().argument === SELF_DESCRIBED) continue;
      this.#reader.at = at;
      return;
    }
  }

  /** The error of a tag with content of the wrong type, which is skipped; undefined, without reading, if there is none. */
  #misplacedTag(): CborFault | undefined {
    const { at } = this.#reader;
    while (this.#reader.nextType() === TAG) {
      const { argument: tag } = this.#reader.head();
      const found = this.#reader.nextType();
      const expected = tag === 0 && found !== TEXT ? 'text string' : tag === 1 ? this.#notANumber() : undefined;
      if (expected === undefined) continue;
      this.#reader.skip();
      return new CborFault(`cbor: tag number ${tag} must be followed by ${expected}, got ${TYPE_NAMES[found]}`);
    }
    this.#reader.at = at;
    return undefined;
  }

  #notANumber(): string | undefined {
    const first = this.#reader.bytes[this.#reader.at] ?? 0;
    const isNumber = this.#reader.nextType() <= NEGATIVE || (first >= 0xf9 && first <= 0xfb);
    return isNumber ? undefined : 'integer or floating-point number';
  }
}

/** The entries of an array or map that is being read. */
export interface Entries {
  /** Whether another entry follows. Must be called once for each entry. */
  hasNext(): boolean;
}

/** An integer beyond 64 bits. */
class Overflow {
  constructor(
    private readonly type: MajorType,
    private readonly value: bigint,
  ) {}

  get note(): string {
    return ` (${this.value} overflows Go's int64)`;
  }

  fault(goType: string): CborFault {
    return new TypeFault(this.type, goType, this.note);
  }
}

function safeInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function isNull({ info }: Head): boolean {
  return info === 22;
}

/** Simple values other than false, true and null are rejected. */
function rejectedSimple({ info, argument }: Head): CborFault | undefined {
  if (info > 24 || argument === 20 || argument === 21) return undefined;
  return new CborFault(unacceptable(PRIMITIVE, `simple value ${argument} is not recognized`));
}

function asFault(value: unknown): CborFault | undefined {
  return value instanceof CborFault ? value : undefined;
}

function misfit(type: MajorType, target: { readonly goType: string }): CborFault {
  return new TypeFault(type, target.goType);
}
