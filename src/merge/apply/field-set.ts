/**
 * Field sets: sets of field paths, represented as tries. A set has the form of `fieldsV1` on the wire: an immutable
 * object (frozen or not) whose keys are path elements in canonical order. `{}` below an element means that the element
 * is in the set; an element with children is in the set if `.` is one of the children. spec: Server-side apply
 *
 * Operations share structure with their operands and return the operand itself if nothing changes: most writes touch
 * few fields of an object.
 */
import { append } from '../../util/arrays.js';
import type { PathElement } from './path-element.js';
import { compareElements, fieldElement, printElement, sortElements } from './path-element.js';

/** A field set, or a node of one. The keys are `PathElement`s. */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

type Building = { [element: string]: FieldSet };

/** The empty set. */
export const EMPTY_SET: FieldSet = Object.freeze({});
/** A node without children: the path ends here. */
export const LEAF: FieldSet = EMPTY_SET;

/** The key that marks the node itself as a member of the set. */
export const SELF = '.';

/** Reports whether a set, or a node, has no elements. */
export function isEmptySet(set: FieldSet): boolean {
  for (const _element in set) return false;
  return true;
}

/** Reports whether a node is itself a member of the set. */
export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && (isEmptySet(node) || Object.hasOwn(node, SELF));
}

/** Reports whether the set has members below a node. */
export function hasChildren(node: FieldSet | undefined): boolean {
  if (node === undefined) return false;
  for (const element in node) if (element !== SELF) return true;
  return false;
}

/** The node of an element, if the set has one. */
export function childOf(set: FieldSet, element: PathElement): FieldSet | undefined {
  return Object.hasOwn(set, element) ? set[element] : undefined;
}

/** Collects sibling path elements in any order. `self` is true if the parent node is a member of the set. */
export class FieldSetBuilder {
  #set: Building | undefined;
  #last = '';
  #isSorted = true;
  readonly #self: boolean;

  constructor(self: boolean) {
    this.#self = self;
  }

