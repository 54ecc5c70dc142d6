/**
 * Normalizes a struct object before it is stored: fields in wire order, and empty lists and maps as the reference
 * server's storage returns them, which does not distinguish them from absent ones.
 */

import { deepFreeze, isRecord, type MutableRecord, setOwn } from '../util/json.js';
import { copySentEmpty } from './empty-values.js';
import {
  areInWireOrder,
  type Field,
  type FieldListing,
  listingOf,
  type ObjectNode,
  type SchemaNode,
} from './schema-node.js';

/**
 * Returns the value in its stored form; the value itself if it already has that form. With `isFinal` the result is
 * deeply frozen.
 */
export function arrange(node: SchemaNode, value: unknown, isFinal = false): unknown {
  // A frozen value comes from storage and already has the right form.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    if (node.type === 'list') return arrangeList(node.items, value, isFinal);
  } else if (isRecord(value)) {
    if (node.type === 'object' && node.representation === 'struct') return arrangeStruct(node, value, isFinal);
    if (node.type === 'map') return arrangeMap(node.values, value, isFinal);
  }
  return isFinal ? deepFreeze(value) : value;
}

function arrangeStruct(node: ObjectNode, record: MutableRecord, isFinal: boolean): MutableRecord {
  const keys = Object.keys(record);
  const listing = listingOf(node);
  const isInOrder = areInWireOrder(listing, keys);
  const arranged = isInOrder
    ? inWireOrder(listing, { record, keys }, isFinal)
    : reordered(listing.all, record, isFinal);
  if (arranged !== record) copySentEmpty(record, arranged);
  return isFinal ? Object.freeze(arranged) : arranged;
}

function inWireOrder(
  listing: FieldListing,
  { record, keys }: { readonly record: MutableRecord; readonly keys: readonly string[] },
  isFinal: boolean,
): MutableRecord {
  // Copies from the first difference on; most records need no change.
  let out: MutableRecord | undefined;
  for (let at = 0; at < keys.length; at++) {
    const name = keys[at] as string;
    const before = record[name];
    const after = typeof before === 'object' ? storedField(listing.named.get(name) as Field, before, isFinal) : before;
    if (out === undefined) {
      if (after === before && after !== undefined) continue;
      out = copyFirst(record, keys, at);
    }
    // Field names of structs are known, so plain assignment is safe (no `__proto__`).
    if (after !== undefined) out[name] = after;
  }
  return out ?? record;
}

/** Copies a record whose fields are in another order. Unknown fields are dropped. */
function reordered(fields: readonly Field[], record: MutableRecord, isFinal: boolean): MutableRecord {
  const out: MutableRecord = {};
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as Field;
    const { name } = field;
    if (!Object.hasOwn(record, name)) continue;
    const before = record[name];
    const value = typeof before === 'object' ? storedField(field, before, isFinal) : before;
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function copyFirst(record: MutableRecord, keys: readonly string[], count: number): MutableRecord {
  const out: MutableRecord = {};
  for (let index = 0; index < count; index++) out[keys[index] as string] = record[keys[index] as string];
  return out;
}

/** A field in its stored form; undefined if it is not on the wire. */
export function storedField({ node, presence }: Field, value: unknown, isFinal = false): unknown {
  if (value === undefined) return undefined;
  const keepsEmpty = presence === 'pointer' || presence === 'given';
  if (node.type !== 'object' && !keepsEmpty && isEmptyCollection(value, node)) {
    return presence === 'always' ? null : undefined;
  }
  return arrange(node, value, isFinal);
}

function isEmptyCollection(value: unknown, node: SchemaNode): boolean {
  if (node.type === 'list') return Array.isArray(value) && value.length === 0;
  if (node.type !== 'map' || !isRecord(value)) return false;
  for (const _key in value) return false;
  return true;
}

function arrangeList(items: SchemaNode, list: readonly unknown[], isFinal: boolean): readonly unknown[] {
  if (items.type === 'scalar' || items.type === 'any') return isFinal ? deepFreeze(list) : list;
  let arranged: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = arrange(items, list[index], isFinal);
    if (item === list[index]) continue;
    arranged ??= [...list];
    arranged[index] = item;
  }
  const result = arranged ?? list;
  return isFinal ? Object.freeze(result) : result;
}

function arrangeMap(values: SchemaNode, record: MutableRecord, isFinal: boolean): MutableRecord {
  if (values.type !== 'scalar' && values.type !== 'any') {
    for (const key of Object.keys(record)) setOwn(record, key, arrange(values, record[key], isFinal));
  }
  return isFinal ? deepFreeze(record) : record;
}
