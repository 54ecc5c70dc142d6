/**
 * The messages every environment knows without a provider: those the language has types of its own for, and a few
 * beside them.
 */
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

export interface KnownMessage {
  /** What a message of this name is to an expression. */
  readonly type: CelType;
  readonly fields: Readonly<Record<string, CelType>>;
}

const SPACE = 'google.protobuf.';
const JSON_OBJECT = mapOf(STRING, DYN);
const JSON_LIST = listOf(DYN);

const MESSAGES: ReadonlyMap<string, KnownMessage> = new Map<string, KnownMessage>([
  [`${SPACE}Any`, { type: ANY, fields: { type_url: STRING, value: BYTES } }],
  [`${SPACE}Duration`, { type: DURATION, fields: { seconds: INT, nanos: INT } }],
  [`${SPACE}Timestamp`, { type: TIMESTAMP, fields: { seconds: INT, nanos: INT } }],
  [`${SPACE}Empty`, { type: objectType(`${SPACE}Empty`), fields: {} }],
  [`${SPACE}ListValue`, { type: JSON_LIST, fields: { values: JSON_LIST } }],
  [`${SPACE}Struct`, { type: JSON_OBJECT, fields: { fields: JSON_OBJECT } }],
  [
    `${SPACE}Struct.FieldsEntry`,
    { type: objectType(`${SPACE}Struct.FieldsEntry`), fields: { key: STRING, value: DYN } },
  ],
  [
    `${SPACE}Value`,
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
  ).map(([name, value]) => [`${SPACE}${name}`, { type: wrapperOf(value), fields: { value } }] as const),
]);

/** The only named number among these messages. */
const NULL_VALUE = `${SPACE}NullValue.NULL_VALUE`;

export function knownMessage(name: string): KnownMessage | undefined {
  return MESSAGES.get(name);
}

export function knownEnumValue(name: string): bigint | undefined {
  return name === NULL_VALUE ? 0n : undefined;
}

/** The name of the message that a type of the language stands for; undefined when it stands for none. */
export function messageNameOf(type: CelType): string | undefined {
  switch (type.kind) {
    case 'any':
      return `${SPACE}Any`;
    case 'duration':
      return `${SPACE}Duration`;
    case 'timestamp':
      return `${SPACE}Timestamp`;
    case 'dyn':
      return `${SPACE}Value`;
    case 'null':
      return `${SPACE}NullValue`;
    case 'list':
      return type.element.kind === 'dyn' ? `${SPACE}ListValue` : undefined;
    case 'map':
      return type.key.kind === 'string' && type.value.kind === 'dyn' ? `${SPACE}Struct` : undefined;
    case 'wrapper':
      return `${SPACE}${WRAPPERS[type.of.kind] ?? ''}`;
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
