/**
 * A document of structs with holes → one that code for whole objects can read: structs that are always there are there,
 * nulls are gone. Nothing is judged and no default is filled in.
 */
import { isRecord, type MutableRecord, setOwn } from '../util/json.js';
import { untouchedFields, zeroValue } from './decode.js';
import type { ObjectNode, Structural } from './structural.js';

export function complete(node: Structural, value: unknown): unknown {
  switch (node.type) {
    case 'object':
      return node.manner === 'struct' ? completeStruct(node, isRecord(value) ? value : {}) : value;
    case 'map':
      return isRecord(value) ? mapValues(value, (item) => complete(node.values, item)) : value;
    case 'list':
      return Array.isArray(value) ? value.map((item) => complete(node.items, item)) : value;
    case 'scalar':
      return value ?? zeroValue(node);
    case 'any':
      return value;
  }
}

function completeStruct(node: ObjectNode, record: Readonly<Record<string, unknown>>): MutableRecord {
  const out = untouchedFields(node);
  for (const { name, node: child } of node.fields.values()) {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if (value !== undefined && value !== null) setOwn(out, name, complete(child, value));
  }
  return out;
}

function mapValues(record: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown): MutableRecord {
  const out: MutableRecord = {};
  for (const key of Object.keys(record)) setOwn(out, key, change(record[key]));
  return out;
}
