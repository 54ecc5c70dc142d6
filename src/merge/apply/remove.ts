/**
 * A document without some of its fields. What is in the set goes with everything below it.
 */
import type { ListNode, Structural } from '../../schema/structural.js';
import { type MutableRecord, setOwn } from '../../util/json.js';
import { sameItems } from '../../util/same-items.js';
import { below, type FieldSet, isEmptySet, isMember } from './field-set.js';
import { elementOrNone } from './list-elements.js';
import { fieldElement } from './path-element.js';
import { hasItems, hasMembers, isEmptyRecord, memberNode, recordOf, UNTYPED } from './typing.js';

/** The same document when nothing of it is in the set. A map or list that loses all it had becomes null. */
export function removeFields(node: Structural, value: unknown, fields: FieldSet): unknown {
  if (isEmptySet(fields)) return value;
  if (hasMembers(node, value)) {
    const record = recordOf(value);
    return isEmptyRecord(record) ? null : removeMembers((name) => memberNode(node, name) ?? UNTYPED, record, fields);
  }
  if (hasItems(node) && Array.isArray(value)) return removeItems(node, value, fields);
  // What is owned as a whole has no fields of its own: a set that names some means all of it.
  return typeof value === 'object' ? null : value;
}

function removeItems(list: ListNode, items: readonly unknown[], fields: FieldSet): unknown {
  const kept: unknown[] = [];
  for (const item of items) {
    const element = elementOrNone(list, item);
    const inner = element === undefined ? undefined : below(fields, element);
    if (isMember(inner)) continue;
    kept.push(inner === undefined ? item : removeFields(list.items, item, inner));
  }
  if (kept.length === 0) return null;
  return sameItems(kept, items) ? items : kept;
}

function removeMembers(
  childOf: (name: string) => Structural,
  record: Readonly<Record<string, unknown>>,
  fields: FieldSet,
): unknown {
  const out: MutableRecord = {};
  let isChanged = false;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    const inner = below(fields, fieldElement(name));
    if (isMember(inner)) {
      isChanged = true;
      continue;
    }
    const kept = inner === undefined ? value : removeFields(childOf(name), value, inner);
    if (kept !== value) isChanged = true;
    setOwn(out, name, kept);
  }
  if (!isChanged) return record;
  return isEmptyRecord(out) ? null : out;
}
