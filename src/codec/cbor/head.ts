/**
 * Reads the heads of CBOR data items: a type of three bits, and an argument in the other five bits or in the next 1, 2, 4
 * or 8 bytes. Bounds are always checked, so that `well-formed.ts` can read untrusted bytes. Also the error types, which
 * have the reference server's messages.
 */

/**
 * An error of a CBOR document with the reference server's message. It is a value, not an exception, because a later error
 * may replace it: see `decode.ts`.
 */
export class CborFault {
  constructor(readonly message: string) {}
}

/** A data item of the wrong type. */
export class TypeFault extends CborFault {
  constructor(
    private readonly found: MajorType,
    private readonly wanted: string,
    private readonly note = '',
  ) {
    super(`cbor: cannot unmarshal ${TYPE_NAMES[found]} into Go value of type ${wanted}${note}`);
  }

  /** The same error in a field of a struct. */
  inField(field: string): CborFault {
    return new CborFault(
      `cbor: cannot unmarshal ${TYPE_NAMES[this.found]} into Go struct field ${field} of type ${this.wanted}${this.note}`,
    );
  }
}

/** Thrown for bytes that are not well-formed CBOR or contain items that are never allowed. */
export class NotWellFormed extends Error {
  override readonly name = 'NotWellFormed';
}

export const POSITIVE = 0;

export const NEGATIVE = 1;

export const BYTES = 2;

export const TEXT = 3;

export const ARRAY = 4;

export const MAP = 5;

export const TAG = 6;

export const PRIMITIVE = 7;

export const TYPE_NAMES = {
  [POSITIVE]: 'positive integer',
  [NEGATIVE]: 'negative integer',
  [BYTES]: 'byte string',
  [TEXT]: 'UTF-8 text string',
  [ARRAY]: 'array',
  [MAP]: 'map',
  [TAG]: 'tag',
  [PRIMITIVE]: 'primitives',
} as const satisfies Record<MajorType, string>;

/** The head of a data item; the caller reads the content. */
export interface Head {
  readonly type: MajorType;
  /** The lower five bits of the first byte. */
  readonly info: number;
  /** A length, a tag or an integer; rounded where it needs more than 53 bits. */
  readonly argument: number;
}

export const INDEFINITE = 31;
const BREAK = 0xff;

/** A position in the bytes. */
export class HeadReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Throws {@link NotWellFormed}, also for NaN and infinity, which JSON cannot represent. */
  head(): Head {
    const first = this.bytes[this.at];
    if (first === undefined) throw new NotWellFormed(UNEXPECTED_END);
    const type = (first >> 5) as MajorType;
    const info = first & 31;
    this.at++;
    if (info < 24) return { type, info, argument: info };
    if (info > 27) return this.#withoutArgument(type, info);
    const size = 1 << (info - 24);
    if (this.bytes.length - this.at < size) throw new NotWellFormed(UNEXPECTED_END);
    this.at += size;
    const argument = this.#argument(size);
    if (type === PRIMITIVE) this.#checkPrimitive(size, argument);
    return { type, info, argument };
  }

  #withoutArgument(type: MajorType, info: number): Head {
    if (info === INDEFINITE && (type === BYTES || type === TEXT || type === ARRAY || type === MAP)) {
      return { type, info, argument: 0 };
    }
    if (info === INDEFINITE && type === PRIMITIVE) throw new NotWellFormed('cbor: unexpected "break" code');
    throw new NotWellFormed(`cbor: invalid additional information ${info} for type ${TYPE_NAMES[type]}`);
  }

  #checkPrimitive(size: number, argument: number): void {
    if (size === 1) {
      if (argument >= 32) return;
      throw new NotWellFormed(`cbor: invalid simple value ${argument} for type ${TYPE_NAMES[PRIMITIVE]}`);
    }
    const value = this.lastFloat(size);
    if (Number.isFinite(value)) return;
    const what = Number.isNaN(value) ? 'floating-point NaN' : 'floating-point infinity';
    throw new NotWellFormed(unacceptable(PRIMITIVE, what));
  }

  #argument(size: number): number {
    const from = this.at - size;
    if (size === 1) return this.#view.getUint8(from);
    if (size === 2) return this.#view.getUint16(from);
    if (size === 4) return this.#view.getUint32(from);
    return this.#view.getUint32(from) * 2 ** 32 + this.#view.getUint32(from + 4);
  }

  /** The exact value of the last argument; only if it has 8 bytes. */
  lastWide(): bigint {
    return this.#view.getBigUint64(this.at - 8);
  }

  /** The value of the last float. */
  lastFloat(size: number): number {
    if (size === 8) return this.#view.getFloat64(this.at - 8);
    if (size === 4) return this.#view.getFloat32(this.at - 4);
    return halfFloat(this.#view.getUint16(this.at - 2));
  }

  nextType(): MajorType {
    return ((this.bytes[this.at] ?? 0) >> 5) as MajorType;
  }

  /** Consumes the break code that ends an item of indefinite length, if it is next. */
  takeBreak(): boolean {
    if (this.bytes[this.at] !== BREAK) return false;
    this.at++;
    return true;
  }

  take(length: number): Uint8Array {
    const taken = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }

  /** Skips a data item, which must be well-formed. */
  skip(): void {
    const { type, info, argument } = this.head();
    if (type < BYTES || type === PRIMITIVE) return;
    if (type === TAG) {
      this.skip();
    } else if (info === INDEFINITE) {
      while (!this.takeBreak()) this.skip();
    } else if (type === BYTES || type === TEXT) {
      this.at += argument;
    } else {
      for (let left = type === MAP ? argument * 2 : argument; left > 0; left--) this.skip();
    }
  }
}

export const UNEXPECTED_END = 'unexpected EOF';

/** Decodes a 16-bit float: 1 bit sign, 5 bits exponent, 10 bits fraction. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The upper three bits of the first byte of a data item. */
export type MajorType = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

export function unacceptable(type: MajorType, what: string): string {
  return `cbor: data item of cbor type ${TYPE_NAMES[type]} is not accepted by protocol: ${what}`;
}
