/**
 * The kinds that the garbage collector watches: all stored kinds that support list, watch and delete, each in one version.
 * `refresh` adds new custom resource kinds and drops removed ones.
 */
import type { InformerEvent } from '../../client/informer.js';
import { CoreEvent } from '../../kinds/core/v1/event.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ApiObject, ObjectMetaInput } from '../../meta/object.js';
import type { Undo } from '../../util/clock.js';
import { type ControllerContext, ControllerPart } from '../runtime/controller.js';
import { SharedInformer } from '../runtime/shared-informer.js';

/** A kind of which only the metadata is used. */
export type ObjectKind = Kind<ApiObject, { metadata: ObjectMetaInput }>;

export interface WatchedKind {
  readonly served: ServedKind;
  readonly kind: ObjectKind;
  readonly informer: SharedInformer<ObjectKind>;
}

export interface OwnerKind {
  readonly served: ServedKind;
  readonly kind: ObjectKind;
  /** Undefined: the kind is served but not watched. */
  readonly watched: WatchedKind | undefined;
}

export interface WatchedKindsOptions {
  /** Called for every existing object and every change. */
  readonly observe: (watched: WatchedKind, event: InformerEvent<ApiObject>) => void;
  /** Called after kinds were added or removed. */
  readonly changed: () => void;
}

interface Watch extends WatchedKind {
  /** Whether it is a custom resource kind, which may be removed: its informer is not shared. */
  readonly isCustom: boolean;
  readonly stop: Undo;
}

const NEEDED_VERBS = ['delete', 'list', 'watch'] as const;

export class WatchedKinds extends ControllerPart<WatchedKindsOptions> {
  /** By storage key: the versions of a kind share their objects. */
  readonly #watches = new Map<string, Watch>();
  #owners: ReadonlyMap<string, OwnerKind> = new Map();
  #known: readonly ServedKind[] = [];
  readonly #syncing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(context: ControllerContext, options: WatchedKindsOptions) {
    super(context, options);
    context.onClose(() => {
      this.#isClosed = true;
      for (const watch of this.#watches.values()) if (watch.isCustom) watch.informer.close();
    });
  }

  /** Updates the watched kinds. Returns at once if the served kinds have not changed. */
  refresh(): void {
    const served = this.context.kinds();
    if (served === this.#known || this.#isClosed) return;
    this.#known = served;
    const wanted = wantedKinds(served);
    for (const [storage, watch] of this.#watches) {
      const next = wanted.get(storage);
      if (next === undefined) this.#remove(storage, watch);
      else if (!isSameResource(next, watch.served)) this.#stop(storage, watch);
    }
    for (const [storage, next] of wanted) if (!this.#watches.has(storage)) this.#watch(storage, next);
    this.#owners = ownerKinds(served, this.#watches);
    this.options.changed();
  }

  /** The kind of an owner reference; undefined if it is not served. */
  owner(apiVersion: string, kind: string): OwnerKind | undefined {
    return this.#owners.get(kindKey(apiVersion, kind));
  }

  /** Undefined if all informers have synced; otherwise resolves when they have. */
  pending(): Promise<unknown> | undefined {
    return this.#syncing.size === 0 ? undefined : Promise.all(this.#syncing);
  }

  #watch(storage: string, served: ServedKind): void {
    const { context } = this;
    // Every object has metadata, and nothing else of it is used.
    const kind = served.kind as ObjectKind;
    const isCustom = served.kind.customResourceHandler !== undefined;
    const informer = isCustom
      ? new SharedInformer(context.client, kind, (error) => context.report(error, `the informer of ${storage}`))
      : context.informer(kind);
    const watched: WatchedKind = { served, kind, informer };
    const stop = informer.subscribe((event) => this.options.observe(watched, event as InformerEvent<ApiObject>));
    this.#watches.set(storage, { ...watched, isCustom, stop });
    this.#awaitSync(informer);
  }

  #awaitSync(informer: SharedInformer<ObjectKind>): void {
    if (informer.resourceVersion !== undefined) return;
    // An informer that is closed before its first list is no longer waited for.
    const syncing: Promise<void> = informer.synced
      .catch(() => undefined)
      .then(() => void this.#syncing.delete(syncing));
    this.#syncing.add(syncing);
  }

  #stop(storage: string, watch: Watch): void {
    this.#watches.delete(storage);
    watch.stop();
    if (watch.isCustom) watch.informer.close();
  }

  /** Reports the objects of a removed kind as deleted, because the informer may not have received the events. */
  #remove(storage: string, watch: Watch): void {
    this.#stop(storage, watch);
    for (const object of watch.informer.list()) {
      const last = object as ApiObject;
      this.options.observe(watch, { type: 'DELETED', object: last, previous: last });
    }
  }
}

/** One version of each collectable kind by storage key: the storage version if it is served. */
function wantedKinds(all: readonly ServedKind[]): ReadonlyMap<string, ServedKind> {
  // Events are numerous, own nothing and expire by themselves.
  const events = all.find(({ kind }) => kind === CoreEvent)?.storageKey;
  const wanted = new Map<string, ServedKind>();
  for (const served of all) {
    const { storageKey, verbs, kind, storageKind } = served;
    if (storageKey === events || kind.virtual !== undefined || !NEEDED_VERBS.every((verb) => verbs.includes(verb)))
      continue;
    if (storageKind === undefined || !wanted.has(storageKey)) wanted.set(storageKey, served);
  }
  return wanted;
}

function ownerKinds(
  all: readonly ServedKind[],
  watches: ReadonlyMap<string, WatchedKind>,
): ReadonlyMap<string, OwnerKind> {
  const owners = new Map<string, OwnerKind>();
  for (const served of all) {
    if (!served.verbs.includes('get')) continue;
    const kind = served.kind as ObjectKind;
    const owner = { served, kind, watched: watches.get(served.storageKey) };
    const { apiVersion, gvk } = served;
    owners.set(kindKey(apiVersion, gvk.kind), owner);
    // The reference server also finds kinds in lower case, unless a kind has that name.
    // upstream: client-go/restmapper/discovery.go NewDiscoveryRESTMapper
    const lowerCase = kindKey(apiVersion, gvk.kind.toLowerCase());
    if (!owners.has(lowerCase)) owners.set(lowerCase, owner);
  }
  return owners;
}

function isSameResource({ gvr, namespaced }: ServedKind, other: ServedKind): boolean {
  const { group, version, resource } = other.gvr;
  return gvr.version === version && gvr.resource === resource && gvr.group === group && namespaced === other.namespaced;
}

export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}
