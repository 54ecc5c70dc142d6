/**
 * Encodes the version 2 document as the protobuf message that kubectl requests. Scalar fields are listed
 * by number, other fields are written by functions. Fields that `openApiV2` never sets are not implemented.
 */
import { encodeSorted } from '../../util/json.js';
import type { OpenApiDocument } from './document.js';

/** Encodes a document that `openApiV2` built. */
export function openApiV2Protobuf(document: OpenApiDocument): Uint8Array {
  const out = new MessageWriter();
  const { info, paths, definitions, parameters, security, securityDefinitions } = document as JsonObject;
  out.text(1, document['swagger']);
  out.message(2, info, (inner, value) => inner.fields(INFO, value));
  out.message(8, paths, (inner, value) => inner.entries(2, value, pathItem));
  out.message(9, definitions, (inner, value) => inner.entries(1, value, schema));
  out.message(10, parameters, (inner, value) => inner.entries(1, value, parameter));
  for (const requirement of listOf(security)) {
    out.message(12, requirement, (inner, value) =>
      inner.entries(1, value, (one, scopes: unknown) => one.texts(1, scopes)),
    );
  }
  out.message(13, securityDefinitions, (inner, value) => inner.entries(1, value, securityDefinition));
  return out.finish();
}

type JsonObject = Readonly<Record<string, unknown>>;
type WriteMessage = (out: MessageWriter, value: JsonObject) => void;

/** The scalar fields of a message in order of number. */
type ScalarFields = readonly (readonly [name: string, number: number, type: ScalarType])[];
type ScalarType = 'text' | 'texts' | 'flag' | 'double' | 'integer';

/** Parses `NAME=NUMBER:TYPE …`; the default type is text. */
function scalarFields(notation: string): ScalarFields {
  return notation.split(' ').map((field) => {
    const [name = '', number = '', type = 'text'] = field.split(/[=:]/);
    return [name, Number(number), type as ScalarType];
  });
}

const INFO = scalarFields('title=1 version=2');
const OPERATION = scalarFields('tags=1:texts description=3 operationId=5 produces=6:texts consumes=7:texts');
const BODY_PARAMETER = scalarFields('name=2 in=3 required=4:flag');
const QUERY_PARAMETER = scalarFields('in=2 description=3 name=4 type=6 uniqueItems=20:flag');
const PATH_PARAMETER = scalarFields('required=1:flag in=2 description=3 name=4 type=5 uniqueItems=19:flag');
const SCHEMA = scalarFields(
  '$ref=1 format=2 title=3 description=4 multipleOf=6:double maximum=7:double exclusiveMaximum=8:flag ' +
    'minimum=9:double exclusiveMinimum=10:flag maxLength=11:integer minLength=12:integer pattern=13 maxItems=14:integer ' +
    'minItems=15:integer uniqueItems=16:flag maxProperties=17:integer minProperties=18:integer required=19:texts',
);
const SECURITY = scalarFields('type=1 name=2 in=3 description=4');

const METHODS = { get: 2, put: 3, post: 4, delete: 5, patch: 8 } as const;

function pathItem(out: MessageWriter, value: JsonObject): void {
  for (const [method, number] of Object.entries(METHODS)) out.message(number, value[method], operation);
  for (const item of listOf(value['parameters'])) out.message(9, item, parameterOrReference);
}

function operation(out: MessageWriter, value: JsonObject): void {
  out.fields(OPERATION, value);
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
  else {
    const [number, fields] = value['in'] === 'query' ? [3, QUERY_PARAMETER] : [4, PATH_PARAMETER];
    out.message(2, value, (inner) => inner.message(number, value, (held) => held.fields(fields, value)));
  }
}

function bodyParameter(out: MessageWriter, value: JsonObject): void {
  out.fields(BODY_PARAMETER, value);
  out.message(5, value['schema'], schema);
}

function responseOrReference(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner, { description, schema: held }) => {
    inner.text(1, description);
    inner.message(2, held, (item) => item.message(1, held, schema));
  });
}

function schema(out: MessageWriter, value: JsonObject): void {
  const { type, items, properties, additionalProperties } = value;
  out.fields(SCHEMA, value);
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
  out.message(2, value, (inner) => inner.fields(SECURITY, value));
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
