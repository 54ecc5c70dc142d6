/**
 * Removes fields from a value: the owned fields that an apply gives up.
 * upstream: structured-merge-diff/typed/remove.go
 */
import type { ListNode, SchemaNode } from '../../schema/schema-node.js';
import { sameItems } from '../../util/arrays.js';
import { type MutableRecord, setOwn } from '../../util/json.js';
import { childOf, type FieldSet, isEmptySet, isMember } from './field-set.js';
import { fieldElement } from './path-element.js';
import { elementOrNone, hasItems, hasMembers, isEmptyRecord, memberNode, recordOf, UNTYPED } from './typed.js';

/**
 * Removes the fields of a set from a value. Returns the same value if it has none of them. A map or list that loses all
 * its content becomes null.
 */
export function removeFields(node: SchemaNode, value: unknown, fields: FieldSet): unknown {
  if (isEmptySet(fields)) return value;
  if (hasMembers(node, value)) {
    const record = recordOf(value);
    return isEmptyRecord(record) ? null : removeMembers((name) => memberNode(node, name) ?? UNTYPED, record, fields);
  }
  if (hasItems(node) && Array.isArray(value)) return removeItems(node, value, fields);
  // An atomic value has no fields of its own: a set that contains some means the whole value.
  return typeof value === 'object' ? null : value;
}

function removeItems(list: ListNode, items: readonly unknown[], fields: FieldSet): unknown {
  const kept: unknown[] = [];
  for (const item of items) {
    const element = elementOrNone(list, item);
    const inner = element === undefined ? undefined : childOf(fields, element);
    if (isMember(inner)) continue;
    kept.push(inner === undefined ? item : removeFields(list.items, item, inner));
  }
  if (kept.length === 0) return null;
  return sameItems(kept, items) ? items : kept;
}

function removeMembers(
  nodeOf: (name: string) => SchemaNode,
  record: Readonly<Record<string, unknown>>,
  fields: FieldSet,
): unknown {
  const out: MutableRecord = {};
  let isChanged = false;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    const inner = childOf(fields, fieldElement(name));
    if (isMember(inner)) {
      isChanged = true;
      continue;
    }
    const kept = inner === undefined ? value : removeFields(nodeOf(name), value, inner);
    if (kept !== value) isChanged = true;
    setOwn(out, name, kept);
  }
  if (!isChanged) return record;
  return isEmptyRecord(out) ? null : out;
}
