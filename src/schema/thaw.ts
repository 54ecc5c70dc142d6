/**
 * Copies of stored parts, made by the schema: whatever may be changed by who gets them is copied, and what goes from
 * object to object as it is stays the same.
 */
import { copyJson, type MutableRecord } from '../util/json.js';
import type { ListNode, ObjectNode, Structural } from './structural.js';

/** Says of a list or a reusable struct that nobody will change it. */
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

/** The struct itself is copied in any case. Its names are ours. */
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
