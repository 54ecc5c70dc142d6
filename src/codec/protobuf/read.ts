/**
 * Decodes messages to JSON documents: bytes as base64, times and quantities as strings. Zero values of non-pointer fields
 * are omitted; empty messages become `{}`.
 *
 * Invalid bytes throw BodyError with the message of the reference server's decoder, and no other error.
 */
import { BodyError } from '../../protocol/body.js';
import { encodeBase64 } from '../../util/base64.js';
import { unreachable } from '../../util/invariant.js';
import { isRecord, type MutableRecord, setOwn } from '../../util/json.js';
import { goInitials, goNames } from './message-types.js';
import type { Message, MessageField } from './notation.js';
import { WireReader } from './wire.js';

/** Prefixes that Go field names write in capitals. */
const INITIALS = new RegExp(`^(${goInitials})(?=[A-Z]|s?$)`);

/** Go names of fields that do not follow the rule, by type and field. */
const OTHERS: ReadonlyMap<string, string> = new Map(
  [...goNames.trim().split('\n'), 'Quantity.string=String_'].map((pair) => pair.split('=') as [string, string]),
);

/** The maximum nesting depth, so that recursive functions do not overflow the stack. */
const MAX_DEPTH = 1_000;

/** Decodes a message. Throws BodyError. */
export function decodeMessage(message: Message, bytes: Uint8Array): MutableRecord {
  const document: MutableRecord = {};
  const reader = new WireReader(bytes);
  readFields(reader, message, document, 0);
  if (reader.problem !== undefined) throw reader.problem;
  return document;
}

/** Reads the fields from the current position to the end of the message and merges them into `out`. */
function readFields(reader: WireReader, message: Message, out: MutableRecord, depth: number): void {
  if (depth > MAX_DEPTH) throw new BodyError('exceeded max depth');
  while (reader.pos < reader.len) {
    const before = reader.pos;
    reader.varint();
    const wireType = reader.low & 7;
    // Truncated to a signed 32-bit number.
    const number = (reader.low >>> 3) | (reader.high << 29);
    if (wireType === 4) throw new BodyError(`proto: ${goTypeName(message)}: wiretype end group for non-group`);
    if (number <= 0) {
      throw new BodyError(`proto: ${goTypeName(message)}: illegal tag ${number} (wire type ${reader.exact()})`);
    }
    const field = message.byNumber[number];
    if (field === undefined) {
      reader.pos = before;
      reader.skipField();
    } else if ((field.tag & 7) === wireType) readField(reader, field, out, depth);
    else if (field.form === 'list' && field.wireType === VARINT && wireType === LENGTH_DELIMITED) {
      readPacked(reader, field, out, depth);
    } else throw new BodyError(`proto: wrong wireType = ${wireType} for field ${goFieldName(message.name, field)}`);
  }
}

/** Wire types. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

function readField(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  if (field.form === 'one') readSingle(reader, field, out, depth);
  else if (field.form === 'map') readEntry(reader, field, out, depth);
  else itemsOf(out, field).push(readValue(reader, field, depth));
}

function readSingle(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  // A message field that occurs twice is merged; other fields are overwritten.
  const earlier = field.type !== 'message' ? undefined : field.name === '' ? out : out[field.name];
  const value = readValue(reader, field, depth, isRecord(earlier) ? earlier : undefined);
  if (field.name === '') return;
  if (value === null || (!field.pointer && isZero(field, value))) dropField(out, field.name);
  else setOwn(out, field.name, value);
}

function dropField(out: MutableRecord, name: string): void {
  // Deleting makes an object slow; the field is almost never present.
  if (Object.hasOwn(out, name)) delete out[name];
}

/** Messages never count as zero values: an IntOrString may be the empty string, which differs from 0. */
function isZero({ type }: MessageField, value: unknown): boolean {
  return type !== 'message' && (value === '' || value === 0 || value === false);
}

function itemsOf(out: MutableRecord, field: MessageField): unknown[] {
  const known = out[field.name];
  if (Array.isArray(known)) return known;
  const items: unknown[] = [];
  setOwn(out, field.name, items);
  return items;
}

function readPacked(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  const end = reader.extent();
  const items = itemsOf(out, field);
  while (reader.pos < end) items.push(readValue(reader, field, depth));
}

/** Reads a map entry. Like the reference server, it checks neither the wire types nor the end of the entry. */
function readEntry(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  const end = reader.extent();
  const known = out[field.name];
  const entries: MutableRecord = isRecord(known) ? known : {};
  if (entries !== known) setOwn(out, field.name, entries);
  let key = '';
  let value: unknown;
  while (reader.pos < end) {
    const before = reader.pos;
    reader.varint();
    const number = (reader.low >>> 3) | (reader.high << 29);
    if (number === 1) key = reader.text();
    else if (number === 2) value = readValue(reader, field, depth);
    else {
      reader.pos = before;
      reader.skipField();
      if (reader.pos > end) throw new BodyError('unexpected EOF');
    }
  }
  reader.pos = end;
  setOwn(entries, key, value === undefined ? zeroValue(field) : value);
}

/** The default value of a map entry; map values are strings, bytes or messages. */
function zeroValue(field: MessageField): unknown {
  if (field.type !== 'message') return '';
  const { shape } = field.message;
  return shape === undefined ? {} : shape.fromFields({}, true);
}

function readValue(reader: WireReader, field: MessageField, depth: number, onto?: MutableRecord): unknown {
  const { type } = field;
  switch (type) {
    case 'string':
      return reader.text();
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.integer();
    case 'bool':
      return reader.bool();
    case 'double':
      return reader.double();
    case 'bytes':
      return encodeBase64(reader.slice());
    case 'raw':
      return reader.slice();
    case 'message':
      return readMessage(reader, field.message, depth, onto);
    default:
      return unreachable(type);
  }
}

function readMessage(reader: WireReader, message: Message, depth: number, onto: MutableRecord = {}): unknown {
  const end = reader.extent();
  const { start, len, pos } = reader;
  const { shape } = message;
  const fields = shape === undefined ? onto : {};
  reader.start = pos;
  reader.len = end;
  readFields(reader, message, fields, depth + 1);
  reader.start = start;
  reader.len = len;
  if (shape === undefined) return fields;
  try {
    return shape.fromFields(fields, pos === end);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    // An invalid value is reported only if the wire format is valid.
    reader.problem ??= error;
    return null;
  }
}

/** Time and MicroTime are both Timestamp messages in the decoder. */
function goTypeName({ name }: Message): string {
  return name === 'Time' || name === 'MicroTime' ? 'Timestamp' : name;
}

interface NamedField {
  readonly name: string;
  readonly type: string;
  readonly message: { readonly name: string };
}

/** The Go name of a field of the message `holder`. */
function goFieldName(holder: string, field: NamedField): string {
  const { name } = field;
  // Embedded structs and object metadata are named after their type.
  if (name === '' || (name === 'metadata' && field.type === 'message')) return field.message.name;
  return OTHERS.get(`${holder}.${name}`) ?? regularName(name);
}

function regularName(name: string): string {
  // Schema extensions omit the dialect's token: `x-…-list-type` is `XListType`.
  const words = name.split('-');
  const parts = words.length > 1 ? words.filter((_word, index) => index !== 1) : words;
  return parts.map(capitalized).join('');
}

function capitalized(word: string): string {
  const text = word.replace(INITIALS, (initials) => initials.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}
