/**
 * The well-known protobuf messages, which every environment knows without a type provider: their types for the checker,
 * and their construction (`google.protobuf.Duration{seconds: 5}`). All except `Empty` become CEL values immediately: a
 * wrapper is the wrapped value, a `Struct` is a map.
 */

import { encodeBase64 } from '../util/base64.js';
import { ArrayList, EntryMap } from './evaluate/views.js';
import { Failure, orThrow, type Result } from './failure.js';
import { MAX_INT, MIN_INT } from './numbers.js';
import { typeNameOf } from './runtime-type.js';
import { CONVERSION_FUNCTIONS } from './standard/conversions.js';
import {
  ANY,
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  objectType,
  STRING,
  TIMESTAMP,
  UINT,
  wrapperOf,
} from './types.js';
import { CelBytes, CelDuration, CelList, CelMap, CelObject, CelTimestamp, CelUint, type CelValue } from './values.js';

export interface WellKnownMessage {
  /** The CEL type of the message. */
  readonly type: CelType;
  readonly fields: Readonly<Record<string, CelType>>;
}

const PREFIX = 'google.protobuf.';

const JSON_OBJECT = mapOf(STRING, DYN);

const JSON_LIST = listOf(DYN);

const MESSAGES: ReadonlyMap<string, WellKnownMessage> = new Map<string, WellKnownMessage>([
  [`${PREFIX}Any`, { type: ANY, fields: { type_url: STRING, value: BYTES } }],
  [`${PREFIX}Duration`, { type: DURATION, fields: { seconds: INT, nanos: INT } }],
  [`${PREFIX}Timestamp`, { type: TIMESTAMP, fields: { seconds: INT, nanos: INT } }],
  [`${PREFIX}Empty`, { type: objectType(`${PREFIX}Empty`), fields: {} }],
  [`${PREFIX}ListValue`, { type: JSON_LIST, fields: { values: JSON_LIST } }],
  [`${PREFIX}Struct`, { type: JSON_OBJECT, fields: { fields: JSON_OBJECT } }],
  [
    `${PREFIX}Struct.FieldsEntry`,
    { type: objectType(`${PREFIX}Struct.FieldsEntry`), fields: { key: STRING, value: DYN } },
  ],
  [
    `${PREFIX}Value`,
    {
      type: DYN,
      fields: {
        null_value: INT,
        number_value: DOUBLE,
        string_value: STRING,
        bool_value: BOOL,
        struct_value: JSON_OBJECT,
        list_value: JSON_LIST,
      },
    },
  ],
  ...(
    [
      ['BoolValue', BOOL],
      ['BytesValue', BYTES],
      ['DoubleValue', DOUBLE],
      ['FloatValue', DOUBLE],
      ['Int32Value', INT],
      ['Int64Value', INT],
      ['StringValue', STRING],
      ['UInt32Value', UINT],
      ['UInt64Value', UINT],
    ] as const
  ).map(([name, value]) => [`${PREFIX}${name}`, { type: wrapperOf(value), fields: { value } }] as const),
]);

/** The only enum constant of these messages. */
const NULL_VALUE = `${PREFIX}NullValue.NULL_VALUE`;

export function wellKnownMessage(name: string): WellKnownMessage | undefined {
  return MESSAGES.get(name);
}

export function wellKnownEnumValue(name: string): bigint | undefined {
  return name === NULL_VALUE ? 0n : undefined;
}

const WRAPPERS: Readonly<Record<string, string>> = {
  bool: 'BoolValue',
  bytes: 'BytesValue',
  double: 'DoubleValue',
  int: 'Int64Value',
  string: 'StringValue',
  uint: 'UInt64Value',
};

