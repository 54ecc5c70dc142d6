/**
 * Defaulting of resource lists: quantities are rounded up to milli units, the smallest unit of a resource.
 */
import { Quantity } from '../../meta/quantity.js';
import { setOwn } from '../../util/json.js';

const MILLI = -3;

/** Matches every text that can be finer than a milli unit. Other texts need no parsing. */
const FINER_THAN_MILLI = /[nu]$|[eE]-|\.\d{4}/;

/** Rounds the quantities of a resource list in place. */
export function roundResourceList(list: Record<string, string> | undefined): void {
  if (list === undefined) return;
  for (const [name, text] of Object.entries(list)) {
    if (FINER_THAN_MILLI.test(text)) setOwn(list, name, Quantity.parse(text).roundUp(MILLI).toString());
  }
}
