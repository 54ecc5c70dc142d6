/**
 * Merges an applied configuration into the live object. Does not change its arguments; the result shares parts of both.
 *
 * Fields that one side omits come from the other. Explicit nulls count as values, except that null does not clear a map
 * or a list whose members have their own owners.
 */
import type { ListNode, SchemaNode } from '../../schema/schema-node.js';
import { sameItems } from '../../util/arrays.js';
import { type MutableRecord, setOwn } from '../../util/json.js';
import type { PathElement } from './path-element.js';
import {
  hasItems,
  hasMembers,
  type IndexedItems,
  indexItems,
  isEmptyRecord,
  listOf,
  type MemberNode,
  memberNode,
  recordOf,
  UNTYPED,
} from './typed.js';

/** `undefined` stands for an absent value, in arguments and result. */
export function merge(node: SchemaNode, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (hasMembers(node, applied ?? live)) return mergeMembers(node, live, applied);
  if (hasItems(node)) return mergeItems(node, live, applied);
  return applied;
}

function mergeMembers(node: MemberNode, live: unknown, applied: unknown): unknown {
  const left = recordOf(live);
  const right = recordOf(applied);
  // Empty values and nulls are kept as written.
  if (isEmptyRecord(right)) return isEmptyRecord(left) ? applied : live;
  if (isEmptyRecord(left)) return applied;
  let out: MutableRecord | undefined;
  for (const name of Object.keys(right)) {
    const was = Object.hasOwn(left, name) ? left[name] : undefined;
    const is = merge(memberNode(node, name) ?? UNTYPED, was, right[name]);
    if (is === was) continue;
    out ??= { ...left };
    setOwn(out, name, is);
  }
  return out ?? live;
}

/**
 * Merges two lists without duplicates. Applied items are in the applied order; other items keep their position relative
 * to adjacent live items.
 */
function mergeItems(list: ListNode, live: unknown, applied: unknown): unknown {
  const left = listOf(live);
  const right = listOf(applied);
  if (right.length === 0) return left.length === 0 ? applied : live;
  if (left.length === 0) return applied;
  const before = indexItems(list, left);
  const after = indexItems(list, right);
  return (
    mergeInPlace(list, { left, right, before, after }) ?? new ItemMerge(list, left, { before, after }).run() ?? live
  );
}

interface Lists {
  readonly left: readonly unknown[];
  readonly right: readonly unknown[];
  readonly before: IndexedItems;
  readonly after: IndexedItems;
}

/** The usual case: the same items at the same indexes. Undefined in other cases. */
function mergeInPlace(list: ListNode, { left, right, before, after }: Lists): readonly unknown[] | undefined {
  if (left.length !== right.length || before.byElement.size !== left.length) return undefined;
  if (!before.elements.every((element, index) => element === after.elements[index])) return undefined;
  let out: unknown[] | undefined;
  for (const [index, item] of left.entries()) {
    const merged = merge(list.items, item, right[index]);
    if (merged === item) continue;
    out ??= [...left];
    out[index] = merged;
  }
  return out ?? left;
}

class ItemMerge {
  readonly #list: ListNode;
  readonly #left: readonly unknown[];
  readonly #leftElements: readonly (PathElement | undefined)[];
  readonly #leftItems: ReadonlyMap<PathElement, readonly unknown[]>;
  readonly #rightElements: readonly PathElement[];
  readonly #rightItems: ReadonlyMap<PathElement, readonly unknown[]>;
  /** Elements of both lists, in reverse applied order, that have not been emitted yet. */
  readonly #shared: PathElement[];
  readonly #done = new Set<PathElement>();
  readonly #out: unknown[] = [];

  constructor(list: ListNode, left: readonly unknown[], { before, after }: Pick<Lists, 'before' | 'after'>) {
    this.#list = list;
    this.#left = left;
    this.#leftElements = before.elements;
    this.#leftItems = before.byElement;
    this.#rightElements = after.elements.filter((element) => element !== undefined);
    this.#rightItems = after.byElement;
    this.#shared = this.#rightElements.filter((element) => this.#leftItems.has(element)).reverse();
  }

  /** The merged list; undefined if it equals the live list. */
  run(): readonly unknown[] | undefined {
    let l = 0;
    let r = 0;
    while (l < this.#left.length || r < this.#rightElements.length) {
      const mine = this.#leftElements[l];
      const theirs = this.#rightElements[r];
      if (l < this.#left.length && theirs !== undefined) {
        if (mine === theirs) {
          this.#emit(theirs);
          l++;
          r++;
          this.#shared.pop();
          continue;
        }
        // The applied list has another shared item before this one, so this one is emitted later.
        if (this.#isApplied(mine) && this.#shared.length > 0 && this.#shared.at(-1) !== mine) {
          l++;
          continue;
        }
      }
      if (l < this.#left.length) {
        if (!this.#isApplied(mine)) {
          this.#out.push(this.#left[l]);
          l++;
          continue;
        }
        if (mine !== undefined && this.#done.has(mine)) l++;
      }
      if (theirs === undefined) continue;
      this.#emit(theirs);
      r++;
      if (this.#shared.at(-1) === theirs) this.#shared.pop();
    }
    return sameItems(this.#out, this.#left) ? undefined : this.#out;
  }

  #isApplied(element: PathElement | undefined): boolean {
    return element !== undefined && this.#rightItems.has(element);
  }

  /** Emits the applied item, merged with its live counterpart if there is exactly one. */
  #emit(element: PathElement): void {
    this.#done.add(element);
    const live = this.#leftItems.get(element);
    const was = live?.length === 1 ? live[0] : undefined;
    this.#out.push(merge(this.#list.items, was, this.#rightItems.get(element)?.[0]));
  }
}