/** The name of the well-known message with this CEL type; undefined if there is none. */
export function messageNameOf(type: CelType): string | undefined {
  switch (type.kind) {
    case 'any':
      return `${PREFIX}Any`;
    case 'duration':
      return `${PREFIX}Duration`;
    case 'timestamp':
      return `${PREFIX}Timestamp`;
    case 'dyn':
      return `${PREFIX}Value`;
    case 'null':
      return `${PREFIX}NullValue`;
    case 'list':
      return type.element.kind === 'dyn' ? `${PREFIX}ListValue` : undefined;
    case 'map':
      return type.key.kind === 'string' && type.value.kind === 'dyn' ? `${PREFIX}Struct` : undefined;
    case 'wrapper':
      return `${PREFIX}${WRAPPERS[type.of.kind] ?? ''}`;
    default:
      return undefined;
  }
}

type Fields = ReadonlyMap<string, CelValue>;

type Read<Value> = (value: CelValue) => Value;

/** Constructs a message; undefined if the name is not a well-known message. */
export function constructWellKnownMessage(name: string, fields: Fields): Result | undefined {
  const short = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '';
  const make = CONSTRUCTORS.get(short);
  if (make === undefined) return undefined;
  try {
    return make(fields);
  } catch (error) {
    if (error instanceof FieldProblem) return new Failure(fieldText(name, error));
    throw error;
  }
}

export function isWellKnownMessage(name: string): boolean {
  return name.startsWith(PREFIX) && CONSTRUCTORS.has(name.slice(PREFIX.length));
}

/** An invalid field value. */
class FieldProblem extends Error {
  field = '';
  /** `shape`: the field does not accept values of this kind. */
  constructor(
    message: string,
    readonly shape = false,
  ) {
    super(message);
  }
}

function fieldText(name: string, { field, message, shape }: FieldProblem): string {
  return shape
    ? `unsupported field type for ${name}.${field}: ${message}`
    : `field type conversion error for ${name}.${field} value type: ${message}`;
}

function field<Value>(fields: Fields, name: string, read: Read<Value>, absent: Value): Value {
  const value = fields.get(name);
  if (value === undefined) return absent;
  try {
    return read(value);
  } catch (error) {
    if (error instanceof FieldProblem) error.field = name;
    throw error;
  }
}

/** A value of the wrong type; the message differs by type. */
function mismatch(value: CelValue, native: string): FieldProblem {
  if (typeof value === 'string') return new FieldProblem(`unsupported native conversion from string to '${native}'`);
  if (typeof value === 'bigint') return new FieldProblem(`unsupported type conversion from 'int' to ${native}`);
  if (value instanceof CelUint) return new FieldProblem(`unsupported type conversion from 'uint' to ${native}`);
  const names: Readonly<Record<string, string>> = { double: 'Double', bytes: 'Bytes', null_type: "'null_type'" };
  const type = typeNameOf(value);
  return new FieldProblem(`type conversion error from ${names[type] ?? type} to '${native}'`);
}

function int(bits: 32 | 64): Read<bigint> {
  return (value) => {
    if (typeof value !== 'bigint') throw mismatch(value, `int${bits}`);
    if (BigInt.asIntN(bits, value) !== value) throw new FieldProblem('integer overflow');
    return value;
  };
}

function uint(bits: 32 | 64): Read<CelUint> {
  return (value) => {
    if (!(value instanceof CelUint)) throw mismatch(value, `uint${bits}`);
    if (BigInt.asUintN(bits, value.value) !== value.value) throw new FieldProblem('unsigned integer overflow');
    return value;
  };
}

function double(bits: 32 | 64): Read<number> {
  return (value) => {
    if (typeof value !== 'number') throw mismatch(value, `float${bits}`);
    return bits === 32 ? Math.fround(value) : value;
  };
}

const bool: Read<boolean> = (value) => {
  if (typeof value !== 'boolean') throw mismatch(value, 'bool');
  return value;
};

const string: Read<string> = (value) => {
  if (typeof value !== 'string') throw mismatch(value, 'string');
  return value;
};

const bytes: Read<CelBytes> = (value) => {
  if (!(value instanceof CelBytes)) throw mismatch(value, '[]uint8');
  return value;
};

const jsonList: Read<CelValue> = (value) => {
  if (!(value instanceof CelList)) throw new FieldProblem(typeNameOf(value), true);
  return json(value);
};

