/**
 * Maintains the status of ResourceQuotas: the usage of the objects in the namespace. Admission charges new objects; this
 * controller counts existing ones: when a quota is added or changed, when a counted object is deleted or releases usage, and
 * at a regular interval. Between counts the status is trusted. spec: ResourceQuota
 *
 * Only kinds that a quota covers are watched, so a cluster without quotas has no cost.
 */

import { type Amounts, readAmounts } from '../admission/plugins/pod-amounts.js';
import { toResourceList } from '../admission/quota/arithmetic.js';
import { type Evaluator, type EvaluatorContext, isInScopes, ScopeError } from '../admission/quota/evaluator.js';
import { evaluatorFor, isCountable, limitedNames, limitsResource } from '../admission/quota/evaluators.js';
import { type InformerEvent, isSameOrNewerVersion } from '../client/informer.js';
import { CustomResourceDefinition } from '../crd/definition/custom-resource-definition.js';
import { ResourceQuota } from '../kinds/core/v1/resource-quota.js';
import type { Kind, ObjectOf } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ResourceList } from '../kinds/shared/resources.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { Quantity, type QuantityFormat } from '../meta/quantity.js';
import type { Undo } from '../util/clock.js';
import { deepEqual, own, setOwn } from '../util/json.js';
import { type Controller, ControllerPart } from './runtime/controller.js';
import { keyOf, SharedInformer } from './runtime/shared-informer.js';

export interface ResourceQuotasOptions {
  /** The interval between full recounts; five minutes unless given. */
  readonly resyncMs?: number | undefined;
}

const RESYNC_MS = 5 * 60_000;
/** upstream: apiserver/pkg/endpoints/handlers/rest.go isTooLargeError */
const TOO_LARGE = /request is too large|trying to send message larger than max/;
/** The verbs that a resource must support for its objects to be counted. */
const NEEDED_VERBS = ['create', 'list', 'watch', 'delete'] as const;

/**
 * Counts the usage of namespaces. It lists the kinds, so it needs a cluster in this process.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([resourceQuotas()]) });
 */
export function resourceQuotas({ resyncMs = RESYNC_MS }: ResourceQuotasOptions = {}): Controller {
  return {
    name: 'resourcequota-controller',
    account: 'resourcequota-controller',
    local: true,
    needs: [ResourceQuota],
    start: (context) => new QuotaCounter(context, { resyncMs }).start(),
  };
}

/** A resource that a quota covers. */
interface WatchedKind {
  readonly served: ServedKind;
  readonly informer: SharedInformer<Kind>;
  /** Closes the informer of a custom resource kind, which may be removed again; other informers are shared. */
  readonly close: Undo;
}

class QuotaCounter extends ControllerPart<{ readonly resyncMs: number }> {
  readonly #quotas = this.context.informer(ResourceQuota);
  readonly #queue = this.context.queue((key) => this.#count(key));
  readonly #watched = new Map<string, WatchedKind>();
  readonly #tallies = new Map<string, Tally>();
  /** The resourceVersion of each quota after this controller's last status update, by key. */
  readonly #written = new Map<string, string>();
  #kinds: { readonly all: readonly ServedKind[]; readonly countable: readonly ServedKind[] } | undefined;

  start(): void {
    this.context.onClose(() => {
      for (const { close } of this.#watched.values()) close();
    });
    this.#quotas.onKey((key, event) => {
      if (event.type === 'DELETED') {
        this.#written.delete(key);
        this.#tallies.delete(key);
      } else if (event.type === 'ADDED' || !isSameAmounts(event.previous.spec.hard, event.object.spec.hard)) {
        this.#queue.add(key);
      }
    });
    if (!this.context.serves(CustomResourceDefinition)) return;
    this.context.informer(CustomResourceDefinition).subscribe(() => this.#queueQuotasOfNewKinds());
  }

