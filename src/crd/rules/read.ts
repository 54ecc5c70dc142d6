/**
 * Converts JSON to CEL values by a schema. Readers are created once per schema; lists and objects are views that
 * convert their content on access.
 */
import { CelError, type CelValue } from '../../cel/index.js';
import { additionalSchema, type SchemaView } from '../schema-view.js';
import { escapeName } from './escape.js';
import { KeyedListView, ListView, SetView } from './list-views.js';
import { MapView, ObjectFields, ObjectView, PreservedValue, type Reader } from './map-views.js';
import { Foreign, isPlainRecord, plainTypeName } from './native.js';
import { describesResource } from './shape.js';
import { textReader } from './text-values.js';

/**
 * Returns the reader for values of a schema. `isRoot` is true for whole resources, whose names are always accessible.
 */
export function readerOf(schema: SchemaView, isRoot: boolean): Reader {
  const isResource = isRoot || schema.embeddedResource;
  const known = isResource ? RESOURCES : VALUES;
  let reader = known.get(schema);
  if (reader === undefined) {
    reader = orNull(contentReader(schema, isResource), schema.raw.nullable === true);
    known.set(schema, reader);
  }
  return reader;
}

const VALUES = new WeakMap<SchemaView, Reader>();
const RESOURCES = new WeakMap<SchemaView, Reader>();

function orNull(read: Reader, nullable: boolean): Reader {
  return (plain) => {
    if (plain !== null && plain !== undefined) return read(plain);
    if (nullable) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  };
}

function contentReader(schema: SchemaView, isResource: boolean): Reader {
  if (schema.intOrString) return readIntOrString;
  switch (schema.type) {
    case 'object':
      return objectReader(schema, isResource);
    case 'array':
      return listReader(schema);
    case 'string':
      return stringReader(schema.raw.format);
    case 'number':
      return readNumber;
    case 'integer':
      return readInteger;
    case 'boolean':
      return readBoolean;
    default:
      // Only a node that preserves unknown fields may have no type.
      return (plain) => new PreservedValue(plain);
  }
}

function objectReader(schema: SchemaView, isResource: boolean): Reader {
  const values = additionalSchema(schema);
  const isMap = values !== undefined && !isResource && schema.properties.size === 0;
  const view = isMap ? mapView(values) : objectView(schema, isResource);
  return (plain) => {
    if (isPlainRecord(plain)) return view(plain);
    throw new CelError('invalid data, expected a map for the provided schema with type=object');
  };
}

function mapView(values: SchemaView): (raw: Record<string, unknown>) => CelValue {
  let read: Reader | undefined;
  return (raw) => {
    read ??= readerOf(values, false);
    return new MapView(raw, read);
  };
}

/** The fields are prepared when the first object is read: most parts of a schema are not used by any rule. */
function objectView(schema: SchemaView, isResource: boolean): (raw: Record<string, unknown>) => CelValue {
  let fields: ObjectFields | undefined;
  return (raw) => {
    fields ??= new ObjectFields(fieldReaders(schema, isResource));
    return new ObjectView(raw, fields);
  };
}

function* fieldReaders(schema: SchemaView, isResource: boolean): Iterable<readonly [string, Reader]> {
  const standsIn = isResource && !describesResource(schema);
  for (const [name, property] of schema.properties) yield [name, readerOf(property, false)];
  // The fields of every resource replace those that its schema may specify.
  if (standsIn) yield* RESOURCE_READERS;
}

function listReader(schema: SchemaView): Reader {
  const { items } = schema;
  if (items === undefined) {
    return () => {
      throw new CelError('invalid array type, expected Items with a non-empty Schema');
    };
  }
  const keyNames = schema.listMapKeys.map((name) => escapeName(name) ?? name);
  let read: Reader | undefined;
  return (plain) => {
    if (!Array.isArray(plain)) {
      throw new CelError('invalid data, expected an array for the provided schema with type=array');
    }
    read ??= readerOf(items, false);
    if (schema.listType === 'map') return new KeyedListView(plain, read, keyNames);
    return schema.listType === 'set' ? new SetView(plain, read) : new ListView(plain, read);
  };
}

function stringReader(format: string | undefined): Reader {
  const readText = textReader(format);
  return (plain) => {
    if (typeof plain !== 'string') throw unexpected('string', plain);
    return readText === undefined ? plain : readText(plain);
  };
}

const readText = stringReader(undefined);

const RESOURCE_READERS: readonly (readonly [string, Reader])[] = [
  ['kind', orNull(readText, false)],
  ['apiVersion', orNull(readText, false)],
  ['metadata', metadataReader()],
];

function metadataReader(): Reader {
  const name = orNull(readText, false);
  const fields = new ObjectFields([
    ['name', name],
    ['generateName', name],
  ]);
  return orNull((plain) => {
    if (isPlainRecord(plain)) return new ObjectView(plain, fields);
    throw new CelError('invalid data, expected a map for the provided schema with type=object');
  }, false);
}

function readNumber(plain: unknown): CelValue {
  if (typeof plain === 'number') return plain;
  if (typeof plain === 'bigint') return Number(plain);
  if (plain instanceof Foreign && typeof plain.value === 'number') return plain.value;
  throw unexpected('float', plain);
}

function readInteger(plain: unknown): CelValue {
  return integerOf(plain) ?? raise(unexpected('int', plain));
}

function readIntOrString(plain: unknown): CelValue {
  if (typeof plain === 'string') return plain;
  return (
    integerOf(plain) ??
    raise(new CelError('invalid data, expected XIntOrString value to be either a string or integer'))
  );
}

function integerOf(plain: unknown): bigint | undefined {
  if (typeof plain === 'number') return Number.isSafeInteger(plain) ? BigInt(plain) : undefined;
  return typeof plain === 'bigint' && BigInt.asIntN(64, plain) === plain ? plain : undefined;
}

function readBoolean(plain: unknown): CelValue {
  if (typeof plain === 'boolean') return plain;
  throw unexpected('bool', plain);
}

function unexpected(wanted: string, plain: unknown): CelError {
  return new CelError(`invalid data, expected ${wanted}, got ${plainTypeName(plain)}`);
}

function raise(error: CelError): never {
  throw error;
}