  add(element: PathElement, node: FieldSet): void {
    if (this.#set === undefined) this.#set = this.#self ? { '.': LEAF } : {};
    else if (this.#isSorted && compareElements(this.#last, element) > 0) this.#isSorted = false;
    this.#last = element;
    this.#set[element] = node;
  }

  /** Adds an element that is known to be in canonical order. */
  addNext(element: PathElement, node: FieldSet): void {
    this.#set ??= this.#self ? { '.': LEAF } : {};
    this.#last = element;
    this.#set[element] = node;
  }

  /** The node that was added for an element. */
  get(element: PathElement): FieldSet | undefined {
    return this.#set === undefined ? undefined : childOf(this.#set, element);
  }

  /** Returns undefined if nothing was added and the parent is not a member. */
  finish(): FieldSet | undefined {
    if (this.#set === undefined) return this.#self ? LEAF : undefined;
    return this.#isSorted ? this.#set : sorted(this.#set);
  }
}

/** The same elements in canonical order. */
export function sorted(set: FieldSet): FieldSet {
  const out: Building = {};
  for (const element of sortElements(Object.keys(set))) out[element] = set[element] as FieldSet;
  return out;
}

/** The paths that are in either set. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left;
  return isEmptySet(left) ? right : unionBelow(left, right);
}

/** The union of two nodes, each of which may be a leaf. */
function unionNodes(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  if (isEmptySet(left)) return withSelf(right);
  if (isEmptySet(right)) return withSelf(left);
  return unionBelow(left, right);
}

function unionBelow(left: FieldSet, right: FieldSet): FieldSet {
  let out: Building | undefined;
  let isSorted = true;
  for (const element in right) {
    const other = right[element] as FieldSet;
    const mine = childOf(left, element);
    const both = mine === undefined ? other : unionNodes(mine, other);
    if (both === mine) continue;
    out ??= { ...left };
    if (mine === undefined) isSorted = false;
    out[element] = both;
  }
  if (out === undefined) return left;
  return isSorted ? out : sorted(out);
}

/** The union of any number of sets. Joining them one after the other would copy the growing union each time. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const parts = sets.filter((set) => !isEmptySet(set));
  const [first = EMPTY_SET, second] = parts;
  if (second === undefined) return first;
  return parts.length === 2 ? union(first, second) : (unionOfNodes(parts, false) ?? EMPTY_SET);
}

function unionOfNodes(nodes: readonly FieldSet[], self: boolean): FieldSet | undefined {
  const steps = new Map<PathElement, FieldSet[]>();
  for (const node of nodes) {
    for (const element in node) {
      if (element === SELF) continue;
      const same = steps.get(element);
      if (same === undefined) steps.set(element, [node[element] as FieldSet]);
      else same.push(node[element] as FieldSet);
    }
  }
  const siblings = new FieldSetBuilder(self);
  for (const element of sortElements([...steps.keys()])) {
    const inner = steps.get(element) ?? [];
    siblings.addNext(element, (inner.length === 1 ? inner[0] : unionOfNodes(inner, inner.some(isMember))) ?? LEAF);
  }
  return siblings.finish();
}

/** The node with itself as a member. */
export function withSelf(node: FieldSet): FieldSet {
  return isEmptySet(node) || Object.hasOwn(node, SELF) ? node : { [SELF]: LEAF, ...node };
}

/** The paths of `set` that are not in `taken`. Paths below a path of `taken` are kept. */
export function difference(set: FieldSet, taken: FieldSet): FieldSet {
  return isEmptySet(set) || isEmptySet(taken) ? set : (filterBelow(set, taken, differenceOfNodes) ?? EMPTY_SET);
}

function differenceOfNodes(node: FieldSet, taken: FieldSet | undefined): FieldSet | undefined {
  if (taken === undefined) return node;
  const self = isMember(node) && !isMember(taken);
  if (!hasChildren(node)) return self ? node : undefined;
  return withMembership(filterBelow(node, taken, differenceOfNodes), self);
}

/** The paths that are in both sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(left)) return left;
  if (isEmptySet(right)) return EMPTY_SET;
  return filterBelow(left, right, intersectionOfNodes) ?? EMPTY_SET;
}

function intersectionOfNodes(left: FieldSet, right: FieldSet | undefined): FieldSet | undefined {
  if (right === undefined) return undefined;
  if (left === right) return left;
  const self = isMember(left) && isMember(right);
  return withMembership(filterBelow(left, right, intersectionOfNodes), self);
}

/** The paths of `set` that are neither in `taken` nor below a path of `taken`. */
export function recursiveDifference(set: FieldSet, taken: FieldSet): FieldSet {
  return isEmptySet(set) || isEmptySet(taken) ? set : (filterBelow(set, taken, notCovered) ?? EMPTY_SET);
}

function notCovered(node: FieldSet, taken: FieldSet | undefined): FieldSet | undefined {
  if (taken === undefined) return node;
  if (isMember(taken)) return undefined;
  return withMembership(filterBelow(node, taken, notCovered), isMember(node));
}

/** Filters the children of a node, without the node itself; undefined if nothing is left. */
function filterBelow(
  node: FieldSet,
  other: FieldSet,
  keep: (child: FieldSet, other: FieldSet | undefined) => FieldSet | undefined,
): FieldSet | undefined {
  // Copies from the first change on; usually there is none.
  let out: Building | undefined;
  let isEmpty = true;
  for (const element in node) {
    if (element === SELF) continue;
    const child = node[element] as FieldSet;
    const left = keep(child, childOf(other, element));
    if (left !== child) out ??= stepsBefore(node, element);
    if (left === undefined) continue;
    isEmpty = false;
    if (out !== undefined) out[element] = left;
  }
  if (isEmpty) return undefined;
  return out ?? node;
}

function stepsBefore(node: FieldSet, end: PathElement): Building {
  const steps: Building = {};
  for (const element in node) {
    if (element === end) break;
    if (element !== SELF) steps[element] = node[element] as FieldSet;
  }
  return steps;
}

/** Adds or removes the membership of the node itself. */
function withMembership(rest: FieldSet | undefined, self: boolean): FieldSet | undefined {
  if (rest === undefined) return self ? LEAF : undefined;
  if (self) return withSelf(rest);
  if (!Object.hasOwn(rest, SELF)) return rest;
  const { [SELF]: _self, ...others } = rest;
  return others;
}

/** Reports whether every path of `set` is in `other`. */
export function isSubset(set: FieldSet, other: FieldSet): boolean {
  if (set === other) return true;
  for (const element in set) {
    if (element === SELF) continue;
    const node = set[element] as FieldSet;
    const counterpart = childOf(other, element);
    if (counterpart === undefined) return false;
    if (isMember(node) && !isMember(counterpart)) return false;
    if (!isSubset(node, counterpart)) return false;
  }
  return true;
}

/** Reports whether two sets have the same paths. */
export function sameSet(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  let steps = 0;
  for (const element in left) {
    const counterpart = childOf(right, element);
    if (counterpart === undefined) return false;
    if (counterpart !== left[element] && !sameSet(left[element] as FieldSet, counterpart)) return false;
    steps++;
  }
  for (const _element in right) steps--;
  return steps === 0;
}

/** The number of paths of a set. */
export function countPaths(set: FieldSet): number {
  let count = 0;
  for (const element in set) {
    if (element === SELF) continue;
    const node = set[element] as FieldSet;
    count += countPaths(node) + (isMember(node) ? 1 : 0);
  }
  return count;
}

/** Prints the paths of a set for messages, breadth-first, until the budget is used up. */
export function printPaths(set: FieldSet, budget: { left: number }, prefix = ''): string[] {
  const printed: string[] = [];
  const further: [prefix: string, node: FieldSet][] = [];
  for (const element in set) {
    if (element === SELF) continue;
    if (budget.left < 0) return printed;
    const node = set[element] as FieldSet;
    const path = prefix + printElement(element, 'stored');
    if (isMember(node)) {
      printed.push(path);
      budget.left -= path.length;
    }
    if (hasChildren(node)) further.push([path, node]);
  }
  for (const [path, node] of further) append(printed, printPaths(node, budget, path));
  return printed;
}

/** Prints a path of a stored set for messages: `.spec.containers[name="web"].image`. */
export function printPath(path: readonly PathElement[]): string {
  return path.map((element) => printElement(element, 'stored')).join('');
}

/** The set of one path, given by field names. */
export function setOfPath(names: readonly string[]): FieldSet {
  return names.reduceRight<FieldSet>((inner, name) => ({ [fieldElement(name)]: inner }), LEAF);
}

/** The set of several dotted paths: `spec.replicas`. */
export function setOfFields(paths: readonly string[]): FieldSet {
  return unionOf(paths.map((path) => setOfPath(path.split('.'))));
}
