/** Runtime types of values. They are less precise than the types the checker derives. */
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  typeName,
  UINT,
} from './types.js';
import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from './values.js';

const LIST = listOf(DYN);
const MAP = mapOf(DYN, DYN);

/** The result of `type(value)`. cel-go treats objects of a schema as maps. */
export function typeOfValue(value: CelValue): CelType {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'bigint':
      return INT;
    case 'number':
      return DOUBLE;
    case 'boolean':
      return BOOL;
    default:
      return value === null ? NULL : typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<CelValue, null | string | bigint | number | boolean>): CelType {
  if (value instanceof CelList) return LIST;
  if (value instanceof CelMap || value instanceof CelObject) return MAP;
  if (value instanceof CelUint) return UINT;
  if (value instanceof CelBytes) return BYTES;
  if (value instanceof CelTimestamp) return TIMESTAMP;
  if (value instanceof CelDuration) return DURATION;
  return value instanceof CelTypeValue ? TYPE : value.type;
}

export function typeNameOf(value: CelValue): string {
  return typeName(typeOfValue(value));
}

/** Whether a value matches a parameter type. Of a container, only the first entry is tested. */
export function fits(type: CelType, value: CelValue): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'param':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'int':
      return typeof value === 'bigint';
    case 'bool':
      return typeof value === 'boolean';
    case 'double':
      return typeof value === 'number';
    case 'list':
      return value instanceof CelList && (value.size === 0 || fits(type.element, value.at(0)));
    case 'map':
      return value instanceof CelMap ? fitsMap(type, value) : value instanceof CelObject;
    case 'object':
      return value instanceof CelObject ? value.typeName === type.name : typeNameOf(value) === type.name;
    case 'wrapper':
      return value === null || fits(type.of, value);
    default:
      return typeNameOf(value) === typeName(type);
  }
}

function fitsMap(type: { readonly key: CelType; readonly value: CelType }, map: CelMap): boolean {
  for (const key of map.keys()) return fits(type.key, key) && fits(type.value, map.get(key) ?? null);
  return true;
}

/** The Go type name of a value in cel-go; some messages contain it. */
export function goTypeName(value: CelValue): string {
  switch (typeof value) {
    case 'string':
      return 'types.String';
    case 'bigint':
      return 'types.Int';
    case 'number':
      return 'types.Double';
    case 'boolean':
      return 'types.Bool';
    default:
  }
  if (value === null) return 'types.Null';
  if (value instanceof CelList) return '*types.baseList';
  if (value instanceof CelMap || value instanceof CelObject) return '*types.baseMap';
  if (value instanceof CelOpaque) {
    return value.goTypeName ?? (value.type.name === 'optional_type' ? '*types.Optional' : value.type.name);
  }
  if (value instanceof CelUint) return 'types.Uint';
  if (value instanceof CelBytes) return 'types.Bytes';
  if (value instanceof CelTimestamp) return 'types.Timestamp';
  return value instanceof CelDuration ? 'types.Duration' : '*types.Type';
}
