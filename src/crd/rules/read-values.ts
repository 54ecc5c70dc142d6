/**
 * Converts JSON to CEL values by a schema. Readers are created once per schema; lists and objects are views that
 * convert their content on access. Strings with a format become timestamps, durations or bytes; the format is validated
 * before rules are evaluated, so format errors only occur for objects that were stored before the format was required.
 */
import { CelBytes, CelDuration, CelError, CelTimestamp, type CelValue, spendWork } from '../../cel/index.js';
import { parseTime, TimeError } from '../../text/time/time.js';
import { Base64Error, canonicalBase64 } from '../../util/base64.js';
import { getOrInsertComputed } from '../../util/once.js';
import { additionalSchema, type StructuralSchema } from '../structural-schema.js';
import { parseFormatDuration } from '../value/formats.js';
import { visibleProperties } from './decl-type.js';
import { escapeName } from './escape.js';
import { isJsonRecord, jsonTypeName, NonJsonValue } from './json-values.js';
import {
  type CelReader,
  KeyedListView,
  ListView,
  MapView,
  ObjectFields,
  ObjectView,
  PreservedValue,
  SetView,
} from './json-views.js';

/**
 * Returns the reader for values of a schema. `isRoot` is true for whole resources, whose names are always accessible.
 */
export function celReaderOf(schema: StructuralSchema, isRoot: boolean): CelReader {
  const isResource = isRoot || schema.embeddedResource;
  const cache = isResource ? RESOURCE_READER_CACHE : VALUE_READERS;
  return getOrInsertComputed(cache, schema, (one) =>
    orNull(contentCelReader(one, isResource), one.raw.nullable === true),
  );
}

const VALUE_READERS = new WeakMap<StructuralSchema, CelReader>();
const RESOURCE_READER_CACHE = new WeakMap<StructuralSchema, CelReader>();

function orNull(read: CelReader, nullable: boolean): CelReader {
  return (json) => {
    if (json !== null && json !== undefined) return read(json);
    if (nullable) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  };
}

function contentCelReader(schema: StructuralSchema, isResource: boolean): CelReader {
  if (schema.intOrString) return readIntOrString;
  switch (schema.type) {
    case 'object':
      return objectCelReader(schema, isResource);
    case 'array':
      return listCelReader(schema);
    case 'string':
      return stringCelReader(schema.raw.format);
    case 'number':
      return readNumber;
    case 'integer':
      return readInteger;
    case 'boolean':
      return readBoolean;
    default:
      // Only a node that preserves unknown fields may have no type.
      return (json) => new PreservedValue(json);
  }
}

function objectCelReader(schema: StructuralSchema, isResource: boolean): CelReader {
  const values = additionalSchema(schema);
  const isMap = values !== undefined && !isResource && schema.properties.size === 0;
  const view = isMap ? mapView(values) : objectView(schema, isResource);
  return (json) => {
    if (isJsonRecord(json)) return view(json);
    throw new CelError('invalid data, expected a map for the provided schema with type=object');
  };
}

function mapView(values: StructuralSchema): (raw: Record<string, unknown>) => CelValue {
  let read: CelReader | undefined;
  return (raw) => {
    read ??= celReaderOf(values, false);
    return new MapView(raw, read);
  };
}

/** The fields are prepared when the first object is read: most parts of a schema are not used by any rule. */
function objectView(schema: StructuralSchema, isResource: boolean): (raw: Record<string, unknown>) => CelValue {
  let fields: ObjectFields | undefined;
  return (raw) => {
    fields ??= new ObjectFields(
      [...visibleProperties(schema, isResource)].map(([name, property]) => [name, celReaderOf(property, false)]),
    );
    return new ObjectView(raw, fields);
  };
}

function listCelReader(schema: StructuralSchema): CelReader {
  const { items } = schema;
  if (items === undefined) {
    return () => {
      throw new CelError('invalid array type, expected Items with a non-empty Schema');
    };
  }
  const keyNames = schema.listMapKeys.map((name) => escapeName(name) ?? name);
  let read: CelReader | undefined;
  return (json) => {
    if (!Array.isArray(json)) {
      throw new CelError('invalid data, expected an array for the provided schema with type=array');
    }
    read ??= celReaderOf(items, false);
    if (schema.listType === 'map') return new KeyedListView(json, read, keyNames);
    return schema.listType === 'set' ? new SetView(json, read) : new ListView(json, read);
  };
}

function stringCelReader(format = ''): CelReader {
  const readText = READERS.get(format);
  return (json) => {
    if (typeof json !== 'string') throw unexpected('string', json);
    if (readText === undefined) return json;
    spendWork(json.length * READ);
    return readText(json);
  };
}

