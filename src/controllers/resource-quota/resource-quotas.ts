/**
 * Maintains the status of ResourceQuotas: the usage of the objects in the namespace. Admission charges new objects; this
 * controller counts existing ones: when a quota is added or changed, when a counted object is deleted or releases usage, and
 * at a regular interval. Between counts the status is trusted. spec: ResourceQuota
 *
 * Only kinds that a quota covers are watched, so a cluster without quotas has no cost.
 */
import { evaluatorFor, isCountable, limitsResource } from '../../admission/quota/evaluators.js';
import type { InformerEvent } from '../../client/informer.js';
import { isSameOrNewerVersion } from '../../client/informer.js';
import { CustomResourceDefinition } from '../../crd/definition/custom-resource-definition.js';
import { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import type { Undo } from '../../util/clock.js';
import { deepEqual, own } from '../../util/json.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { keyOf, SharedInformer } from '../runtime/shared-informer.js';
import { Tally } from './tally.js';

export interface ResourceQuotasOptions {
  /** The interval between full recounts; five minutes unless given. */
  readonly resyncMs?: number | undefined;
}

const RESYNC_MS = 5 * 60_000;
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
      const updated = await this.context.client
        .api(ResourceQuota, namespace)
        .status.update(name, { ...quota, status: { hard: { ...status.hard }, used: { ...status.used } } });
      this.#written.set(key, updated.metadata.resourceVersion);
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
