/**
 * The usage of one quota in its namespace, updated incrementally: only the first reconcile of a quota counts everything.
 *
 * Example: a quota on `pods` and `requests.cpu` in a namespace with two pods of 250m holds, for the resource `pods`, the
 * totals `pods=2, requests.cpu=500m` and for each pod by uid `pods=1, requests.cpu=250m`. When a pod is deleted, its share
 * is subtracted.
 */

import { type Amounts, readAmounts } from '../../admission/plugins/pod-amounts.js';
import { toResourceList } from '../../admission/quota/arithmetic.js';
import type { Evaluator, EvaluatorContext } from '../../admission/quota/evaluator.js';
import { isInScopes, ScopeError } from '../../admission/quota/evaluator.js';
import { evaluatorFor } from '../../admission/quota/evaluators.js';
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity, type QuantityFormat } from '../../meta/quantity.js';
import { deepEqual, own, setOwn } from '../../util/json.js';

/** The usage of one resource. */
interface Part {
  readonly evaluator: Evaluator;
  /** The quota's resource names that the evaluator measures. */
  readonly names: readonly string[];
  readonly totals: Map<string, Quantity>;
  readonly shares: Map<string, Amounts>;
  /** How many shares have an amount of a name in a format; see {@link formatKey}. */
  readonly formats: Map<string, number>;
  /** Objects that are being deleted, by uid: their usage may change with time alone. */
  readonly terminating: Map<string, ApiObject>;
}

/** The usage that one quota measures. */
export class Tally {
  /** The time of the full count, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly #quota: ResourceQuota;
  readonly #terms: EvaluatorContext;
  readonly #names: readonly string[];
  readonly #parts = new Map<string, Part>();

  constructor(quota: ResourceQuota, terms: EvaluatorContext) {
    this.#quota = quota;
    this.#terms = terms;
    this.#names = Object.keys(quota.spec.hard ?? {});
    this.startedAt = terms.clock.now();
  }

  /** Whether the quota's spec is still the one that was counted. */
  isFor({ spec }: ResourceQuota): boolean {
    return deepEqual(spec, this.#quota.spec);
  }

  has({ storageKey }: ServedKind): boolean {
    return this.#parts.has(storageKey);
  }

  /** Starts counting a resource, given all its objects in the namespace. */
  count({ storageKey, gvr }: ServedKind, objects: Iterable<ApiObject>): void {
    const evaluator = evaluatorFor(gvr, this.#terms);
    const names = evaluator.matchingResources(this.#names, this.#terms);
    const totals = new Map(names.map((name) => [name, Quantity.zero]));
    const part: Part = { evaluator, names, totals, shares: new Map(), formats: new Map(), terminating: new Map() };
    this.#parts.set(storageKey, part);
    for (const object of objects) this.#set(part, object);
  }

  /** Must be called when an object is added or changes. */
  set({ storageKey }: ServedKind, object: ApiObject): void {
    const part = this.#parts.get(storageKey);
    if (part !== undefined) this.#set(part, object);
  }

  /** Must be called when an object is deleted. */
  remove({ storageKey }: ServedKind, { metadata }: ApiObject): void {
    const part = this.#parts.get(storageKey);
    if (part === undefined) return;
    part.terminating.delete(metadata.uid);
    this.#share(part, metadata.uid, NOTHING);
  }

  /** The wanted status. A name that no evaluator measures keeps its value. */
  status({ spec, status }: ResourceQuota): { readonly hard: ResourceList; readonly used: ResourceList } {
    const total = new Map<string, Quantity>();
    for (const part of this.#parts.values()) {
      for (const object of part.terminating.values()) this.#set(part, object);
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
    if (deletionTimestamp !== undefined) part.terminating.set(uid, object);
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
      return isInScopes(this.#quota, object, { evaluator, context: this.#terms });
    } catch (error) {
      // An invalid scope matches no object.
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

/** A total has the format of the first counted amount; when no amount with that format is left, that of another amount. */
function inFormatOf(shares: ReadonlyMap<string, Amounts>, name: string, total: Quantity): Quantity {
  for (const share of shares.values()) {
    const amount = share.get(name);
    // A sum has the format of its first operand.
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
