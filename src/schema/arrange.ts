/**
 * The last touch on an object of structs before it is stored: fields in wire order, whoever filled them in, and empty
 * lists and maps as the reference server's storage gives them back, which does not tell them from absent ones.
 */
import { isRecord, type MutableRecord, setOwn } from '../util/json.js';
import { type Field, fieldsOf, type ObjectNode, type Structural } from './structural.js';

/** The value in its stored form: itself when it is in that form already. */
export function arrange(node: Structural, value: unknown): unknown {
  // What is frozen came from the store, in the right form.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  switch (node.type) {
    case 'object':
      return node.manner === 'struct' && isRecord(value) ? arrangeStruct(node, value) : value;
    case 'list':
      return Array.isArray(value) ? arrangeList(node.items, value) : value;
    case 'map':
      return isRecord(value) ? arrangeMap(node.values, value) : value;
    case 'scalar':
    case 'any':
      return value;
  }
}

function arrangeStruct(node: ObjectNode, record: MutableRecord): MutableRecord {
  const keys = Object.keys(record);
  const fields = fieldsOf(node);
  // Copied from the first difference on: most records are as they should be.
  let out: MutableRecord | undefined;
  let kept = 0;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as Field;
    const { name } = field;
    if (!Object.hasOwn(record, name)) continue;
    const before = record[name];
    const after = typeof before === 'object' ? storedField(field, before) : before;
    if (out === undefined) {
      if (after === before && after !== undefined && keys[kept] === name) {
        kept++;
        continue;
      }
      out = firstOf(record, keys, kept);
    }
    if (after !== undefined) setOwn(out, name, after);
  }
  if (out !== undefined) return out;
  return kept === keys.length ? record : firstOf(record, keys, kept);
}

function firstOf(record: MutableRecord, keys: readonly string[], count: number): MutableRecord {
  const out: MutableRecord = {};
  for (let index = 0; index < count; index++) setOwn(out, keys[index] as string, record[keys[index] as string]);
  return out;
}

/** A field as it is stored; undefined when it is not on the wire. */
export function storedField({ node, presence }: Field, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (presence !== 'pointer' && isEmptyCollection(value, node)) return presence === 'always' ? null : undefined;
  return arrange(node, value);
}

function isEmptyCollection(value: unknown, node: Structural): boolean {
  if (node.type === 'list') return Array.isArray(value) && value.length === 0;
  if (node.type !== 'map' || !isRecord(value)) return false;
  for (const _key in value) return false;
  return true;
}

function arrangeList(items: Structural, list: readonly unknown[]): readonly unknown[] {
  if (items.type === 'scalar' || items.type === 'any') return list;
  const arranged = list.map((item) => arrange(items, item));
  return arranged.some((item, index) => item !== list[index]) ? arranged : list;
}

function arrangeMap(values: Structural, record: MutableRecord): MutableRecord {
  if (values.type === 'scalar' || values.type === 'any') return record;
  for (const key of Object.keys(record)) setOwn(record, key, arrange(values, record[key]));
  return record;
}
