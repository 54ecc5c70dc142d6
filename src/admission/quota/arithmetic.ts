/**
 * Sums over amounts of many resources, as quotas need them.
 */
import type { ResourceList } from '../../kinds/shared/resources.js';
import { Quantity } from '../../meta/quantity.js';
import { setOwn } from '../../util/json.js';
import { byKey } from '../../util/order.js';
import type { Amounts } from '../plugins/pod-amounts.js';

/** What is asked for beyond what there was: never less than nothing. */
export function growth(now: Amounts, before: Amounts): Map<string, Quantity> {
  const grown = new Map<string, Quantity>();
  for (const [name, amount] of now) {
    const difference = subtract(amount, before.get(name));
    if (difference.sign() > 0) grown.set(name, difference);
  }
  return grown;
}

function subtract(amount: Quantity, other: Quantity | undefined): Quantity {
  return other === undefined ? amount : amount.sub(other);
}

export function withoutZeros(amounts: Amounts): Map<string, Quantity> {
  return new Map([...amounts].filter(([, amount]) => !amount.isZero()));
}

/** `pods=1,requests.cpu=500m`, by name. */
export function printAmounts(amounts: Amounts): string {
  return [...amounts]
    .sort(byKey)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',');
}

/** Those with one of the names. */
export function pick(amounts: Amounts, names: readonly string[]): Map<string, Quantity> {
  return new Map([...amounts].filter(([name]) => names.includes(name)));
}

/** As it stands in objects, in the order of the names. */
export function toResourceList(amounts: Amounts): ResourceList {
  const list: Record<string, string> = {};
  for (const name of [...amounts.keys()].sort()) setOwn(list, name, written(amounts.get(name) ?? Quantity.zero));
  return list;
}

/** A sum keeps the format of its first part until it is read from its text: `1536000` of binary origin reads `1536k`. */
function written(amount: Quantity): string {
  return Quantity.parse(amount.toString()).toString();
}
