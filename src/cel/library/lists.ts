/** Functions of lists whose items can be ordered, added or compared. */

import { add as addCosts, fixed, multiply, multiplyByFactor, UNKNOWN } from '../cost/range.js';
import { celEquals } from '../equality.js';
import { actualSize } from '../evaluate/call-cost.js';
import { itemsOf } from '../evaluate/views.js';
import { failureOf, orThrow } from '../failure.js';
import type {
  CallEstimate,
  CallToEstimate,
  Library,
  NodeToEstimate,
  PricedCall,
  SizeEstimate,
  Sizes,
} from '../library.js';
import { celCompare } from '../ordering.js';
import { add, isIn } from '../standard/operators.js';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../types.js';
import { CelDuration, CelError, CelList, CelUint, type CelValue } from '../values.js';
import { declare, global, instanceOf, member, noSuchOverload } from './declare.js';

const TWO_LISTS = [listOf(typeParam('T')), listOf(typeParam('T'))];

export const SETS: Library = {
  name: 'sets',
  functions: [
    declare('sets.contains', global('list_sets_contains_list', TWO_LISTS, BOOL, contains)),
    declare(
      'sets.equivalent',
      global(
        'list_sets_equivalent_list',
        TWO_LISTS,
        BOOL,
        (left, right) => contains(left, right) && contains(right, left),
      ),
    ),
    declare('sets.intersects', global('list_sets_intersects_list', TWO_LISTS, BOOL, intersects)),
  ],
  estimate,
  price,
};

/** Comparisons per pair of items: sets are equivalent when each contains the other. */
const FACTORS: ReadonlyMap<string, number> = new Map([
  ['list_sets_contains_list', 1],
  ['list_sets_intersects_list', 1],
  ['list_sets_equivalent_list', 2],
]);

const SUMMABLE: readonly (readonly [name: string, type: CelType, zero: CelValue])[] = [
  ['int', INT, 0n],
  ['uint', UINT, new CelUint(0n)],
  ['double', DOUBLE, 0],
  ['duration', DURATION, new CelDuration(0n)],
];

const COMPARABLE: readonly (readonly [name: string, type: CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

const ITEM = typeParam('A');
const ITEMS = listOf(ITEM);

export const LISTS: Library = {
  name: 'lists',
  functions: [
    declare(
      'isSorted',
      ...COMPARABLE.map(([name, type]) => member(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, isSorted)),
    ),
    declare(
      'sum',
      ...SUMMABLE.map(([name, type, zero]) =>
        member(`list_${name}_sum_${name}`, [listOf(type)], type, (list) => sum(list, zero)),
      ),
    ),
    declare(
      'max',
      ...COMPARABLE.map(([name, type]) =>
        member(`list_${name}_max_${name}`, [listOf(type)], type, (list) => extreme(list, 'max')),
      ),
    ),
    declare(
      'min',
      ...COMPARABLE.map(([name, type]) =>
        member(`list_${name}_min_${name}`, [listOf(type)], type, (list) => extreme(list, 'min')),
      ),
    ),
    declare(
      'indexOf',
      member('list_a_index_of_int', [ITEMS, ITEM], INT, (list, wanted) =>
        BigInt(itemsOf(instanceOf(CelList, list)).findIndex((item) => isEqual(item, wanted))),
      ),
    ),
    declare(
      'lastIndexOf',
      member('list_a_last_index_of_int', [ITEMS, ITEM], INT, (list, wanted) =>
        BigInt(itemsOf(instanceOf(CelList, list)).findLastIndex((item) => isEqual(item, wanted))),
      ),
    ),
  ],
};

/** The item is asked. What it cannot be compared with is something else. */
function isEqual(item: CelValue, wanted: CelValue): boolean {
  try {
    return celEquals(item, wanted);
  } catch (error) {
    failureOf(error);
    return false;
  }
}

/** Neighbours that have no order, such as what is no number, are in order. */
function isSorted(list: CelValue): boolean {
  const all = itemsOf(instanceOf(CelList, list));
  return all.every((item, index) => {
    requireOrder(item);
    const before = all[index - 1];
    return before === undefined || order(before, item) <= 0;
  });
}

function sum(list: CelValue, zero: CelValue): CelValue {
  return itemsOf(instanceOf(CelList, list)).reduce((total, item) => orThrow(add(total, item)), zero);
}

/** The first of several that are alike. */
function extreme(list: CelValue, which: 'min' | 'max'): CelValue {
  let found: CelValue | undefined;
  for (const item of itemsOf(instanceOf(CelList, list))) {
    requireOrder(item);
    const difference = found === undefined ? 0 : order(found, item);
    if (found === undefined || (which === 'min' ? difference > 0 : difference < 0)) found = item;
  }
  if (found === undefined) throw new CelError(`${which} called on empty list`);
  return found;
}

/** There are values that have no order with anything. */
function requireOrder(item: CelValue): void {
  if (celCompare(item, item) === undefined) throw noSuchOverload();
}

/** Zero for values that have no order with each other. */
function order(left: CelValue, right: CelValue): number {
  const comparison = celCompare(left, right);
  return typeof comparison === 'number' ? comparison : 0;
}

/** A list that cannot tell whether it has an item makes the whole fail. */
function contains(list: CelValue, sublist: CelValue): boolean {
  return itemsOf(instanceOf(CelList, sublist)).every((wanted) => orThrow(isIn(wanted, list)) === true);
}

function intersects(left: CelValue, right: CelValue): boolean {
  return itemsOf(instanceOf(CelList, left)).some((wanted) => isIn(wanted, right) === true);
}

function estimate({ overload, args: [left, right] }: CallToEstimate, sizes: Sizes): CallEstimate | undefined {
  const factor = FACTORS.get(overload);
  if (factor === undefined || left === undefined || right === undefined) return undefined;
  const pairs = multiply(sizeOf(left, sizes), sizeOf(right, sizes));
  return { cost: addCosts(multiplyByFactor(pairs, factor), fixed(1)) };
}

function sizeOf(node: NodeToEstimate, sizes: Sizes): SizeEstimate {
  return node.computedSize ?? sizes.estimateSize(node) ?? UNKNOWN;
}

function price({ overload, args: [left, right] }: PricedCall): number | undefined {
  const factor = FACTORS.get(overload);
  if (factor === undefined || left === undefined || right === undefined) return undefined;
  return 1 + actualSize(left) * actualSize(right) * factor;
}
