/**
 * Types whose JSON differs from their message, such as Time: a string in JSON, seconds and nanos on the wire. For each of
 * them: the message type and the conversion in both directions.
 */

import { BodyError } from '../../protocol/body.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { formatMicroTime, formatTime, ZERO_TIME } from '../../text/time/time.js';
import { NumberText } from '../../util/json.js';
import { encodeJson } from '../json-encoder.js';
import { decodeUtf8 } from './utf8.js';

type Fields = Readonly<Record<string, unknown>>;

export interface Shape {
  /** The fields of the message; null stands for the zero value. Undefined: a message without any. */
  toFields(value: unknown): Fields | undefined;
  /** The JSON value; null if it is absent. `empty`: the message has no bytes. May throw BodyError. */
  fromFields(fields: Fields, empty: boolean): unknown;
}

/** The message types that all groups share, in the notation of `notation.ts`. */
export const SHAPE_TYPES = `
Time seconds:int64 nanos:int32
MicroTime seconds:int64 nanos:int32
Quantity string
IntOrString type:int64 intVal:int32 strVal
RawExtension raw:raw
FieldsV1 raw:raw
JSON raw:raw
Verbs items[]
ExtraValue items[]
Unknown typeMeta:TypeMeta raw:raw contentEncoding contentType
TypeMeta apiVersion kind
`;

/** The conversion of a type; undefined if its message has the same fields as its JSON. */
export function shapeOf(type: string): Shape | undefined {
  return SHAPES.get(type);
}

const time: Shape = {
  toFields: (value) => timeFields(value, () => 0),
  fromFields: ({ seconds = 0 }, empty) => (empty ? null : timeText(seconds, () => formatTime(Number(seconds) * 1000))),
};

const microTime: Shape = {
  toFields: (value) => timeFields(value, microsIn),
  fromFields: ({ seconds = 0, nanos = 0 }, empty) => {
    const micros = Math.trunc(Number(nanos) / 1000);
    const millis = Math.floor(micros / 1000);
    return empty
      ? null
      : timeText(seconds, () => formatMicroTime(Number(seconds) * 1000 + millis, micros - millis * 1000));
  },
};

const quantity: Shape = {
  toFields: (value) => ({ string: value === null ? '0' : String(value) }),
  fromFields: ({ string: text }, empty) => (empty ? '0' : (text ?? '')),
};

const intOrString: Shape = {
  toFields: (value) => (typeof value === 'string' ? { type: 1, strVal: value } : { intVal: value }),
  fromFields: ({ type, intVal, strVal }) => (type === 1 ? (strVal ?? '') : (intVal ?? 0)),
};

const json: Shape = {
  toFields: (value) => (value === null ? undefined : { raw: new TextEncoder().encode(jsonText(value)) }),
  fromFields: ({ raw }) => (raw instanceof Uint8Array && raw.length > 0 ? parseRaw(raw) : null),
};

const strings: Shape = {
  toFields: (value) => ({ items: value }),
  fromFields: ({ items = [] }) => items,
};

const schemaOrBool: Shape = {
  toFields: (value) => (typeof value === 'object' ? { allows: true, schema: value } : { allows: value }),
  fromFields: ({ allows = false, schema = allows }) => schema,
};

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ['Time', time],
  ['MicroTime', microTime],
  ['Quantity', quantity],
  ['IntOrString', intOrString],
  ['RawExtension', json],
  ['FieldsV1', json],
  ['JSON', json],
  ['Verbs', strings],
  ['ExtraValue', strings],
  ['JSONSchemaPropsOrBool', schemaOrBool],
  ['JSONSchemaPropsOrArray', schemaOrList('jSONSchemas', null)],
  ['JSONSchemaPropsOrStringArray', schemaOrList('property', [])],
]);

function schemaOrList(list: string, otherwise: unknown): Shape {
  return {
    toFields: (value) => (Array.isArray(value) ? { [list]: value } : { schema: value }),
    fromFields: ({ schema, [list]: items }) => items ?? schema ?? otherwise,
  };
}

function timeFields(value: unknown, nanosIn: (text: string) => number): Fields | undefined {
  if (value === null || value === ZERO_TIME) return undefined;
  const text = String(value);
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) throw new TypeError(`orchplane: ${JSON.stringify(value)} is no time`);
  return { seconds: Math.floor(milliseconds / 1000), nanos: nanosIn(text) };
}

/** The fraction of the seconds, truncated to microseconds; a Date has milliseconds only. */
function microsIn(text: string): number {
  const [, decimals = ''] = /\.(\d+)/.exec(text) ?? [];
  return Number(decimals.slice(0, 6).padEnd(9, '0'));
}

/** The first second of year 0 and the last of year 9999; RFC 3339 cannot represent other times. */
const [FIRST_SECOND, LAST_SECOND] = [-62_167_219_200, 253_402_300_799];

function timeText(seconds: unknown, print: () => string): string | null {
  if (Number(seconds) < FIRST_SECOND || Number(seconds) > LAST_SECOND) {
    throw new BodyError('Time.MarshalJSON: year outside of range [0,9999]');
  }
  const text = print();
  return text.startsWith(ZERO_SECOND) ? null : text;
}

const ZERO_SECOND = ZERO_TIME.slice(0, -1);

/** Unlike in JSON responses, HTML characters are not escaped. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    // JSON.stringify throws for a bigint.
    if (error instanceof TypeError) return encodeJson(value);
    throw error;
  }
}

function parseRaw(raw: Uint8Array): unknown {
  try {
    const { value } = parseJson(decodeUtf8(raw), { keepSpelling: true });
    return value instanceof NumberText ? value.toJSON() : value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new BodyError(error.message);
    throw error;
  }
}
