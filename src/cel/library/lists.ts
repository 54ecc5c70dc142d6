/**
 * List functions (`isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`) and set functions (`sets.contains`,
 * `sets.equivalent`, `sets.intersects`).
 */

import { add as addCosts, fixed, multiply, multiplyByFactor, UNKNOWN } from '../cost/range.js';
import { celEquals } from '../equality.js';
import { actualSize } from '../evaluate/call-cost.js';
import { itemsOf } from '../evaluate/views.js';
import { failureOf, orThrow } from '../failure.js';
import type {
  CallEstimate,
  CallToEstimate,
  EvaluatedCall,
  Library,
  NodeToEstimate,
  SizeEstimate,
  SizeEstimator,
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
import { CelDuration, CelError, type CelList, CelUint, type CelValue } from '../values.js';
import { declare, globalFunction, member, memberFunction, noSuchOverload } from './declare.js';

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
    memberFunction('indexOf', 'list_a_index_of_int', [ITEMS, ITEM], INT, (list, wanted) =>
      BigInt(itemsOf(list).findIndex((item) => isEqual(item, wanted))),
    ),
    memberFunction('lastIndexOf', 'list_a_last_index_of_int', [ITEMS, ITEM], INT, (list, wanted) =>
      BigInt(itemsOf(list).findLastIndex((item) => isEqual(item, wanted))),
    ),
  ],
};

/** Compares with the item as left operand. Incomparable values are unequal. */
function isEqual(item: CelValue, wanted: CelValue): boolean {
  try {
    return celEquals(item, wanted);
  } catch (error) {
    failureOf(error);
    return false;
  }
}

/** Adjacent items without an order, such as NaN, count as sorted. */
function isSorted(list: CelList): boolean {
  const all = itemsOf(list);
  return all.every((item, index) => {
    requireOrder(item);
    const before = all[index - 1];
    return before === undefined || order(before, item) <= 0;
  });
}

function sum(list: CelList, zero: CelValue): CelValue {
  return itemsOf(list).reduce((total, item) => orThrow(add(total, item)), zero);
}

/** Returns the first of several equal extremes. */
function extreme(list: CelList, which: 'min' | 'max'): CelValue {
  let found: CelValue | undefined;
  for (const item of itemsOf(list)) {
    requireOrder(item);
    const difference = found === undefined ? 0 : order(found, item);
    if (found === undefined || (which === 'min' ? difference > 0 : difference < 0)) found = item;
  }
  if (found === undefined) throw new CelError(`${which} called on empty list`);
  return found;
}

/** Rejects items whose type has no ordering. */
function requireOrder(item: CelValue): void {
  if (celCompare(item, item) === undefined) throw noSuchOverload();
}

/** Compares two values; zero if they have no order. */
function order(left: CelValue, right: CelValue): number {
  const comparison = celCompare(left, right);
  return typeof comparison === 'number' ? comparison : 0;
}

const TWO_LISTS = [listOf(typeParam('T')), listOf(typeParam('T'))] as const;

export const SETS: Library = {
  name: 'sets',
  functions: [
    globalFunction('sets.contains', 'list_sets_contains_list', TWO_LISTS, BOOL, contains),
    globalFunction(
      'sets.equivalent',
      'list_sets_equivalent_list',
      TWO_LISTS,
      BOOL,
      (left, right) => contains(left, right) && contains(right, left),
    ),
    globalFunction('sets.intersects', 'list_sets_intersects_list', TWO_LISTS, BOOL, intersects),
  ],
  estimateCost,
  actualCost,
};

/** An item that cannot be compared makes the call fail. */
function contains(list: CelList, sublist: CelList): boolean {
  return itemsOf(sublist).every((wanted) => orThrow(isIn(wanted, list)) === true);
}

function intersects(left: CelList, right: CelList): boolean {
  return itemsOf(left).some((wanted) => isIn(wanted, right) === true);
}

/** Comparisons per pair of items; `sets.equivalent` tests both directions. */
const FACTORS: ReadonlyMap<string, number> = new Map([
  ['list_sets_contains_list', 1],
  ['list_sets_intersects_list', 1],
  ['list_sets_equivalent_list', 2],
]);

function estimateCost(
  { overload, args: [left, right] }: CallToEstimate,
  sizes: SizeEstimator,
): CallEstimate | undefined {
  const factor = FACTORS.get(overload);
  if (factor === undefined || left === undefined || right === undefined) return undefined;
  const pairs = multiply(sizeOf(left, sizes), sizeOf(right, sizes));
  return { cost: addCosts(multiplyByFactor(pairs, factor), fixed(1)) };
}

function sizeOf(node: NodeToEstimate, sizes: SizeEstimator): SizeEstimate {
  return node.computedSize ?? sizes.estimateSize(node) ?? UNKNOWN;
}

function actualCost({ overload, args: [left, right] }: EvaluatedCall): number | undefined {
  const factor = FACTORS.get(overload);
  if (factor === undefined || left === undefined || right === undefined) return undefined;
  return 1 + actualSize(left) * actualSize(right) * factor;
}
