/**
 * The kinds whose objects the collector knows: all that are stored and can be listed, watched and deleted, each in one
 * version. Kinds of definitions come and go; `refresh` follows the new ones and drops those that are gone.
 */
import type { InformerEvent } from '../../client/informer.js';
import { CoreEvent } from '../../kinds/core/v1/event.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ApiObject, ObjectMetaInput } from '../../meta/object.js';
import type { Undo } from '../../util/clock.js';
import type { ControllerContext } from '../runtime/controller.js';
import { SharedInformer } from '../runtime/shared-informer.js';

/** A kind as far as its objects are like all others. */
export type ObjectKind = Kind<ApiObject, { metadata: ObjectMetaInput }>;

export interface FollowedKind {
  readonly served: ServedKind;
  readonly kind: ObjectKind;
  readonly informer: SharedInformer<ObjectKind>;
}

/** What an owner reference names. */
export interface OwnerKind {
  readonly served: ServedKind;
  readonly kind: ObjectKind;
  /** Absent where nobody is told of what happens to its objects. */
  readonly followed: FollowedKind | undefined;
}

export interface FollowedKindsOptions {
  readonly context: ControllerContext;
  /** Told of every object that is there, that changes or that goes. */
  readonly observe: (followed: FollowedKind, event: InformerEvent<ApiObject>) => void;
  /** Told after kinds have come or gone. */
  readonly changed: () => void;
}

interface Following extends FollowedKind {
  /** A kind of a definition, which may go again: nobody else shares its informer. */
  readonly isOwn: boolean;
  readonly stop: Undo;
}

const NEEDED = ['delete', 'list', 'watch'] as const;

export class FollowedKinds {
  readonly #options: FollowedKindsOptions;
  /** By storage: versions of one kind share their objects. */
  readonly #following = new Map<string, Following>();
  #owners: ReadonlyMap<string, OwnerKind> = new Map();
  #known: readonly ServedKind[] = [];
  readonly #syncing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: FollowedKindsOptions) {
    this.#options = options;
    options.context.onClose(() => {
      this.#isClosed = true;
      for (const following of this.#following.values()) if (following.isOwn) following.informer.close();
    });
  }

  /** Takes over what is served now. Costs nothing while that stays the same. */
  refresh(): void {
    const served = this.#options.context.kinds();
    if (served === this.#known || this.#isClosed) return;
    this.#known = served;
    const wanted = wantedKinds(served);
    for (const [storage, following] of this.#following) {
      const next = wanted.get(storage);
      if (next === undefined) this.#drop(storage, following);
      else if (!isSameResource(next, following.served)) this.#leave(storage, following);
    }
    for (const [storage, next] of wanted) if (!this.#following.has(storage)) this.#follow(storage, next);
    this.#owners = ownerKinds(served, this.#following);
    this.#options.changed();
  }

  /** The kind that a reference names; undefined when nobody serves it. */
  owner(apiVersion: string, kind: string): OwnerKind | undefined {
    return this.#owners.get(kindKey(apiVersion, kind));
  }

  /** Undefined when all objects are known; else resolves when they are. */
  pending(): Promise<unknown> | undefined {
    return this.#syncing.size === 0 ? undefined : Promise.all(this.#syncing);
  }

  #follow(storage: string, served: ServedKind): void {
    const { context, observe } = this.#options;
    // Every kind's objects have metadata, and nothing else of them is looked at.
    const kind = served.kind as ObjectKind;
    const isOwn = served.kind.custom !== undefined;
    const informer = isOwn
      ? new SharedInformer(context.client, kind, (error) => context.report(error, `the informer of ${storage}`))
      : context.informer(kind);
    const followed: FollowedKind = { served, kind, informer };
    const stop = informer.subscribe((event) => observe(followed, event as InformerEvent<ApiObject>));
    this.#following.set(storage, { ...followed, isOwn, stop });
    this.#awaitSync(informer);
  }

  #awaitSync(informer: SharedInformer<ObjectKind>): void {
    if (informer.resourceVersion !== undefined) return;
    // An informer that was closed before its first list is waited for no longer.
    const syncing: Promise<void> = informer.synced
      .catch(() => undefined)
      .then(() => void this.#syncing.delete(syncing));
    this.#syncing.add(syncing);
  }

  #leave(storage: string, following: Following): void {
    this.#following.delete(storage);
    following.stop();
    if (following.isOwn) following.informer.close();
  }

  /** Objects of a kind that is gone are gone, even where that has not been told any more. */
  #drop(storage: string, following: Following): void {
    this.#leave(storage, following);
    for (const object of following.informer.list()) {
      const last = object as ApiObject;
      this.#options.observe(following, { type: 'DELETED', object: last, previous: last });
    }
  }
}

/** One version of each kind that can be collected, by storage: the one that is stored, if it is served. */
function wantedKinds(all: readonly ServedKind[]): ReadonlyMap<string, ServedKind> {
  // Events come in great numbers, own nothing and go by themselves.
  const events = all.find(({ kind }) => kind === CoreEvent)?.storage;
  const wanted = new Map<string, ServedKind>();
  for (const served of all) {
    const { storage, verbs, kind, storageKind } = served;
    if (storage === events || kind.virtual !== undefined || !NEEDED.every((verb) => verbs.includes(verb))) continue;
    if (storageKind === undefined || !wanted.has(storage)) wanted.set(storage, served);
  }
  return wanted;
}

function ownerKinds(
  all: readonly ServedKind[],
  following: ReadonlyMap<string, FollowedKind>,
): ReadonlyMap<string, OwnerKind> {
  const owners = new Map<string, OwnerKind>();
  for (const served of all) {
    if (!served.verbs.includes('get')) continue;
    const kind = served.kind as ObjectKind;
    const owner = { served, kind, followed: following.get(served.storage) };
    const { apiVersion, gvk } = served;
    owners.set(kindKey(apiVersion, gvk.kind), owner);
    // The reference finds kinds in small letters too, unless a kind is called so.
    const small = kindKey(apiVersion, gvk.kind.toLowerCase());
    if (!owners.has(small)) owners.set(small, owner);
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