  /** Queues quotas that already named resources of a kind before its CRD was created. */
  #queueQuotasOfNewKinds(): void {
    const unknown = this.#countable().filter(({ kind, storageKey }) => {
      return kind.customResourceHandler !== undefined && !this.#watched.has(storageKey);
    });
    if (unknown.length === 0) return;
    for (const quota of this.#quotas.list()) {
      if (unknown.some(({ gvr }) => limitsResource(quotaIn(quota), gvr, this.#terms()))) this.#queue.add(keyOf(quota));
    }
  }

  async #count(key: string): Promise<{ requeueAfterMs: number } | undefined> {
    const known = this.#quotas.at(key);
    if (known === undefined) return undefined;
    const watched = this.#countable()
      .filter((served) => limitsResource(quotaIn(known), served.gvr, this.#terms()))
      .map((served) => this.#watch(served));
    await Promise.all(watched.map(({ informer }) => informer.synced));
    // No await from here to the request, so that quota and objects are from the same point in time.
    const quota = this.#quotas.at(key);
    if (quota === undefined) return undefined;
    const tally = this.#tally(key, quotaIn(quota), watched);
    const status = tally.status(quotaIn(quota));
    if (!isSameStatus(quota.status, status)) {
      const { name, namespace } = quota.metadata;
      try {
        const updated = await this.context.client
          .api(ResourceQuota, namespace)
          .status.update(name, { ...quota, status: { hard: { ...status.hard }, used: { ...status.used } } });
        this.#written.set(key, updated.metadata.resourceVersion);
      } catch (error) {
        // The status repeats the limits, so it may not fit where the spec does. It would not fit at once either, and the
        // attempt takes long.
        if (!StatusError.is(error) || !TOO_LARGE.test(error.message)) throw error;
        this.context.report(error, `the status of quota ${key}`);
      }
    }
    return { requeueAfterMs: Math.max(1, tally.startedAt + this.options.resyncMs - this.context.clock.now()) };
  }

  /** The tally of a quota; a new one if the quota has changed or a recount is due. */
  #tally(key: string, quota: ResourceQuota, watched: readonly WatchedKind[]): Tally {
    let tally = this.#tallies.get(key);
    const terms = this.#terms();
    if (tally?.isFor(quota) !== true || terms.clock.now() - tally.startedAt >= this.options.resyncMs) {
      tally = new Tally(quota, terms);
      this.#tallies.set(key, tally);
    }
    for (const { served, informer } of watched) {
      if (tally.has(served)) continue;
      tally.count(served, informer.list(quota.metadata.namespace) as readonly ApiObject[]);
    }
    return tally;
  }

  #watch(served: ServedKind): WatchedKind {
    const { storageKey, kind } = served;
    const known = this.#watched.get(storageKey);
    if (known !== undefined) return known;
    const { client, report } = this.context;
    const isCustom = kind.customResourceHandler !== undefined;
    const informer = isCustom
      ? new SharedInformer(client, kind, (error) => report(error, `the informer of ${storageKey}`))
      : this.context.informer(kind);
    const watched: WatchedKind = { served, informer, close: () => (isCustom ? informer.close() : undefined) };
    this.#watched.set(storageKey, watched);
    informer.subscribe((event) => this.#onChange(served, event as InformerEvent<ApiObject>));
    return watched;
  }

  #onChange(served: ServedKind, event: InformerEvent<ApiObject>): void {
    const { type, object } = event;
    const { namespace = '', resourceVersion } = object.metadata;
    const terms = this.#terms();
    const releasesUsage =
      type === 'DELETED' ||
      (type === 'MODIFIED' && evaluatorFor(served.gvr, terms).releasesUsage?.(event.previous, object, terms) === true);
    for (const quota of this.#quotas.list(namespace)) {
      const key = keyOf(quota);
      const tally = this.#tallies.get(key);
      if (tally?.has(served) !== true) continue;
      if (type === 'DELETED') tally.remove(served, object);
      else tally.set(served, object);
      const written = this.#written.get(key);
      // The object existed when the last status was written but was not in the informer: that count was wrong.
      const isLate = written !== undefined && isSameOrNewerVersion(written, resourceVersion);
      if (!releasesUsage && !isLate) continue;
      // The limits in the status are the enforced ones.
      const enforced = { ...quota, spec: { ...quota.spec, hard: quota.status.hard ?? {} } };
      if (limitsResource(quotaIn(enforced), served.gvr, terms)) this.#queue.add(key);
    }
  }

  #terms() {
    const { dialect, clock, host } = this.context;
    if (host === undefined) throw new TypeError('orchplane: quotas are counted for a cluster in this process');
    return { dialect, clock, features: host.features };
  }

  #countable(): readonly ServedKind[] {
    const all = this.context.kinds();
    if (this.#kinds?.all !== all) {
      this.#kinds = { all, countable: countable(all) };
      this.#closeRemoved(this.#kinds.countable);
    }
    return this.#kinds.countable;
  }

  /** Closes the informers of custom resource kinds that are no longer served, or are served differently. */
  #closeRemoved(present: readonly ServedKind[]): void {
    for (const [storage, { served, close }] of this.#watched) {
      if (present.some(({ gvr }) => deepEqual(gvr, served.gvr))) continue;
      close();
      this.#watched.delete(storage);
      // The objects are deleted with the kind, even if the informer received no events.
      for (const [key, tally] of this.#tallies) {
        if (!tally.has(served)) continue;
        tally.count(served, []);
        this.#queue.add(key);
      }
    }
  }
}

