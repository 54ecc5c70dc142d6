/**
 * Keeps the status of ResourceQuotas: how much of everything the objects of the namespace use. Admission charges what
 * comes in; here is counted what there is: when a quota is new or changed, when something that counts goes or changes in
 * certain ways, and every few minutes in any case. Between counts a status is believed as it stands. spec: ResourceQuota
 *
 * Kinds are followed only from the moment on at which a quota is about them: without quotas this costs nothing.
 */
import { evaluatorFor, isAbout, isCountable } from '../../admission/quota/evaluators.js';
import type { Stored } from '../../client/api.js';
import type { InformerEvent } from '../../client/informer.js';
import { isNewerOrSame } from '../../client/informer.js';
import { CustomResourceDefinition } from '../../crd/definition/custom-resource-definition.js';
import { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import type { Undo } from '../../util/clock.js';
import { deepEqual, own } from '../../util/json.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { keyOf, SharedInformer } from '../runtime/shared-informer.js';
import type { WorkQueue } from '../runtime/work-queue.js';
import { Tally } from './tally.js';

export interface ResourceQuotasOptions {
  /** How long a status is believed before everything is counted again; five minutes unless given. */
  readonly resyncMs?: number | undefined;
}

const RESYNC_MS = 5 * 60_000;
/** What a resource must be able to do for its objects to be counted. */
const NEEDED_VERBS = ['create', 'list', 'watch', 'delete'] as const;

/**
 * Counts what namespaces use. Needs a cluster in this process: it asks which kinds there are.
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
    start: (context) => new Counter(context, resyncMs).start(),
  };
}

/** A resource that some quota is about. */
interface Followed {
  readonly served: ServedKind;
  readonly informer: SharedInformer<Kind>;
  /** Ends the informer of a definition's kind, which may go again; others are shared. */
  readonly leave: Undo;
}

class Counter {
  readonly #context: ControllerContext;
  readonly #resyncMs: number;
  readonly #quotas: SharedInformer<typeof ResourceQuota>;
  readonly #queue: WorkQueue;
  readonly #followed = new Map<string, Followed>();
  readonly #tallies = new Map<string, Tally>();
  /** The version that each quota got when its status was last written here, by key. */
  readonly #written = new Map<string, string>();
  #kinds: { readonly all: readonly ServedKind[]; readonly countable: readonly ServedKind[] } | undefined;

  constructor(context: ControllerContext, resyncMs: number) {
    this.#context = context;
    this.#resyncMs = resyncMs;
    this.#quotas = context.informer(ResourceQuota);
    this.#queue = context.queue((key) => this.#count(key));
  }

  start(): void {
    this.#context.onClose(() => {
      for (const { leave } of this.#followed.values()) leave();
    });
    this.#quotas.onKey((key, event) => {
      if (event.type === 'DELETED') {
        this.#written.delete(key);
        this.#tallies.delete(key);
      } else if (event.type === 'ADDED' || !isSameAmounts(event.previous.spec.hard, event.object.spec.hard)) {
        this.#queue.add(key);
      }
    });
    if (!this.#context.serves(CustomResourceDefinition)) return;
    this.#context.informer(CustomResourceDefinition).subscribe(() => this.#lookForNew());
  }

  /** A quota may have been on objects of a kind before that was there. */
  #lookForNew(): void {
    const unknown = this.#countable().filter(({ kind, storage }) => {
      return kind.custom !== undefined && !this.#followed.has(storage);
    });
    if (unknown.length === 0) return;
    for (const quota of this.#quotas.list()) {
      if (unknown.some(({ gvr }) => isAbout(quotaIn(quota), gvr, this.#terms()))) this.#queue.add(keyOf(quota));
    }
  }

  async #count(key: string): Promise<{ requeueAfterMs: number } | undefined> {
    const known = this.#quotas.at(key);
    if (known === undefined) return undefined;
    const followed = this.#countable()
      .filter((served) => isAbout(quotaIn(known), served.gvr, this.#terms()))
      .map((served) => this.#follow(served));
    await Promise.all(followed.map(({ informer }) => informer.synced));
    // From here to the request nothing is waited for: quota and objects are of one moment.
    const quota = this.#quotas.at(key);
    if (quota === undefined) return undefined;
    const tally = this.#tally(key, quotaIn(quota), followed);
    const status = tally.status(quotaIn(quota));
    if (!isSameStatus(quota.status, status)) {
      const { name, namespace } = quota.metadata;
      const updated = await this.#context.client
        .api(ResourceQuota, namespace)
        .status.update(name, { ...quota, status: { hard: { ...status.hard }, used: { ...status.used } } });
      this.#written.set(key, updated.metadata.resourceVersion);
    }
    return { requeueAfterMs: Math.max(1, tally.startedAt + this.#resyncMs - this.#context.clock.now()) };
  }

  /** The one that is kept for a quota, or a new one when the quota has changed or it is time for it. */
  #tally(key: string, quota: ResourceQuota, followed: readonly Followed[]): Tally {
    let tally = this.#tallies.get(key);
    const terms = this.#terms();
    if (tally?.isFor(quota) !== true || terms.clock.now() - tally.startedAt >= this.#resyncMs) {
      tally = new Tally(quota, terms);
      this.#tallies.set(key, tally);
    }
    for (const { served, informer } of followed) {
      if (tally.has(served)) continue;
      tally.count(served, informer.list(quota.metadata.namespace) as readonly ApiObject[]);
    }
    return tally;
  }

  #follow(served: ServedKind): Followed {
    const { storage, kind } = served;
    const known = this.#followed.get(storage);
    if (known !== undefined) return known;
    const { client, report } = this.#context;
    const isOwn = kind.custom !== undefined;
    const informer = isOwn
      ? new SharedInformer(client, kind, (error) => report(error, `the informer of ${storage}`))
      : this.#context.informer(kind);
    const followed: Followed = { served, informer, leave: () => (isOwn ? informer.close() : undefined) };
    this.#followed.set(storage, followed);
    informer.subscribe((event) => this.#onChange(served, event as InformerEvent<ApiObject>));
    return followed;
  }

  #onChange(served: ServedKind, event: InformerEvent<ApiObject>): void {
    const { type, object } = event;
    const { namespace = '', resourceVersion } = object.metadata;
    const terms = this.#terms();
    const isReason =
      type === 'DELETED' ||
      (type === 'MODIFIED' && evaluatorFor(served.gvr, terms).givesBack?.(event.previous, object, terms) === true);
    for (const quota of this.#quotas.list(namespace)) {
      const key = keyOf(quota);
      const tally = this.#tallies.get(key);
      if (tally?.has(served) !== true) continue;
      if (type === 'DELETED') tally.remove(served, object);
      else tally.set(served, object);
      const written = this.#written.get(key);
      // It was there when the last status was written, but not known here yet: that count was wrong.
      const isLate = written !== undefined && isNewerOrSame(written, resourceVersion);
      if (!isReason && !isLate) continue;
      // What is enforced is what the status says.
      const enforced = { ...quota, spec: { ...quota.spec, hard: quota.status.hard ?? {} } };
      if (isAbout(quotaIn(enforced), served.gvr, terms)) this.#queue.add(key);
    }
  }

  #terms() {
    const { dialect, clock, host } = this.#context;
    if (host === undefined) throw new TypeError('orchplane: quotas are counted for a cluster in this process');
    return { dialect, clock, features: host.features };
  }

  #countable(): readonly ServedKind[] {
    const all = this.#context.kinds();
    if (this.#kinds?.all !== all) {
      this.#kinds = { all, countable: countable(all) };
      this.#leaveGone(this.#kinds.countable);
    }
    return this.#kinds.countable;
  }

  /** Kinds of definitions go, or come again as others. */
  #leaveGone(present: readonly ServedKind[]): void {
    for (const [storage, { served, leave }] of this.#followed) {
      if (present.some(({ gvr }) => deepEqual(gvr, served.gvr))) continue;
      leave();
      this.#followed.delete(storage);
      // Its objects are gone with it, even where that has not been told any more.
      for (const [key, tally] of this.#tallies) {
        if (!tally.has(served)) continue;
        tally.count(served, []);
        this.#queue.add(key);
      }
    }
  }
}

/** What is read from the server never changes; counting asks for no more than to read it. */
function quotaIn(stored: Stored<typeof ResourceQuota>): ResourceQuota {
  return stored as ResourceQuota;
}

/** One version of each resource whose objects can be counted. */
function countable(all: readonly ServedKind[]): readonly ServedKind[] {
  const chosen = new Map<string, ServedKind>();
  for (const served of all) {
    if (!isCountable(served) || !NEEDED_VERBS.every((verb) => served.verbs.includes(verb))) continue;
    if (!chosen.has(served.storage) || served.storageKind === undefined) chosen.set(served.storage, served);
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
