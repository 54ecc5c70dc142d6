/**
 * The size of an object as the reference server stores it: built-in kinds as protobuf, custom resources and CRDs as JSON.
 */
import type { ApiObject } from '../meta/object.js';
import { escapeForPages, printJson } from '../util/json.js';
import { hasMoreCharacters } from '../util/json-bytes.js';
import type { ListNode, MapNode, ObjectNode, ScalarType, SchemaNode } from './schema-node.js';

/** A character has at most three bytes in UTF-8, and six with an escape of JSON. */
const MOST_BYTES_PER_CHARACTER = 6;

/** The size of an object if it exceeds `max`. Exact for JSON, within a few bytes per value for built-in kinds. */
export function excessiveBytes(
  { schema, isJson }: { readonly schema: ObjectNode; readonly isJson: boolean },
  object: ApiObject,
  max: number,
): number | undefined {
  // Few objects are so large that their size has to be known.
  if (max === Number.POSITIVE_INFINITY || !hasMoreCharacters(object, max / MOST_BYTES_PER_CHARACTER)) return undefined;
  const bytes = isJson ? jsonBytes(object) : protobufBytes(schema, object);
  return bytes > max ? bytes : undefined;
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(escapeForPages(printJson(value))).length;
}

/** A field number and a length of less than 128 bytes. */
const TAG_BYTES = 2;
/** Seconds since 1970, in a message of its own. */
const TIME_BYTES = 6;

/** Without the tag of the value itself. */
function protobufBytes(node: SchemaNode, value: unknown): number {
  if (value === undefined || value === null) return 0;
  switch (node.type) {
    case 'object': {
      const members = value as Readonly<Record<string, unknown>>;
      let bytes = 0;
      for (const { name, node: type, presence } of node.fields.values()) {
        const member = members[name];
        // Scalars that are not pointers are written even if they are empty.
        if (member !== undefined || (type.type === 'scalar' && presence !== 'pointer')) bytes += TAG_BYTES;
        bytes += protobufBytes(type, member);
      }
      return bytes;
    }
    case 'list':
    case 'map':
      return rememberedBytes(node, value);
    case 'scalar':
      return scalarBytes(node.scalar, value);
    case 'any':
      return jsonBytes(value);
  }
}

/** The bytes of long lists and maps, which are frozen: most writes change only a few parts of an object. */
const longParts = new WeakMap<object, number>();
const LONG_BYTES = 4_096;

function rememberedBytes(node: ListNode | MapNode, value: object): number {
  const known = longParts.get(value);
  if (known !== undefined) return known;
  let bytes = 0;
  if (node.type === 'list') {
    for (const item of value as readonly unknown[]) bytes += TAG_BYTES + protobufBytes(node.items, item);
  } else {
    for (const [key, item] of Object.entries(value))
      bytes += 3 * TAG_BYTES + utf8Bytes(key) + protobufBytes(node.values, item);
  }
  if (bytes > LONG_BYTES && Object.isFrozen(value)) longParts.set(value, bytes);
  return bytes;
}

/** Numbers have no length. */
function scalarBytes(type: ScalarType, value: unknown): number {
  if (typeof value === 'number') return value < 0 ? 9 : Math.floor(Math.log2(Math.max(1, value)) / 7);
  if (typeof value !== 'string') return 0;
  if (type === 'time' || type === 'microTime') return TIME_BYTES;
  // base64 has four characters for three bytes.
  return type === 'bytes' ? (value.length * 3) / 4 : utf8Bytes(value);
}

/** Without an encoder: there may be many short texts. */
function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Two surrogates have four bytes together.
    if (unit > 0x7f) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
