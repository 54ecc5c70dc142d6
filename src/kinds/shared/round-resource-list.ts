/**
 * The least amount of a resource: a thousandth. Lists of amounts are rounded up to it when they come in.
 */
import { Quantity } from '../../meta/quantity.js';
import { setOwn } from '../../util/json.js';

const MILLI = -3;

/** Only texts that look like this can be finer than a thousandth; the others need no reading. */
const FINE = /[nu]$|[eE]-|\.\d{4}/;

/** Changes the list in place. */
export function roundResourceList(amounts: Record<string, string> | undefined): void {
  if (amounts === undefined) return;
  for (const [name, text] of Object.entries(amounts)) {
    if (FINE.test(text)) setOwn(amounts, name, Quantity.parse(text).roundUp(MILLI).toString());
  }
}
