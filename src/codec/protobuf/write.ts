/**
 * Encodes documents like the reference server: fields sorted by number, maps by key, non-pointer fields also when empty.
 * Stored objects are frozen and shared, so their bytes are cached by identity: a get, a list and a thousand watchers
 * encode an object once.
 */
import protobuf from 'protobufjs/minimal.js';
import { unreachable } from '../../util/invariant.js';
import { isRecord } from '../../util/json.js';
import type { Message, MessageField } from './notation.js';
import { wellFormed } from './utf8.js';

export type Writer = protobuf.Writer;

interface Kept {
  readonly message: Message;
  readonly bytes: Uint8Array;
}

/** The messages of frozen objects. */
const kept = new WeakMap<object, Kept>();

/** Encodes a document. The result is cached if the document is frozen (by convention it is then deeply frozen). */
export function encodeMessage(message: Message, document: object): Uint8Array {
  const known = kept.get(document);
  if (known?.message === message) return known.bytes;
  const bytes = writeBytes((writer) => writeFields(writer, message, document as Record<string, unknown>));
  if (Object.isFrozen(document)) kept.set(document, { message, bytes });
  return bytes;
}

/** A pool of writers, which keep their memory. Encoding a list uses several writers at the same time. */
const idle: Writer[] = [];
const MAX_IDLE_BYTES = 1 << 20;

/** The bytes that a function writes. */
export function writeBytes(write: (writer: Writer) => void): Uint8Array {
  const writer = idle.pop() ?? new protobuf.Writer();
  write(writer);
  const bytes = writer.finish(true).slice();
  writer.reset();
  if (bytes.length <= MAX_IDLE_BYTES) idle.push(writer);
  return bytes;
}

function writeFields(writer: Writer, message: Message, holder: Readonly<Record<string, unknown>>): void {
  const { fields, positions } = message;
  // Most fields are absent, so iterating over the present keys is faster than looking up all fields.
  const values = new Array<unknown>(fields.length).fill(undefined);
  for (const key in holder) {
    const position = positions.get(key);
    if (position !== undefined) values[position] = holder[key];
  }
  for (let position = 0; position < fields.length; position++) {
    const field = fields[position] as MessageField;
    if (field.name === '') writeMessage(writer, field, field.tag, holder);
    else if (field.form === 'one') writeSingle(writer, field, values[position]);
    else if (field.form === 'list') writeList(writer, field, values[position]);
    else writeMap(writer, field, values[position]);
  }
}

function writeSingle(writer: Writer, field: MessageField, value: unknown): void {
  if (value !== undefined && value !== null) writeValue(writer, field, field.tag, value);
  else if (!field.pointer) writeValue(writer, field, field.tag, null);
}

function writeList(writer: Writer, field: MessageField, value: unknown): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) throw misfit(field, value);
  for (const item of value) {
    if (field.documents && isRecord(item)) writer.uint32(field.tag).bytes(encodeMessage(field.message, item));
    else writeValue(writer, field, field.tag, item ?? null);
  }
}

/** The tag of the key of a map entry. */
const KEY_TAG = 0x0a;

function writeMap(writer: Writer, field: MessageField, value: unknown): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value)) throw misfit(field, value);
  const tag = (2 << 3) | field.wireType;
  for (const key of sortedKeys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    writer.uint32(field.tag).fork().uint32(KEY_TAG).string(wellFormed(key));
    if (item !== null || field.type !== 'bytes') writeValue(writer, field, tag, item);
    writer.ldelim();
  }
}

/** Sorted by bytes. The order of UTF-16 code units differs only for characters outside of the basic plane. */
function sortedKeys(record: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(record);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as string) >= (keys[i] as string)) {
      keys.sort();
      break;
    }
  }
  return keys.some((key) => BEYOND_ASCII.test(key)) ? keys.sort(compareCodePoints) : keys;
}

const BEYOND_ASCII = /[\ud800-\uffff]/;

function compareCodePoints(left: string, right: string): number {
  for (let at = 0; at < left.length && at < right.length; at++) {
    const difference = (left.codePointAt(at) ?? 0) - (right.codePointAt(at) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Writes one value with its tag; null is the zero value. */
function writeValue(writer: Writer, field: MessageField, tag: number, value: unknown): void {
  const { type } = field;
  switch (type) {
    case 'string':
      if (typeof value !== 'string' && value !== null) throw misfit(field, value);
      writer.uint32(tag).string(wellFormed(value ?? ''));
      return;
    case 'int32':
      if (typeof value !== 'number' && value !== null) throw misfit(field, value);
      writer.uint32(tag).int32(value ?? 0);
      return;
    case 'int64':
      if (typeof value === 'bigint') writer.uint32(tag).int64(String(value));
      else if (typeof value === 'number' || value === null) writer.uint32(tag).int64(value ?? 0);
      else throw misfit(field, value);
      return;
    case 'bool':
      if (typeof value !== 'boolean' && value !== null) throw misfit(field, value);
      writer.uint32(tag).bool(value ?? false);
      return;
    case 'double':
      if (typeof value !== 'number' && typeof value !== 'bigint' && value !== null) throw misfit(field, value);
      writer.uint32(tag).double(Number(value));
      return;
    case 'bytes':
      if (typeof value !== 'string' && value !== null) throw misfit(field, value);
      // The writer decodes a string as base64.
      writer.uint32(tag).bytes(value ?? '');
      return;
    case 'raw':
      if (!(value instanceof Uint8Array)) throw misfit(field, value);
      writer.uint32(tag).bytes(value);
      return;
    case 'message':
      writeMessage(writer, field, tag, value);
      return;
    default:
      unreachable(type);
  }
}

function writeMessage(writer: Writer, field: MessageField, tag: number, value: unknown): void {
  const { message } = field;
  const fields = message.shape === undefined ? (value ?? NO_FIELDS) : message.shape.toFields(value);
  writer.uint32(tag).fork();
  if (fields !== undefined) {
    if (!isRecord(fields)) throw misfit(field, value);
    writeFields(writer, message, fields);
  }
  writer.ldelim();
}

const NO_FIELDS = Object.freeze({});

function misfit(field: MessageField, value: unknown): TypeError {
  const type = field.type === 'message' ? field.message.name : field.type;
  const what = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  return new TypeError(
    `orchplane: the field ${field.name} is a ${field.form === 'one' ? '' : `${field.form} of `}${type}, not ${what}`,
  );
}
