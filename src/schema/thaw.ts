/**
 * Copies stored parts by their schema: everything that the receiver may change is copied, and shared parts stay shared.
 */
import { copyJson, type MutableRecord } from '../util/json.js';
import type { ListNode, ObjectNode, Structural } from './structural.js';

/** Reports whether a list or a reusable struct may be shared, because it will not be changed. */
export type IsShared = (part: object, node: ListNode | ObjectNode) => boolean;

export function thawed(node: Structural | undefined, value: unknown, isShared: IsShared): unknown {
  if (typeof value !== 'object' || value === null || node === undefined) return copyJson(value);
  if (node.type === 'list' && Array.isArray(value)) {
    return isShared(value, node) ? value : value.map((item) => thawed(node.items, item, isShared));
  }
  if (node.type !== 'object' || Array.isArray(value)) return copyJson(value);
  if (node.reusable === true && isShared(value, node)) return value;
  return thawedStruct(node, value as Readonly<Record<string, unknown>>, isShared);
}

/**
 * Copies the struct itself and all parts that are not shared. Field names of structs are known, so plain assignment is
 * safe.
 */
export function thawedStruct(
  node: ObjectNode,
  struct: Readonly<Record<string, unknown>>,
  isShared: IsShared,
): MutableRecord {
  const out: MutableRecord = { ...struct };
  for (const name in struct) {
    const item = struct[name];
    if (typeof item === 'object') out[name] = thawed(node.fields.get(name)?.node, item, isShared);
  }
  return out;
}
