/**
 * Arithmetic on resource amounts for quotas.
 */
import type { ResourceList } from '../../kinds/shared/resources.js';
import { Quantity } from '../../meta/quantity.js';
import { setOwn } from '../../util/json.js';
import { byKey } from '../../util/order.js';
import type { Amounts } from '../plugins/pod-amounts.js';

/** The amounts by which `now` exceeds `before`; only positive ones. */
export function increase(now: Amounts, before: Amounts): Map<string, Quantity> {
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

/** `pods=1,requests.cpu=500m`, sorted by name. */
export function printAmounts(amounts: Amounts): string {
  return [...amounts]
    .sort(byKey)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',');
}

export function pickAmounts(amounts: Amounts, names: readonly string[]): Map<string, Quantity> {
  const wanted = new Set(names);
  return new Map([...amounts].filter(([name]) => wanted.has(name)));
}

/** As a ResourceList, sorted by name. */
export function toResourceList(amounts: Amounts): ResourceList {
  const list: Record<string, string> = {};
  for (const name of [...amounts.keys()].sort()) setOwn(list, name, normalized(amounts.get(name) ?? Quantity.zero));
  return list;
}

/** Normalizes the format: a sum keeps the format of its first operand (binary `1536000`), re-parsing yields `1536k`. */
function normalized(amount: Quantity): string {
  return Quantity.parse(amount.toString()).toString();
}
