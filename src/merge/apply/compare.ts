/**
 * Compares two versions of an object and returns the added, modified and removed fields as field sets: the basis of
 * field ownership by updates and of conflicts. Both objects are in wire form and have the same schema.
 */

import { hasOwnSentEmpty } from '../../schema/empty-values.js';
import { hasQuantityText } from '../../schema/quantity-texts.js';
import type { ListNode, ObjectNode, SchemaNode } from '../../schema/schema-node.js';
import { deepEqual } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { EMPTY_SET, type FieldSet, FieldSetBuilder, LEAF, union } from './field-set.js';
import { compareElements, fieldElement, type PathElement } from './path-element.js';
import {
  type DeclaredField,
  declaredByName,
  declaredFields,
  hasItems,
  hasMembers,
  indexItems,
  isEmptyRecord,
  listOf,
  type MemberNode,
  memberNode,
  recordOf,
  UNTYPED,
} from './typed.js';

/** The result of a comparison. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The comparison of equal objects. */
export const NO_CHANGE: Comparison = Object.freeze({ added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET });

/** Compares two values of the same schema. */
export function compare(node: SchemaNode, before: unknown, after: unknown): Comparison {
  const change = compareValues(node, before, after);
  if (change === undefined) return NO_CHANGE;
  const { added = EMPTY_SET, modified = EMPTY_SET, removed = EMPTY_SET } = change;
  return { added, modified, removed };
}

/** The fields whose value or existence changed (modified or added). */
export function changedFields(comparison: Comparison): FieldSet {
  return getOrInsertComputed(changed, comparison, ({ modified, added }) => union(modified, added));
}

/** Cached, because it is needed for every manager and again for the writer. */
const changed = new WeakMap<Comparison, FieldSet>();

/** The change at a node; `added: LEAF` means that the node itself was added. An absent set is empty. */
interface Change {
  readonly added?: FieldSet | undefined;
  readonly modified?: FieldSet | undefined;
  readonly removed?: FieldSet | undefined;
}

const MODIFIED: Change = Object.freeze({ added: undefined, modified: LEAF, removed: undefined });
const ADDED_VALUE: Change = Object.freeze({ added: LEAF, modified: undefined, removed: undefined });

function compareValues(node: SchemaNode, before: unknown, after: unknown): Change | undefined {
  if (before === after) return undefined;
  if (node.type === 'scalar') {
    if (before === undefined) return ADDED_VALUE;
    if (after !== undefined) return deepEqual(before, after) ? undefined : MODIFIED;
  }
  if (before === undefined) return { added: ownableFields(node, after), modified: undefined, removed: undefined };
  if (after === undefined) return { added: undefined, modified: undefined, removed: ownableFields(node, before) };
  if (node.type === 'list') {
    if (node.listType !== 'atomic') return compareItems(node, before, after);
  } else if (node.type !== 'scalar' && !node.atomic) {
    return node.type === 'any' ? compareUntyped(before, after) : compareMembers(node, before, after);
  }
  return isSameAtomic(before, after) ? undefined : MODIFIED;
}

/**
 * Whether an atomic value is unchanged. In the items of a list, an empty list or map that the client sends is a change,
 * although it is not stored, and so is another spelling of a quantity.
 * upstream: structured-merge-diff/value/listreflect.go listReflect.EqualsUsing
 */
export function isSameAtomic(before: unknown, after: unknown): boolean {
  return deepEqual(before, after) && !isSentDifferently(before, after, false);
}