function readNumber(json: unknown): CelValue {
  if (typeof json === 'number') return json;
  if (typeof json === 'bigint') return Number(json);
  if (json instanceof NonJsonValue && typeof json.value === 'number') return json.value;
  throw unexpected('float', json);
}

function readInteger(json: unknown): CelValue {
  return integerOf(json) ?? raise(unexpected('int', json));
}

function readIntOrString(json: unknown): CelValue {
  if (typeof json === 'string') return json;
  return (
    integerOf(json) ?? raise(new CelError('invalid data, expected XIntOrString value to be either a string or integer'))
  );
}

function integerOf(json: unknown): bigint | undefined {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : undefined;
  return typeof json === 'bigint' && BigInt.asIntN(64, json) === json ? json : undefined;
}

function readBoolean(json: unknown): CelValue {
  if (typeof json === 'boolean') return json;
  throw unexpected('bool', json);
}

function unexpected(wanted: string, json: unknown): CelError {
  return new CelError(`invalid data, expected ${wanted}, got ${jsonTypeName(json)}`);
}

function raise(error: CelError): never {
  throw error;
}

/** Work to read a character of a formatted text, which is read at each access. */
const READ = 20;

type TextValue = CelBytes | CelDuration | CelTimestamp | string;

/** The readers of formats; values of other formats stay strings. */
const READERS: ReadonlyMap<string, (text: string) => TextValue> = new Map<string, (text: string) => TextValue>([
  ['duration', readDuration],
  ['date', readDate],
  ['date-time', readDateTime],
  ['byte', readBytes],
]);

function readDuration(text: string): CelDuration {
  const nanos = parseFormatDuration(text);
  if (typeof nanos === 'string') throw new CelError(`Invalid duration ${text}: ${nanos}`);
  return new CelDuration(nanos);
}

const MIDNIGHT = 'T00:00:00Z';

function readDate(text: string): CelTimestamp {
  try {
    return new CelTimestamp(nanosOf(parseTime(`${text}${MIDNIGHT}`)));
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    const message = error.message.replaceAll(`${MIDNIGHT}"`, '"').replace('T15:04:05Z07:00": ', '": ');
    throw new CelError(`Invalid date formatted string ${text}: ${withoutRest(message, 'T')}`);
  }
}

/** A time with a zone, or without one: then it is in UTC. */
function readDateTime(text: string): CelTimestamp {
  if (text === '') return new CelTimestamp(0n);
  const [, fraction = ''] = /[.,](\d+)/.exec(text) ?? [];
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const [zone = ''] = /([zZ]|[-+]\d{2}:\d{2})$/.exec(text) ?? [];
  try {
    return new CelTimestamp(nanosOf(parseTime(zone === '' ? `${text}Z` : text)) + nanos, secondsEast(zone));
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    // The reference server tries several layouts and reports the error of the last one, which has no zone.
    // upstream: apiserver/pkg/cel/common/values.go UnstructuredToVal
    const own = zone === '' ? error.message.replaceAll('Z"', '"') : error.message;
    const message = withoutRest(own, 'Z07:00').replace('05Z07:00": ', '05": ');
    throw new CelError(`Invalid date-time formatted string ${text}: ${message}`);
  }
}

/** For a layout that ends before `element`, the error is extra text instead of a missing element. */
function withoutRest(message: string, element: string): string {
  const [, time, rest, missing] = /^(parsing time .*) as .*: cannot parse (".*") as "(.*)"$/s.exec(message) ?? [];
  return missing === element ? `${time}: extra text: ${rest}` : message;
}

/** The offset of a zone such as `+02:00`. */
function secondsEast(zone: string): number {
  const [hours, minutes] = zone.slice(1).split(':');
  if (hours === undefined || minutes === undefined) return 0;
  return (Number(hours) * 3600 + Number(minutes) * 60) * (zone.startsWith('-') ? -1 : 1);
}

function nanosOf(canonical: string): bigint {
  return BigInt(Date.parse(canonical)) * 1_000_000n;
}

/**
 * In the base64url alphabet (`-` and `_`), although the format is validated in the standard alphabet: as in the
 * reference server.
 */
function readBytes(text: string): CelBytes {
  const inStandard = text.replace(/[-_+/]/g, (symbol) => ({ '-': '+', _: '/' })[symbol] ?? '!');
  try {
    const characters = atob(canonicalBase64(inStandard));
    return new CelBytes(Uint8Array.from(characters, (character) => character.charCodeAt(0)));
  } catch (error) {
    if (error instanceof Base64Error) throw new CelError(`Invalid byte formatted string ${text}: ${error.message}`);
    throw error;
  }
}
