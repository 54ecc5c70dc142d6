/**
 * What the objects of a namespace use of what one quota is on, kept up to date change by change: the first look at a quota
 * counts everything, those that follow need not.
 *
 * Example: a quota on `pods` and `requests.cpu` in a namespace with two pods of 250m holds, for the resource `pods`, the
 * totals `pods=2, requests.cpu=500m` and for each pod by uid `pods=1, requests.cpu=250m`. When one goes, its share is
 * taken off.
 */

import { type Amounts, readAmounts } from '../../admission/plugins/pod-amounts.js';
import { toResourceList } from '../../admission/quota/arithmetic.js';
import type { Evaluator, Terms } from '../../admission/quota/evaluator.js';
import { ScopeError } from '../../admission/quota/evaluator.js';
import { evaluatorFor } from '../../admission/quota/evaluators.js';
import { isInScopes } from '../../admission/quota/evaluator.js';
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity, type QuantityFormat } from '../../meta/quantity.js';
import { deepEqual, own, setOwn } from '../../util/json.js';

/** One resource as far as the quota is about it. */
interface Part {
  readonly evaluator: Evaluator;
  /** The names that it measures. */
  readonly names: readonly string[];
  readonly totals: Map<string, Quantity>;
  readonly shares: Map<string, Amounts>;
  /** How many shares write an amount of a name in a format; see {@link formatKey}. */
  readonly formats: Map<string, number>;
  /** Objects on their way out, by uid: how much they count for changes with time alone. */
  readonly going: Map<string, ApiObject>;
}

export class Tally {
  /** When everything was counted, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly #quota: ResourceQuota;
  readonly #terms: Terms;
  readonly #names: readonly string[];
  readonly #parts = new Map<string, Part>();

  constructor(quota: ResourceQuota, terms: Terms) {
    this.#quota = quota;
    this.#terms = terms;
    this.#names = Object.keys(quota.spec.hard ?? {});
    this.startedAt = terms.clock.now();
  }

  /** Whether it still is what the quota asks for. */
  isFor({ spec }: ResourceQuota): boolean {
    return deepEqual(spec, this.#quota.spec);
  }

  has({ storage }: ServedKind): boolean {
    return this.#parts.has(storage);
  }

  /** Begins with a resource: with all its objects in the namespace. */
  count({ storage, gvr }: ServedKind, objects: Iterable<ApiObject>): void {
    const evaluator = evaluatorFor(gvr, this.#terms);
    const names = evaluator.measured(this.#names, this.#terms);
    const totals = new Map(names.map((name) => [name, Quantity.zero]));
    const part: Part = { evaluator, names, totals, shares: new Map(), formats: new Map(), going: new Map() };
    this.#parts.set(storage, part);
    for (const object of objects) this.#set(part, object);
  }

  /** An object has come or changed. */
  set({ storage }: ServedKind, object: ApiObject): void {
    const part = this.#parts.get(storage);
    if (part !== undefined) this.#set(part, object);
  }

  /** An object is gone. */
  remove({ storage }: ServedKind, { metadata }: ApiObject): void {
    const part = this.#parts.get(storage);
    if (part === undefined) return;
    part.going.delete(metadata.uid);
    this.#share(part, metadata.uid, NOTHING);
  }

  /** What the status should say. A name that nothing here measures keeps what was written down for it. */
  status({ spec, status }: ResourceQuota): { readonly hard: ResourceList; readonly used: ResourceList } {
    const total = new Map<string, Quantity>();
    for (const part of this.#parts.values()) {
      for (const object of part.going.values()) this.#set(part, object);
      for (const [name, amount] of part.totals) total.set(name, total.get(name)?.add(amount) ?? amount);
    }
    const known = toResourceList(total);
    const used: Record<string, string> = {};
    for (const name of [...this.#names].sort()) {
      const amount = own(known, name) ?? own(status.used ?? {}, name);
      if (amount !== undefined) setOwn(used, name, amount);
    }
    return { hard: toResourceList(readAmounts(spec.hard)), used };
  }

  #set(part: Part, object: ApiObject): void {
    const { uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) part.going.set(uid, object);
    this.#share(part, uid, this.#shareOf(part, object));
  }

  #shareOf({ evaluator, names }: Part, object: ApiObject): Amounts {
    if (!this.#isCounted(evaluator, object)) return NOTHING;
    const usage = evaluator.usageOf(object, this.#terms);
    const share = new Map<string, Quantity>();
    for (const name of names) {
      const amount = usage.get(name);
      if (amount !== undefined && !amount.isZero()) share.set(name, amount);
    }
    return share;
  }

  #isCounted(evaluator: Evaluator, object: ApiObject): boolean {
    try {
      return isInScopes(this.#quota, object, { evaluator, terms: this.#terms });
    } catch (error) {
      // A scope that cannot be used has nothing in it.
      if (error instanceof ScopeError) return false;
      throw error;
    }
  }

  #share({ shares, totals, formats }: Part, uid: string, share: Amounts): void {
    const before = shares.get(uid) ?? NOTHING;
    if (isSame(before, share)) return;
    if (share.size === 0) shares.delete(uid);
    else shares.set(uid, share);
    const note = (name: string, { format }: Quantity, more: number) => {
      const key = formatKey(name, format);
      formats.set(key, (formats.get(key) ?? 0) + more);
    };
    for (const [name, amount] of share) {
      note(name, amount, 1);
      totals.set(name, (totals.get(name) ?? Quantity.zero).add(amount));
    }
    for (const [name, amount] of before) {
      note(name, amount, -1);
      const total = (totals.get(name) ?? Quantity.zero).sub(amount);
      const isInUse = total.isZero() || (formats.get(formatKey(name, total.format)) ?? 0) > 0;
      totals.set(name, isInUse ? total : inFormatOf(shares, name, total));
    }
  }
}

function formatKey(name: string, format: QuantityFormat): string {
  return `${name} ${format}`;
}

/** A total is printed in the format of what was counted first; when nothing of that format is left, in that of the rest. */
function inFormatOf(shares: ReadonlyMap<string, Amounts>, name: string, total: Quantity): Quantity {
  for (const share of shares.values()) {
    const amount = share.get(name);
    // A sum has the format of its first part.
    if (amount !== undefined) return amount.add(total.sub(amount));
  }
  return total;
}

const NOTHING: Amounts = new Map();

function isSame(left: Amounts, right: Amounts): boolean {
  if (left.size !== right.size) return false;
  for (const [name, amount] of left) if (right.get(name)?.equals(amount) !== true) return false;
  return true;
}