/** Removes the read-only modifiers; counting does not modify the object. */
function quotaIn(stored: ObjectOf<typeof ResourceQuota>): ResourceQuota {
  return stored as ResourceQuota;
}

/** One version of each countable resource. */
function countable(all: readonly ServedKind[]): readonly ServedKind[] {
  const chosen = new Map<string, ServedKind>();
  for (const served of all) {
    if (!isCountable(served) || !NEEDED_VERBS.every((verb) => served.verbs.includes(verb))) continue;
    if (!chosen.has(served.storageKey) || served.storageKind === undefined) chosen.set(served.storageKey, served);
  }
  return [...chosen.values()];
}

function isSameStatus(
  before: ResourceQuota['status'],
  now: { readonly hard: ResourceList; readonly used: ResourceList },
): boolean {
  return isSameAmounts(before.hard, now.hard) && isSameAmounts(before.used, now.used);
}

function isSameAmounts(left: ResourceList = {}, right: ResourceList = {}): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => {
      const [a, b] = [own(left, name), own(right, name)];
      return a !== undefined && b !== undefined && (a === b || Quantity.parse(a).equals(Quantity.parse(b)));
    })
  );
}

interface Part {
  readonly evaluator: Evaluator;
  /** The quota's resource names that the evaluator measures. */
  readonly names: ReadonlySet<string>;
  readonly totals: Map<string, Quantity>;
  readonly shares: Map<string, Amounts>;
  /** How many shares have an amount of a name in a format; see {@link formatKey}. */
  readonly formats: Map<string, number>;
  /** Objects that are being deleted, by uid: their usage may change with time alone. */
  readonly terminating: Map<string, ApiObject>;
}

/**
 * The usage of one quota in its namespace, updated incrementally: only the first reconcile of a quota counts everything.
 *
 * Example: a quota on `pods` and `requests.cpu` in a namespace with two pods of 250m holds, for the resource `pods`, the
 * totals `pods=2, requests.cpu=500m` and for each pod by uid `pods=1, requests.cpu=250m`. When a pod is deleted, its share
 * is subtracted.
 */
class Tally {
  /** The time of the full count, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly #quota: ResourceQuota;
  readonly #terms: EvaluatorContext;
  readonly #names: readonly string[];
  readonly #parts = new Map<string, Part>();

  constructor(quota: ResourceQuota, terms: EvaluatorContext) {
    this.#quota = quota;
    this.#terms = terms;
    this.#names = limitedNames(quota.spec.hard);
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
    const names = new Set(evaluator.matchingResources(this.#names, this.#terms));
    const totals = new Map([...names].map((name) => [name, Quantity.zero]));
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
    const share = new Map<string, Quantity>();
    for (const [name, amount] of evaluator.usageOf(object, this.#terms)) {
      if (names.has(name) && !amount.isZero()) share.set(name, amount);
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
