/** `in` and `size`. */
import { spend } from '../effort.js';
import { celEquals } from '../equality.js';
import { actualSize } from '../evaluate/size.js';
import { type Failure, failureOf, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { intOf } from '../numbers.js';
import { CelBytes, CelList, CelMap, CelObject, type CelValue } from '../values.js';
import { missingOperator } from './missing.js';

export function isIn(value: CelValue, container: CelValue): Result {
  if (container instanceof CelList) return isItem(value, container);
  try {
    if (container instanceof CelMap) return container.contains?.(value) ?? container.get(value) !== undefined;
    if (container instanceof CelObject) return typeof value === 'string' ? container.has(value) : NO_SUCH_OVERLOAD;
  } catch (error) {
    return failureOf(error);
  }
  return NO_SUCH_OVERLOAD;
}

/** Reading an item and comparing it. */
const ITEM = 30;

/**
 * Items that cannot be compared do not matter once another one is found. Of stored lists the items are asked, and say
 * so if none is; of others the value is asked, and what it cannot be compared with is another one.
 */
function isItem(value: CelValue, list: CelList): Result {
  let failure: Failure | undefined;
  spend(list.size * ITEM);
  for (let index = 0; index < list.size; index++) {
    try {
      const item = list.at(index);
      if (list.isStored === true ? celEquals(item, value) : celEquals(value, item)) return true;
    } catch (error) {
      failure ??= failureOf(error);
    }
  }
  return list.isStored === true && failure !== undefined ? failure : false;
}

export function size(value: CelValue): Result {
  const isSized =
    typeof value === 'string' ||
    value instanceof CelList ||
    value instanceof CelMap ||
    value instanceof CelBytes ||
    value instanceof CelObject;
  return isSized ? intOf(actualSize(value)) : missingOperator('size', value);
}
