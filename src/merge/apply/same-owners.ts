/**
 * Fast paths of ownership: an update that only changes fields which the writer already owns, and a new object that has
 * exactly the same fields as the previous one. Both avoid computing a comparison.
 *
 * Both walks stop as soon as the case is not that simple; the caller then uses the general algorithm (`ownership.ts`).
 */
import type { ObjectNode, SchemaNode } from '../../schema/schema-node.js';
import { deepEqual, isRecord } from '../../util/json.js';
import { isSameAtomic, ownableFields } from './compare.js';
import { childOf, EMPTY_SET, type FieldSet, isEmptySet, isMember, SELF, sameSet } from './field-set.js';
import { fieldElement } from './path-element.js';
import {
  type DeclaredField,
  declaredByName,
  hasItems,
  hasMembers,
  type MemberNode,
  memberNode,
  UNTYPED,
} from './typed.js';

type Members = Readonly<Record<string, unknown>>;

/** The field sets before the update. */
interface Owners {
  readonly mine: FieldSet;
  /** Of all other managers. */
  readonly theirs: readonly FieldSet[];
}

/** The extent of a change: `own`: only values that the writer alone owns; `other`: possibly others. */
export type ChangeExtent = 'none' | 'own' | 'other';

/** Both values match the schema of the node. */
export function classifyChange(node: ObjectNode, before: unknown, after: unknown, owners: Owners): ChangeExtent {
  return isRecord(before) && isRecord(after) ? classifyMembers(node, before, after, owners) : 'other';
}

function classifyMembers(node: ObjectNode, before: Members, after: Members, owners: Owners): ChangeExtent {
  const fields = declaredByName(node);
  let found: ChangeExtent = 'none';
  let inBoth = 0;
  const names = Object.keys(before);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const was = before[name];
    let is = after[name];
    if (was === is && was !== undefined) {
      inBoth++;
      continue;
    }
    if (Object.hasOwn(after, name)) inBoth++;
    else is = undefined;
    if (was === is) continue;
    const field = fields.get(name);
    if (field === undefined && !node.preserveUnknown) continue;
    if (field === undefined || was === undefined || is === undefined) return 'other';
    const inside = classifyValueChange(field, was, is, owners);
    if (inside === 'other') return inside;
    if (inside === 'own') found = inside;
  }
  if (Object.keys(after).length > inBoth) {
    for (const name of Object.keys(after)) {
      if (Object.hasOwn(before, name) || after[name] === undefined) continue;
      if (node.preserveUnknown || fields.has(name)) return 'other';
    }
  }
  return found;
}

function classifyValueChange(
  { node, element }: DeclaredField,
  was: unknown,
  is: unknown,
  owners: Owners,
): ChangeExtent {
  if (node.type === 'object' && !node.atomic && isRecord(was) && isRecord(is)) {
    return classifyMembers(node, was, is, ownersBelow(owners, element));
  }
  if (isOwnedAsWhole(node) ? isSameAtomic(was, is) : deepEqual(was, is)) return 'none';
  if (!isOwnedAsWhole(node)) return 'other';
  const { mine, theirs } = ownersBelow(owners, element);
  return isMember(mine) && mine !== NO_ELEMENT && theirs.length === 0 ? 'own' : 'other';
}

/** Stands for an element that is not in the set. */
const NO_ELEMENT: FieldSet = Object.freeze({});

function ownersBelow({ mine, theirs }: Owners, element: string): Owners {
  const inner = theirs.length === 0 ? theirs : theirs.flatMap((set) => childOf(set, element) ?? []);
  return { mine: childOf(mine, element) ?? NO_ELEMENT, theirs: inner };
}

/** Reports whether a node is owned as a whole. */
function isOwnedAsWhole(node: SchemaNode): boolean {
  if (node.type === 'list') return node.listType === 'atomic';
  return node.type === 'scalar' || node.atomic;
}

/** Reports whether a set contains exactly the fields that `after` has in addition to `before`. */
export function isExactAddition(node: ObjectNode, before: unknown, after: unknown, set: FieldSet): boolean {
  return isRecord(before) && isRecord(after) && isNew(node, before, after, set);
}

function isNew(node: ObjectNode, before: Members, after: Members, set: FieldSet): boolean {
  const fields = declaredByName(node);
  let steps = 0;
  const names = Object.keys(after);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const is = after[name];
    const was = Object.hasOwn(before, name) ? before[name] : undefined;
    if (is === undefined || was === is) continue;
    const field = fields.get(name);
    if (field === undefined) {
      if (node.preserveUnknown) return false;
      continue;
    }
    const inner = childOf(set, field.element);
    if (was === undefined) {
      if (inner === undefined || !isAllOwnable(field.node, is, inner)) return false;
    } else if (field.node.type === 'object' && !field.node.atomic && isRecord(was) && isRecord(is)) {
      if (!isNewInside(field.node, was, is, inner ?? EMPTY_SET)) return false;
      if (inner === undefined) continue;
      // An empty set would mean that the node itself is new.
      if (isEmptySet(inner)) return false;
    } else if (was === null && hasItems(field.node) && Array.isArray(is) && is.length > 0) {
      // The list existed before, but was empty (null).
      if (inner === undefined || !sameBelow(ownableFields(field.node, is), inner)) return false;
    } else {
      if (deepEqual(was, is)) continue;
      if (inner === undefined || !isOwnedAsWhole(field.node) || !isEmptySet(inner)) return false;
    }
    steps++;
  }
  return steps === countSteps(set);
}

/** Field sets that were verified for reusable parts. A part always has the same type. */
const newInside = new WeakMap<object, FieldSet>();

function isNewInside(node: ObjectNode, before: Members, after: Members, set: FieldSet): boolean {
  if (node.reusable !== true || !Object.isFrozen(after)) return isNew(node, before, after, set);
  if (newInside.get(after) === set) return true;
  if (!isNew(node, before, after, set)) return false;
  // A stored (frozen) set does not change.
  if (Object.isFrozen(set)) newInside.set(after, set);
  return true;
}

/**
 * Reports whether two nodes have the same elements below them. The left node may be a member itself; the right node is
 * not.
 */
function sameBelow(left: FieldSet, right: FieldSet): boolean {
  let steps = 0;
  for (const step in left) {
    if (step === SELF) continue;
    const counterpart = childOf(right, step);
    if (counterpart === undefined || !sameSet(left[step] as FieldSet, counterpart)) return false;
    steps++;
  }
  return steps === countSteps(right);
}

/** Reports whether a set contains exactly what is ownable of a new value, itself included; see {@link ownableFields}. */
function isAllOwnable(node: SchemaNode, value: unknown, set: FieldSet): boolean {
  if (node.type === 'scalar') return isEmptySet(set);
  if (hasMembers(node, value)) return isRecord(value) ? isEveryMember(node, value, set) : isEmptySet(set);
  if (!hasItems(node)) return isEmptySet(set);
  return sameSet(ownableFields(node, value), set);
}

function isEveryMember(node: MemberNode, record: Members, set: FieldSet): boolean {
  let steps = 0;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    if (node.type === 'object' && !node.preserveUnknown && !node.fields.has(name)) continue;
    const inner = childOf(set, fieldElement(name));
    if (inner === undefined || !isAllOwnable(memberNode(node, name) ?? UNTYPED, value, inner)) return false;
    steps++;
  }
  if (steps === 0) return isEmptySet(set);
  return Object.hasOwn(set, SELF) && countSteps(set) === steps + 1;
}

function countSteps(set: FieldSet): number {
  let count = 0;
  for (const _step in set) count++;
  return count;
}
