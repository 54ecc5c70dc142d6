/**
 * The two most frequent answers to the question who owns what, found without working out what has changed: an update
 * changes nothing but what its writer owned already, and a new object has the very fields that the one before it had.
 *
 * Both walks give up where it is not as simple as that; whoever asked then takes the long way (`ownership.ts`).
 */
import type { ListNode, ObjectNode, Structural } from '../../schema/structural.js';
import { deepEqual, isRecord } from '../../util/json.js';
import { everything } from './compare.js';
import { below, type FieldSet, isEmptySet, isMember, NOTHING, SELF, sameSet } from './field-set.js';
import { elementOrNone } from './list-elements.js';
import { fieldElement } from './path-element.js';
import {
  type DeclaredField,
  declaredNamed,
  hasItems,
  hasMembers,
  type MemberNode,
  memberNode,
  UNTYPED,
} from './typing.js';

type Members = Readonly<Record<string, unknown>>;

/** Who owned what before. */
interface Owners {
  readonly mine: FieldSet;
  /** Of all others. */
  readonly theirs: readonly FieldSet[];
}

/** How far a change reaches: `own`: to values that only the writer owns; `further`: it may be anything else. */
export type Reach = 'nowhere' | 'own' | 'further';

/** Both states are typed by the node. */
export function reachOfChange(node: ObjectNode, before: unknown, after: unknown, owners: Owners): Reach {
  return isRecord(before) && isRecord(after) ? reach(node, before, after, owners) : 'further';
}

function reach(node: ObjectNode, before: Members, after: Members, owners: Owners): Reach {
  const fields = declaredNamed(node);
  let found: Reach = 'nowhere';
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
    if (field === undefined || was === undefined || is === undefined) return 'further';
    const inside = reachOfValue(field, was, is, owners);
    if (inside === 'further') return inside;
    if (inside === 'own') found = inside;
  }
  if (Object.keys(after).length > inBoth) {
    for (const name of Object.keys(after)) {
      if (Object.hasOwn(before, name) || after[name] === undefined) continue;
      if (node.preserveUnknown || fields.has(name)) return 'further';
    }
  }
  return found;
}

function reachOfValue({ node, element }: DeclaredField, was: unknown, is: unknown, owners: Owners): Reach {
  if (node.type === 'object' && !node.atomic && isRecord(was) && isRecord(is)) {
    return reach(node, was, is, ownersBelow(owners, element));
  }
  if (deepEqual(was, is)) return 'nowhere';
  if (!isOneValue(node)) return 'further';
  const { mine, theirs } = ownersBelow(owners, element);
  return isMember(mine) && mine !== NO_STEP && theirs.length === 0 ? 'own' : 'further';
}

/** Stands for a step that is in no set. */
const NO_STEP: FieldSet = Object.freeze({});

function ownersBelow({ mine, theirs }: Owners, element: string): Owners {
  const inner = theirs.length === 0 ? theirs : theirs.flatMap((set) => below(set, element) ?? []);
  return { mine: below(mine, element) ?? NO_STEP, theirs: inner };
}

/** Owned as a whole. */
function isOneValue(node: Structural): boolean {
  switch (node.type) {
    case 'scalar':
      return true;
    case 'list':
      return node.listType === 'atomic';
    default:
      return node.atomic;
  }
}

/** Whether a set is just what `after` has beyond `before`, which is less. */
export function isAllThatIsNew(node: ObjectNode, before: unknown, after: unknown, set: FieldSet): boolean {
  return isRecord(before) && isRecord(after) && isNew(node, before, after, set);
}

function isNew(node: ObjectNode, before: Members, after: Members, set: FieldSet): boolean {
  const fields = declaredNamed(node);
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
    const inner = below(set, field.element);
    if (was === undefined) {
      if (inner === undefined || !isEverything(field.node, is, inner)) return false;
    } else if (field.node.type === 'object' && !field.node.atomic && isRecord(was) && isRecord(is)) {
      if (!isNewInside(field.node, was, is, inner ?? NOTHING)) return false;
      if (inner === undefined) continue;
      // Without anything new inside it would not be there.
      if (isEmptySet(inner)) return false;
    } else if (was === null && hasItems(field.node) && Array.isArray(is) && is.length > 0) {
      // The list itself was there, with nothing in it.
      if (inner === undefined || !sameBelow(everything(field.node, is), inner)) return false;
    } else {
      if (deepEqual(was, is)) continue;
      if (inner === undefined || !isOneValue(field.node) || !isEmptySet(inner)) return false;
    }
    steps++;
  }
  return steps === countSteps(set);
}

/** What was found to be new in parts that go into many objects. A part is of one type for good. */
const newInside = new WeakMap<object, FieldSet>();

function isNewInside(node: ObjectNode, before: Members, after: Members, set: FieldSet): boolean {
  if (node.reusable !== true || !Object.isFrozen(after)) return isNew(node, before, after, set);
  if (newInside.get(after) === set) return true;
  if (!isNew(node, before, after, set)) return false;
  // A set that is stored stays as it is.
  if (Object.isFrozen(set)) newInside.set(after, set);
  return true;
}

/** The same steps below, whether the node itself is in the left one or not; in the right one it is not. */
function sameBelow(left: FieldSet, right: FieldSet): boolean {
  let steps = 0;
  for (const step in left) {
    if (step === SELF) continue;
    const counterpart = below(right, step);
    if (counterpart === undefined || !sameSet(left[step] as FieldSet, counterpart)) return false;
    steps++;
  }
  return steps === countSteps(right);
}

/** Whether a node is all that can be owned of a value that is new, itself included; see {@link everything}. */
function isEverything(node: Structural, value: unknown, set: FieldSet): boolean {
  if (node.type === 'scalar') return isEmptySet(set);
  if (hasMembers(node, value)) {
    if (!isRecord(value)) return isEmptySet(set);
    if (node.type !== 'object' || node.reusable !== true) return isEveryMember(node, value, set);
    return sameSet(everything(node, value), set);
  }
  if (!hasItems(node)) return isEmptySet(set);
  return isOnlyItem(node, value, set) || sameSet(everything(node, value), set);
}

/** Most lists whose items are owned one by one have one: an object has one owner. */
function isOnlyItem(node: ListNode, value: unknown, set: FieldSet): boolean {
  if (!Array.isArray(value) || value.length !== 1) return false;
  const element = elementOrNone(node, value[0]);
  if (!Object.hasOwn(set, SELF)) return false;
  // Compared, not looked up: a text that was just put together is in no table of names.
  let only: FieldSet | undefined;
  for (const step in set) {
    if (step === SELF) continue;
    if (step !== element || only !== undefined) return false;
    only = set[step];
  }
  return only !== undefined && isEverything(node.items, value[0], only);
}

function isEveryMember(node: MemberNode, record: Members, set: FieldSet): boolean {
  let steps = 0;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    if (node.type === 'object' && !node.preserveUnknown && !node.fields.has(name)) continue;
    const inner = below(set, fieldElement(name));
    if (inner === undefined || !isEverything(memberNode(node, name) ?? UNTYPED, value, inner)) return false;
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
