/**
 * Writes the protobuf messages of OpenAPI documents. Scalar fields are listed by number, other fields are written by
 * functions.
 */
import { encodeSorted } from '../../util/json.js';

export type JsonObject = Readonly<Record<string, unknown>>;
export type WriteMessage = (out: MessageWriter, value: JsonObject) => void;

/** The scalar fields of a message in order of number. */
type ScalarFields = readonly (readonly [name: string, number: number, type: ScalarType])[];
type ScalarType = 'text' | 'texts' | 'flag' | 'double' | 'integer';

/** Parses `NAME=NUMBER:TYPE …`; the default type is text. */
export function scalarFields(notation: string): ScalarFields {
  return notation.split(' ').map((field) => {
    const [name = '', number = '', type = 'text'] = field.split(/[=:]/);
    return [name, Number(number), type as ScalarType];
  });
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const utf8 = new TextEncoder();

/**
 * Writes messages into one buffer, fields in call order; absent values are omitted. A nested message is written after one
 * byte reserved for its length, and is moved when the length needs more bytes.
 */
export class MessageWriter {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  fields(fields: ScalarFields, value: JsonObject): void {
    for (const [name, number, type] of fields) this[type](number, value[name]);
  }

  text(number: number, value: unknown): void {
    if (typeof value === 'string' && value !== '') this.#text(number, value);
  }

  texts(number: number, values: unknown): void {
    for (const value of listOf(values)) this.#text(number, String(value));
  }

  flag(number: number, value: unknown): void {
    if (value !== true) return;
    this.#varint(number * 8);
    this.#varint(1);
  }

  /** A 64-bit float. As for all numbers here, 0 is omitted. */
  double(number: number, value: unknown): void {
    if (value !== undefined && value !== 0) this.#double(number, Number(value));
  }

  integer(number: number, value: unknown): void {
    if (value === undefined || value === 0) return;
    this.#varint(number * 8);
    this.#reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value as number | bigint));
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 127n) | 128;
    this.#bytes[this.#length++] = Number(rest);
  }

  /** A scalar of a oneof: text, a flag or a 64-bit float. Zero values are written too. */
  choice(number: number, value: unknown): void {
    if (typeof value === 'string') this.#text(number, value);
    else if (typeof value === 'boolean') {
      this.#varint(number * 8);
      this.#varint(value ? 1 : 0);
    } else this.#double(number, Number(value));
  }

  /** Any value, as YAML text; JSON is valid YAML. */
  value(number: number, value: unknown): void {
    this.#delimited(number, () => this.text(2, `${encodeSorted(value)}\n`));
  }

  message(number: number, value: unknown, write: WriteMessage): void {
    if (value !== undefined) this.#delimited(number, () => write(this, value as JsonObject));
  }

  /** A map: one message with name and value for each key. */
  entries(number: number, values: unknown, write: WriteMessage): void {
    for (const [name, value] of Object.entries(values as JsonObject)) this.#entry(number, name, value, write);
  }

  /** A message that is a map in its field `inner`, with a pause after each entry. */
  *map(number: number, inner: number, values: unknown, write: WriteMessage): Generator<undefined, void> {
    if (values === undefined) return;
    const start = this.#begin(number);
    for (const [name, value] of Object.entries(values as JsonObject)) {
      this.#entry(inner, name, value, write);
      yield;
    }
    this.#end(start);
  }

  /** The `x-` extensions. */
  extensions(number: number, value: JsonObject): void {
    for (const [name, extension] of Object.entries(value)) {
      if (!name.startsWith('x-')) continue;
      this.#delimited(number, () => {
        this.text(1, name);
        this.value(2, extension);
      });
    }
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #double(number: number, value: number): void {
    this.#varint(number * 8 + 1);
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  #text(number: number, value: string): void {
    this.#delimited(number, () => {
      // A UTF-16 code unit needs at most three bytes.
      this.#reserve(value.length * 3);
      this.#length += utf8.encodeInto(value, this.#bytes.subarray(this.#length)).written;
    });
  }

  #entry(number: number, name: string, value: unknown, write: WriteMessage): void {
    this.#delimited(number, () => {
      this.text(1, name);
      this.message(2, value, write);
    });
  }

  #delimited(number: number, write: () => void): void {
    const start = this.#begin(number);
    write();
    this.#end(start);
  }

  #begin(number: number): number {
    this.#varint(number * 8 + 2);
    const start = this.#length;
    this.#reserve(1);
    this.#length = start + 1;
    return start;
  }

  #end(start: number): void {
    const end = this.#length;
    const size = end - start - 1;
    const more = varintLength(size) - 1;
    if (more > 0) {
      this.#reserve(more);
      this.#bytes.copyWithin(start + 1 + more, start + 1, end);
    }
    this.#length = start;
    this.#varint(size);
    this.#length = end + more;
  }

  #varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#length++] = (rest & 127) | 128;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 127; rest >>>= 7) length += 1;
  return length;
}
