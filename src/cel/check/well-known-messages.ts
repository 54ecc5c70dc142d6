/** Types of the well-known protobuf messages, which every environment knows without a type provider. */
import type { CelType } from '../types.js';
import {
  ANY,
  BOOL,
  BYTES,
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
} from '../types.js';

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

const WRAPPERS: Readonly<Record<string, string>> = {
  bool: 'BoolValue',
  bytes: 'BytesValue',
  double: 'DoubleValue',
  int: 'Int64Value',
  string: 'StringValue',
  uint: 'UInt64Value',
};
