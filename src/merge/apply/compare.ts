/**
 * What has changed between two states of an object, as sets of fields: the basis of ownership by update and of
 * conflicts. Both states are in wire form, typed by one schema.
 */
import type { ListNode, Structural } from '../../schema/structural.js';
import { deepEqual } from '../../util/json.js';
import { keepForm } from '../../util/keep-form.js';
import { type FieldSet, LEAF, NOTHING, Siblings, union } from './field-set.js';
import { indexItems } from './list-elements.js';
import { fieldElement, type PathElement } from './path-element.js';
import {
  declaredFields,
  hasItems,
  hasMembers,
  isEmptyRecord,
  listOf,
  type MemberNode,
  memberNode,
  recordOf,
  UNTYPED,
} from './typing.js';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const NO_CHANGE: Comparison = Object.freeze({ added: NOTHING, modified: NOTHING, removed: NOTHING });

export function compare(node: Structural, before: unknown, after: unknown): Comparison {
  const change = compareValues(node, before, after);
  if (change === undefined) return NO_CHANGE;
  const { added = NOTHING, modified = NOTHING, removed = NOTHING } = change;
  return { added, modified, removed };
}

/** What now has another value or another existence. */
export function changedFields({ added, modified }: Comparison): FieldSet {
  return union(modified, added);
}

/** A change at a node; `added: LEAF` says that the node itself was added. Absent: nothing of that sort. */
interface Change {
  readonly added?: FieldSet | undefined;
  readonly modified?: FieldSet | undefined;
  readonly removed?: FieldSet | undefined;
}

const MODIFIED: Change = Object.freeze({ modified: LEAF });

function compareValues(node: Structural, before: unknown, after: unknown): Change | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: everything(node, after) };
  if (after === undefined) return { removed: everything(node, before) };
  if (node.type === 'any' && !node.atomic) return compareUntyped(before, after);
  if (hasMembers(node, after)) return compareMembers(node, before, after);
  if (hasItems(node)) return compareItems(node, before, after);
  return deepEqual(before, after) ? undefined : MODIFIED;
}

/** Where both are maps they are compared as such; a map that became something else, or the other way, is both. */
function compareUntyped(before: unknown, after: unknown): Change | undefined {
  const wasMap = hasMembers(UNTYPED, before);
  const isMap = hasMembers(UNTYPED, after);
  if (wasMap && isMap) return compareMembers(UNTYPED, before, after);
  if (!wasMap && !isMap) return deepEqual(before, after) ? undefined : MODIFIED;
  // Null takes the form of the other.
  if (before === null || after === null) return compareMembers(UNTYPED, before, after);
  return { ...compareMembers(UNTYPED, wasMap ? before : null, isMap ? after : null), modified: LEAF };
}

function compareMembers(node: MemberNode, before: unknown, after: unknown): Change | undefined {
  const left = recordOf(before);
  const right = recordOf(after);
  // Nothing to own inside: what remains is the difference between null and empty.
  if (isEmptyRecord(left) && isEmptyRecord(right)) return deepEqual(before, after) ? undefined : MODIFIED;
  const changes = new Changes();
  if (node.type === 'object') {
    for (const field of declaredFields(node)) {
      const was = Object.hasOwn(left, field.name) ? left[field.name] : undefined;
      const is = Object.hasOwn(right, field.name) ? right[field.name] : undefined;
      if (was !== is) changes.add(field.element, compareValues(field.node, was, is));
    }
    if (!node.preserveUnknown) return changes.finish();
  }
  for (const name of Object.keys(left)) {
    if (node.type === 'object' && node.fields.has(name)) continue;
    const is = Object.hasOwn(right, name) ? right[name] : undefined;
    changes.add(fieldElement(name), compareMember(node, name, left[name], is));
  }
  for (const name of Object.keys(right)) {
    if (Object.hasOwn(left, name) || (node.type === 'object' && node.fields.has(name))) continue;
    changes.add(fieldElement(name), compareMember(node, name, undefined, right[name]));
  }
  return changes.finish();
}

function compareMember(node: MemberNode, name: string, before: unknown, after: unknown): Change | undefined {
  return compareValues(memberNode(node, name) ?? UNTYPED, before, after);
}

