/**
 * Encodes the version 2 document as the protobuf message that kubectl requests. One function for each message writes the
 * fields by number. Fields that `openApiV2` never sets are not implemented.
 */
import { encodeSorted } from '../../util/json.js';
import type { OpenApiDocument } from './document.js';

/** Encodes a document that `openApiV2` built. */
export function openApiV2Protobuf(document: OpenApiDocument): Uint8Array {
  const out = new MessageWriter();
  const { info, paths, definitions, parameters, security, securityDefinitions } = document as JsonObject;
  out.text(1, document['swagger']);
  out.message(2, info, (inner, { title, version }) => {
    inner.text(1, title);
    inner.text(2, version);
  });
  out.message(8, paths, (inner, value) => inner.entries(2, value, pathItem));
  out.message(9, definitions, (inner, value) => inner.entries(1, value, schema));
  out.message(10, parameters, (inner, value) => inner.entries(1, value, parameter));
  for (const requirement of listOf(security)) {
    out.message(12, requirement, (inner, value) => inner.entries(1, value, scopes));
  }
  out.message(13, securityDefinitions, (inner, value) => inner.entries(1, value, securityDefinition));
  return out.finish();
}

/** The scopes of a security requirement; the list is always empty. */
function scopes(out: MessageWriter, value: unknown): void {
  out.texts(1, value);
}

type JsonObject = Readonly<Record<string, unknown>>;
type WriteMessage = (out: MessageWriter, value: JsonObject) => void;

const METHODS = { get: 2, put: 3, post: 4, delete: 5, patch: 8 } as const;

function pathItem(out: MessageWriter, value: JsonObject): void {
  for (const [method, number] of Object.entries(METHODS)) out.message(number, value[method], operation);
  for (const item of listOf(value['parameters'])) out.message(9, item, parameterOrReference);
}

function operation(out: MessageWriter, value: JsonObject): void {
  out.texts(1, value['tags']);
  out.text(3, value['description']);
  out.text(5, value['operationId']);
  out.texts(6, value['produces']);
  out.texts(7, value['consumes']);
  for (const item of listOf(value['parameters'])) out.message(8, item, parameterOrReference);
  out.message(9, value['responses'], (inner, responses) => inner.entries(1, responses, responseOrReference));
  out.texts(10, value['schemes']);
  out.extensions(13, value);
}

function parameterOrReference(out: MessageWriter, value: JsonObject): void {
  if (value['$ref'] === undefined) out.message(1, value, parameter);
  else out.message(2, value, (inner) => inner.text(1, value['$ref']));
}

function parameter(out: MessageWriter, value: JsonObject): void {
  if (value['in'] === 'body') out.message(1, value, bodyParameter);
  else if (value['in'] === 'query') out.message(2, value, (inner) => inner.message(3, value, queryParameter));
  else out.message(2, value, (inner) => inner.message(4, value, pathParameter));
}

function bodyParameter(out: MessageWriter, value: JsonObject): void {
  out.text(2, value['name']);
  out.text(3, value['in']);
  out.flag(4, value['required']);
  out.message(5, value['schema'], schema);
}

function queryParameter(out: MessageWriter, value: JsonObject): void {
  out.text(2, value['in']);
  out.text(3, value['description']);
  out.text(4, value['name']);
  out.text(6, value['type']);
  out.flag(20, value['uniqueItems']);
}

function pathParameter(out: MessageWriter, value: JsonObject): void {
  out.flag(1, value['required']);
  out.text(2, value['in']);
  out.text(3, value['description']);
  out.text(4, value['name']);
  out.text(5, value['type']);
  out.flag(19, value['uniqueItems']);
}

function responseOrReference(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner, { description, schema: held }) => {
    inner.text(1, description);
    inner.message(2, held, (item) => item.message(1, held, schema));
  });
}

function schema(out: MessageWriter, value: JsonObject): void {
  const { type, items, properties, additionalProperties } = value;
  out.text(1, value['$ref']);
  out.text(2, value['format']);
  out.text(3, value['title']);
  out.text(4, value['description']);
  out.double(6, value['multipleOf']);
  out.double(7, value['maximum']);
  out.flag(8, value['exclusiveMaximum']);
  out.double(9, value['minimum']);
  out.flag(10, value['exclusiveMinimum']);
  out.integer(11, value['maxLength']);
  out.integer(12, value['minLength']);
  out.text(13, value['pattern']);
  out.integer(14, value['maxItems']);
  out.integer(15, value['minItems']);
  out.flag(16, value['uniqueItems']);
  out.integer(17, value['maxProperties']);
  out.integer(18, value['minProperties']);
  out.texts(19, value['required']);
  for (const one of listOf(value['enum'])) out.value(20, one);
  out.message(21, additionalProperties, (inner) => {
    if (typeof additionalProperties === 'boolean') inner.flag(2, additionalProperties);
    else inner.message(1, additionalProperties, schema);
  });
  if (type !== undefined) out.message(22, {}, (inner) => inner.text(1, type));
  out.message(23, items, (inner) => inner.message(1, items, schema));
  out.message(25, properties, (inner) => inner.entries(1, properties, schema));
  out.extensions(31, value);
}

function securityDefinition(out: MessageWriter, value: JsonObject): void {
  out.message(2, value, (inner, { type, name, in: place, description }) => {
    inner.text(1, type);
    inner.text(2, name);
    inner.text(3, place);
    inner.text(4, description);
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const utf8 = new TextEncoder();

/**
 * Writes messages into one buffer, fields in call order; absent values are omitted. A nested message is written after one
 * byte reserved for its length, and is moved when the length needs more bytes.
 */
class MessageWriter {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

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
    if (value === undefined || value === 0) return;
    this.#varint(number * 8 + 1);
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, Number(value), true);
    this.#length += 8;
  }

  integer(number: number, value: unknown): void {
    if (value === undefined || value === 0) return;
    this.#varint(number * 8);
    this.#reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value as number | bigint));
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 127n) | 128;
    this.#bytes[this.#length++] = Number(rest);
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
    for (const [name, value] of Object.entries(values as JsonObject)) {
      this.#delimited(number, () => {
        this.text(1, name);
        this.message(2, value, write);
      });
    }
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

  #text(number: number, value: string): void {
    this.#delimited(number, () => {
      // A UTF-16 code unit needs at most three bytes.
      this.#reserve(value.length * 3);
      this.#length += utf8.encodeInto(value, this.#bytes.subarray(this.#length)).written;
    });
  }

  #delimited(number: number, write: () => void): void {
    this.#varint(number * 8 + 2);
    const start = this.#length;
    this.#reserve(1);
    this.#length = start + 1;
    write();
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
