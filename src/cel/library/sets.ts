/** `sets.contains`, `sets.equivalent`, `sets.intersects`: lists as sets. */

import { add, fixed, multiply, multiplyByFactor, UNKNOWN } from '../cost/range.js';
import { actualSize } from '../evaluate/size.js';
import { itemsOf } from '../evaluate/views.js';
import { orThrow } from '../failure.js';
import type {
  CallEstimate,
  CallToEstimate,
  Library,
  NodeToEstimate,
  PricedCall,
  SizeEstimate,
  Sizes,
} from '../library.js';
import { isIn } from '../standard/collections.js';
import { BOOL, listOf, typeParam } from '../types.js';
import { CelList, type CelValue } from '../values.js';
import { declare, global } from './declare.js';
import { instanceOf } from './value-arguments.js';

const LISTS = [listOf(typeParam('T')), listOf(typeParam('T'))];

export const SETS: Library = {
  name: 'sets',
  functions: [
    declare('sets.contains', global('list_sets_contains_list', LISTS, BOOL, contains)),
    declare(
      'sets.equivalent',
      global('list_sets_equivalent_list', LISTS, BOOL, (left, right) => contains(left, right) && contains(right, left)),
    ),
    declare('sets.intersects', global('list_sets_intersects_list', LISTS, BOOL, intersects)),
  ],
  estimate,
  price,
};

/** A list that cannot tell whether it has an item makes the whole fail. */
function contains(list: CelValue, sublist: CelValue): boolean {
  return itemsOf(instanceOf(CelList, sublist)).every((wanted) => orThrow(isIn(wanted, list)) === true);
}

function intersects(left: CelValue, right: CelValue): boolean {
  return itemsOf(instanceOf(CelList, left)).some((wanted) => isIn(wanted, right) === true);
}

/** Comparisons per pair of items: sets are equivalent when each contains the other. */
const FACTORS: ReadonlyMap<string, number> = new Map([
  ['list_sets_contains_list', 1],
  ['list_sets_intersects_list', 1],
  ['list_sets_equivalent_list', 2],
]);

function estimate({ overload, args: [left, right] }: CallToEstimate, sizes: Sizes): CallEstimate | undefined {
  const factor = FACTORS.get(overload);
  if (factor === undefined || left === undefined || right === undefined) return undefined;
  const pairs = multiply(sizeOf(left, sizes), sizeOf(right, sizes));
  return { cost: add(multiplyByFactor(pairs, factor), fixed(1)) };
}

function sizeOf(node: NodeToEstimate, sizes: Sizes): SizeEstimate {
  return node.computedSize ?? sizes.estimateSize(node) ?? UNKNOWN;
}

function price({ overload, args: [left, right] }: PricedCall): number | undefined {
  const factor = FACTORS.get(overload);
  if (factor === undefined || left === undefined || right === undefined) return undefined;
  return 1 + actualSize(left) * actualSize(right) * factor;
}