function compareItems(list: ListNode, before: unknown, after: unknown): Change | undefined {
  const left = listOf(before);
  const right = listOf(after);
  if (left.length === 0 && right.length === 0) return deepEqual(before, after) ? undefined : MODIFIED;
  const was = indexItems(list, left).byElement;
  const is = indexItems(list, right).byElement;
  const changes = new Changes();
  for (const [element, items] of was) changes.add(element, compareSameItems(list, items, is.get(element) ?? []));
  for (const [element, items] of is) {
    if (!was.has(element)) changes.add(element, compareSameItems(list, [], items));
  }
  return changes.finish();
}

/** Items under one element; more than one of them are owned as a whole. */
function compareSameItems(list: ListNode, before: readonly unknown[], after: readonly unknown[]): Change | undefined {
  const [was] = before;
  const [is] = after;
  if (before.length <= 1 && after.length <= 1) {
    return was === undefined && is === undefined ? undefined : compareValues(list.items, was, is);
  }
  if (before.length > 1 && after.length > 1) return deepEqual(before, after) ? undefined : MODIFIED;
  if (before.length > 1) return { removed: LEAF, added: is === undefined ? undefined : everything(list.items, is) };
  return { added: LEAF, removed: was === undefined ? undefined : everything(list.items, was) };
}

/** What can be owned inside reusable parts. A part is of one type for good. */
const inside = new WeakMap<object, FieldSet>();

/** All that comes into being, or goes, with a value: the node itself, and what can be owned below it. */
function everything(node: Structural, value: unknown): FieldSet {
  if (hasMembers(node, value)) {
    const record = recordOf(value);
    if (node.type !== 'object' || node.reusable !== true || !Object.isFrozen(record)) return everyMember(node, record);
    // The same part goes into many objects.
    let fields = inside.get(record);
    if (fields === undefined) {
      fields = everyMember(node, record);
      inside.set(record, fields);
    }
    return fields;
  }
  if (hasItems(node)) return everyItem(node, listOf(value));
  return LEAF;
}

function everyMember(node: MemberNode, record: Readonly<Record<string, unknown>>): FieldSet {
  const siblings = new Siblings(true);
  if (node.type === 'object') {
    for (const field of declaredFields(node)) {
      const value = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
      if (value !== undefined) siblings.addNext(field.element, everything(field.node, value));
    }
    if (!node.preserveUnknown) return siblings.finish() ?? LEAF;
  }
  for (const name of Object.keys(record)) {
    if (record[name] === undefined || (node.type === 'object' && node.fields.has(name))) continue;
    siblings.add(fieldElement(name), everything(memberNode(node, name) ?? UNTYPED, record[name]));
  }
  return siblings.finish() ?? LEAF;
}

function everyItem(list: ListNode, items: readonly unknown[]): FieldSet {
  const siblings = new Siblings(true);
  for (const [element, same] of indexItems(list, items).byElement) {
    siblings.add(element, same.length > 1 ? LEAF : everything(list.items, same[0]));
  }
  return siblings.finish() ?? LEAF;
}

/** The changes of members, sorted into the three sets of the node above them. */
class Changes {
  readonly #added = new LazySiblings();
  readonly #modified = new LazySiblings();
  readonly #removed = new LazySiblings();
  #isEmpty = true;

  add(element: PathElement, change: Change | undefined): void {
    if (change === undefined) return;
    this.#isEmpty = false;
    this.#added.add(element, change.added);
    this.#modified.add(element, change.modified);
    this.#removed.add(element, change.removed);
  }

  finish(): Change | undefined {
    if (this.#isEmpty) return undefined;
    return { added: this.#added.finish(), modified: this.#modified.finish(), removed: this.#removed.finish() };
  }
}

/** Siblings that are made when the first of them is found: most nodes of most objects have not changed. */
class LazySiblings {
  #siblings: Siblings | undefined;

  add(element: PathElement, node: FieldSet | undefined): void {
    if (node === undefined) return;
    this.#siblings ??= new Siblings(false);
    this.#siblings.add(element, node);
  }

  finish(): FieldSet | undefined {
    return this.#siblings?.finish();
  }
}

keepForm(new Changes());