/** For equal values. Parts that the update shares with the live object were not sent. */
function isSentDifferently(before: unknown, after: unknown, isInList: boolean): boolean {
  if (before === after || !isObject(before) || !isObject(after)) return false;
  if (isInList && (hasOwnSentEmpty(after) || hasQuantityText(after))) return true;
  const inside = isInList || Array.isArray(after);
  return Object.keys(after).some((key) => isSentDifferently(before[key], after[key], inside));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * Two maps are compared by their members. If a map became another type, or vice versa, the node is modified and its
 * members are added or removed.
 */
function compareUntyped(before: unknown, after: unknown): Change | undefined {
  const wasMap = hasMembers(UNTYPED, before);
  const isMap = hasMembers(UNTYPED, after);
  if (wasMap && isMap) return compareMembers(UNTYPED, before, after);
  if (!wasMap && !isMap) return deepEqual(before, after) ? undefined : MODIFIED;
  // Null counts as the type of the other value.
  if (before === null || after === null) return compareMembers(UNTYPED, before, after);
  return { ...compareMembers(UNTYPED, wasMap ? before : null, isMap ? after : null), modified: LEAF };
}

function compareMembers(node: MemberNode, before: unknown, after: unknown): Change | undefined {
  const left = recordOf(before);
  const right = recordOf(after);
  // Without members only null and empty can differ.
  if (isEmptyRecord(right) && isEmptyRecord(left)) return deepEqual(before, after) ? undefined : MODIFIED;
  const changes: MemberChange[] = [];
  const isOpen = node.type !== 'object' || node.preserveUnknown;
  const fields = node.type === 'object' ? declaredByName(node) : undefined;
  let inBoth = 0;
  for (const name of Object.keys(left)) {
    const was = left[name];
    let is = right[name];
    if (Object.hasOwn(right, name)) inBoth++;
    else is = undefined;
    if (was === is) continue;
    const field = fields?.get(name);
    if (field !== undefined) note(changes, field, compareValues(field.node, was, is));
    else if (isOpen) note(changes, undeclared(name), compareMember(node, name, was, is));
  }
  const names = Object.keys(right);
  // Usually both have the same members.
  for (let index = 0; names.length > inBoth && index < names.length; index++) {
    const name = names[index] as string;
    if (Object.hasOwn(left, name) || right[name] === undefined) continue;
    const field = fields?.get(name);
    if (field !== undefined) note(changes, field, compareValues(field.node, undefined, right[name]));
    else if (isOpen) note(changes, undeclared(name), compareMember(node, name, undefined, right[name]));
  }
  return combineChanges(changes);
}

function compareMember(node: MemberNode, name: string, before: unknown, after: unknown): Change | undefined {
  return compareValues(memberNode(node, name) ?? UNTYPED, before, after);
}

function compareItems(list: ListNode, before: unknown, after: unknown): Change | undefined {
  const left = listOf(before);
  const right = listOf(after);
  if (left.length === 0 && right.length === 0) return deepEqual(before, after) ? undefined : MODIFIED;
  // Indexes of long lists take long, and most updates do not change a list.
  if (isSameAtomic(left, right)) return undefined;
  const was = indexItems(list, left).byElement;
  const is = indexItems(list, right).byElement;
  const changes: MemberChange[] = [];
  for (const [element, items] of was) {
    note(changes, { element, order: NO_ORDER }, compareSameItems(list, items, is.get(element) ?? []));
  }
  for (const [element, items] of is) {
    if (!was.has(element)) note(changes, { element, order: NO_ORDER }, compareSameItems(list, [], items));
  }
  return combineChanges(changes);
}

/** Compares the items of one path element; several items with the same element are owned as a whole. */
function compareSameItems(list: ListNode, before: readonly unknown[], after: readonly unknown[]): Change | undefined {
  const [was] = before;
  const [is] = after;
  if (before.length <= 1 && after.length <= 1) {
    return was === undefined && is === undefined ? undefined : compareValues(list.items, was, is);
  }
  if (before.length > 1 && after.length > 1) return deepEqual(before, after) ? undefined : MODIFIED;
  if (before.length > 1) return { removed: LEAF, added: is === undefined ? undefined : ownableFields(list.items, is) };
  return { added: LEAF, removed: was === undefined ? undefined : ownableFields(list.items, was) };
}

/** The field set of a value that is added or removed as a whole: the node itself and everything ownable below it. */
export function ownableFields(node: SchemaNode, value: unknown): FieldSet {
  if (hasMembers(node, value)) return everyMember(node, recordOf(value));
  if (hasItems(node)) return everyItem(node, listOf(value));
  return LEAF;
}

function everyMember(node: MemberNode, record: Readonly<Record<string, unknown>>): FieldSet {
  if (node.type === 'object' && !node.preserveUnknown) return everyField(node, record);
  const siblings = new FieldSetBuilder(true);
  if (node.type === 'object') {
    for (const field of declaredFields(node)) {
      const value = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
      if (value !== undefined) siblings.addNext(field.element, ownableFields(field.node, value));
    }
  }
  for (const name of Object.keys(record)) {
    if (record[name] === undefined || (node.type === 'object' && node.fields.has(name))) continue;
    siblings.add(fieldElement(name), ownableFields(memberNode(node, name) ?? UNTYPED, record[name]));
  }
  return siblings.finish() ?? LEAF;
}

/** The field set of an object whose members are all declared in the schema. */
function everyField(node: ObjectNode, record: Readonly<Record<string, unknown>>): FieldSet {
  let set: Building | undefined;
  const fields = declaredFields(node);
  for (let index = 0; index < fields.length; index++) {
    const { name, element, node: inner } = fields[index] as DeclaredField;
    const value = record[name];
    if (value === undefined || !Object.hasOwn(record, name)) continue;
    set ??= { '.': LEAF };
    set[element] = inner.type === 'scalar' ? LEAF : ownableFields(inner, value);
  }
  return set ?? LEAF;
}

function everyItem(list: ListNode, items: readonly unknown[]): FieldSet {
  const siblings = new FieldSetBuilder(true);
  for (const [element, same] of indexItems(list, items).byElement) {
    siblings.add(element, same.length > 1 ? LEAF : ownableFields(list.items, same[0]));
  }
  return siblings.finish() ?? LEAF;
}

/** A changed member. */
interface MemberChange {
  readonly element: PathElement;
  /** The index among the declared fields, which are in canonical order. */
  readonly order: number;
  readonly change: Change;
}

/** For map keys and list items. */
const NO_ORDER = -1;

function undeclared(name: string): Pick<MemberChange, 'element' | 'order'> {
  return { element: fieldElement(name), order: NO_ORDER };
}

function note(
  changes: MemberChange[],
  { element, order }: Pick<DeclaredField, 'element' | 'order'>,
  change: Change | undefined,
): void {
  if (change !== undefined) changes.push({ element, order, change });
}

/** Combines the changes of members into the three sets of their parent. */
function combineChanges(changes: MemberChange[]): Change | undefined {
  if (changes.length === 0) return undefined;
  if (changes.length > 1) changes.sort(byElement);
  let added: Building | undefined;
  let modified: Building | undefined;
  let removed: Building | undefined;
  for (let index = 0; index < changes.length; index++) {
    const { element, change } = changes[index] as MemberChange;
    if (change.added !== undefined) {
      added ??= {};
      added[element] = change.added;
    }
    if (change.modified !== undefined) {
      modified ??= {};
      modified[element] = change.modified;
    }
    if (change.removed !== undefined) {
      removed ??= {};
      removed[element] = change.removed;
    }
  }
  return { added, modified, removed };
}

type Building = Record<PathElement, FieldSet>;

function byElement(left: MemberChange, right: MemberChange): number {
  if (left.order !== NO_ORDER && right.order !== NO_ORDER) return left.order - right.order;
  return compareElements(left.element, right.element);
}