const jsonMap: Read<CelValue> = (value) => {
  if (!(value instanceof CelMap)) throw new FieldProblem(typeNameOf(value), true);
  return json(value);
};

/** Converts to JSON types: numbers are doubles, or strings if a double would lose digits. */
function json(value: CelValue): CelValue {
  if (typeof value === 'bigint') return jsonNumber(value);
  if (value instanceof CelUint) return jsonNumber(value.value);
  if (value instanceof CelBytes) return encodeBase64(value.bytes);
  if (value instanceof CelTimestamp) return textOf('timestamp_to_string', value);
  if (value instanceof CelDuration) return textOf('duration_to_string', value);
  if (value instanceof CelList) return new ArrayList(Array.from({ length: value.size }, (_, at) => json(value.at(at))));
  if (value instanceof CelMap) {
    return new EntryMap(Array.from(value.keys(), (key) => [string(key), json(value.get(key) ?? null)]));
  }
  return value;
}

function jsonNumber(value: bigint): CelValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function textOf(conversion: string, value: CelValue): CelValue {
  return orThrow(CONVERSION_FUNCTIONS.get(conversion)?.(value) ?? new Failure('no such overload'));
}

const NANOS = 1_000_000_000n;

const EMPTY_LIST = new ArrayList([]);

const EMPTY_MAP = new EntryMap([]);

const wrapper =
  <Value extends CelValue>(read: Read<Value>, absent: Value) =>
  (fields: Fields): CelValue =>
    field(fields, 'value', read, absent);

function nanosOf(fields: Fields): bigint {
  return field(fields, 'seconds', int(64), 0n) * NANOS + field(fields, 'nanos', int(32), 0n);
}

function duration(fields: Fields): CelValue {
  const nanos = nanosOf(fields);
  if (nanos > MAX_INT) return new CelDuration(MAX_INT);
  if (nanos < MIN_INT) return new CelDuration(MIN_INT);
  return new CelDuration(nanos);
}

/** A `Value` has one of several fields; without any it is null. */
function value(fields: Fields): CelValue {
  const reads: Readonly<Record<string, Read<CelValue>>> = {
    null_value: () => null,
    number_value: double(64),
    string_value: string,
    bool_value: bool,
    struct_value: jsonMap,
    list_value: jsonList,
  };
  for (const [name] of fields) {
    const read = reads[name];
    if (read !== undefined) return field(fields, name, read, null);
  }
  return null;
}

class EmptyMessage extends CelObject {
  readonly typeName = `${PREFIX}Empty`;

  get(): undefined {
    return undefined;
  }

  has(): boolean {
    return false;
  }

  fieldNames(): readonly string[] {
    return [];
  }
}

/** `Any` holds a message of any type, which this engine does not support. */
const UNSUPPORTED_ANY = new Failure('unsupported conversion to ref.Val: (*dynamicpb.Message)');

const CONSTRUCTORS: ReadonlyMap<string, (fields: Fields) => Result> = new Map<string, (fields: Fields) => Result>([
  ['BoolValue', wrapper(bool, false)],
  ['BytesValue', wrapper(bytes, new CelBytes(new Uint8Array()))],
  ['DoubleValue', wrapper(double(64), 0)],
  ['FloatValue', wrapper(double(32), 0)],
  ['Int32Value', wrapper(int(32), 0n)],
  ['Int64Value', wrapper(int(64), 0n)],
  ['StringValue', wrapper(string, '')],
  ['UInt32Value', wrapper(uint(32), new CelUint(0n))],
  ['UInt64Value', wrapper(uint(64), new CelUint(0n))],
  ['Duration', duration],
  ['Timestamp', (fields) => new CelTimestamp(nanosOf(fields))],
  ['ListValue', (fields) => field(fields, 'values', jsonList, EMPTY_LIST)],
  ['Struct', (fields) => field(fields, 'fields', jsonMap, EMPTY_MAP)],
  ['Value', value],
  ['Empty', () => new EmptyMessage()],
  ['Any', () => UNSUPPORTED_ANY],
]);
