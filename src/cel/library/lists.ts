/** Functions of lists whose items can be ordered, added or compared. */

import { celEquals } from '../equality.js';
import { itemsOf } from '../evaluate/views.js';
import { failureOf, orThrow } from '../failure.js';
import type { Library } from '../library.js';
import { celCompare } from '../ordering.js';
import { add } from '../standard/arithmetic.js';
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
import { declare, member } from './declare.js';
import { instanceOf, noSuchOverload } from './value-arguments.js';

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
