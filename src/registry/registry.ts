/**
 * Kinds made addressable: by the resource in a URL and by the kind in a document, in one dialect. Each cluster has a
 * registry of its own.
 */
import type { Kind } from '../kinds/kind.js';
import { type ServedKind, serveKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import { qualifiedKind, qualifiedResource } from '../meta/gvk.js';
import { sameItems } from '../util/same-items.js';
import type { Availability } from './availability.js';

export class Registry {
  readonly #dialect: Dialect;
  readonly #availability: Availability;
  #byResource = new Map<string, ServedKind>();
  #byAddress = new WeakMap<GroupVersionResource, ServedKind>();
  #byKind = new Map<string, ServedKind>();
  /** By storage: the kind in whose form its objects are stored. */
  #stored = new Map<string, ServedKind>();
  #places = new WeakMap<GroupResource, string>();
  #builtInGroups = new Set<string>();
  #all: readonly ServedKind[] | undefined;
  #versions:
    | { readonly all: readonly ServedKind[]; readonly byStorage: ReadonlyMap<string, readonly ServedKind[]> }
    | undefined;
  /** What is served in somebody's name, and may go again. */
  #owned = new Map<string, OwnedKinds>();
  #ownedKinds = new Set<ServedKind>();
  /** By resource: why a kind that could be served is not. */
  #unavailable = new Map<string, string>();
  #off = new Set<string>();

  /** Its tables are also those of a fork, or of the registry it was forked from: who changes them makes copies first. */
  #isShared = false;

  constructor(dialect: Dialect, availability: Availability) {
    this.#dialect = dialect;
    this.#availability = availability;
  }

  /** Makes kinds served unless their level or a gate keeps them off. */
  offer(kinds: readonly Kind[]): void {
    if (kinds.length > 0) this.#availability.requireGroupsOf(kinds);
    for (const kind of kinds) {
      const refusal = this.#availability.unavailable(kind, 'by default');
      if (refusal === undefined) this.#add(kind);
      else this.#noteUnavailable(kind, refusal.why);
    }
  }

  /** Makes a kind served. Installing the same kind again does nothing; another one under its names is refused. */
  install(kind: Kind): void {
    const refusal = this.#availability.unavailable(kind, 'by name');
    if (refusal === undefined) this.#add(kind);
    else this.#noteUnavailable(kind, refusal.why);
  }

  /** Makes a kind served, whatever the configuration says. */
  demand(kind: Kind): void {
    this.#add(kind);
  }

  /**
   * Serves these versions of a kind in the name of `owner`, in place of those before. `stored` is the form in which its
   * objects are kept, served or not. What somebody else serves under the same names stays as it is.
   */
  serve(owner: string, versions: readonly Kind[], stored: Kind | undefined): void {
    const before = this.#owned.get(owner);
    if (before !== undefined && before.stored === stored && sameItems(before.versions, versions)) return;
    this.#unshare();
    for (const served of before?.served ?? []) {
      this.#byResource.delete(resourceId(served.gvr));
      this.#byKind.delete(kindId(served.gvk));
      this.#stored.delete(served.storage);
      this.#ownedKinds.delete(served);
    }
    this.#byAddress = new WeakMap();
    this.#all = undefined;
    this.#owned.delete(owner);
    if (stored === undefined) return;
    const form = serveKind(stored, this.#dialect);
    if (this.#stored.has(form.storage)) return;
    const served = versions.map((kind) => (kind === stored ? form : serveKind(kind, this.#dialect, form)));
    this.#stored.set(form.storage, form);
    for (const version of served) {
      this.#byResource.set(resourceId(version.gvr), version);
      this.#byKind.set(kindId(version.gvk), version);
    }
    // The stored form is there even when no version is served: its objects have to be found when they go.
    const kinds = served.includes(form) ? served : [...served, form];
    for (const kind of kinds) this.#ownedKinds.add(kind);
    this.#owned.set(owner, { versions, stored, served: kinds });
  }

  /** Nothing is served in anybody's name any more. */
  disown(): void {
    for (const owner of [...this.#owned.keys()]) this.serve(owner, [], undefined);
  }

  /** Whether anything is served in anybody's name. */
  hasOwned(): boolean {
    return this.#owned.size > 0;
  }

  /** True for what is served in somebody's name. */
  isOwned(served: ServedKind): boolean {
    return this.#ownedKinds.has(served);
  }

  #noteUnavailable(kind: Kind, why: string): void {
    this.#unshare();
    const { gvr, gvk } = serveKind(kind, this.#dialect);
    this.#unavailable.set(resourceId(gvr), why);
    this.#off.add(kindId(gvk));
  }

  #add(kind: Kind): void {
    const served = serveKind(kind, this.#dialect);
    const present = this.#byResource.get(resourceId(served.gvr)) ?? this.#byKind.get(kindId(served.gvk));
    if (present?.kind === kind) return;
    if (present !== undefined) {
      const names = `${qualifiedResource(served.groupResource)} or ${qualifiedKind(served.gvk)}`;
      throw new Error(`orchplane: another kind is already served as ${names} in ${served.apiVersion}`);
    }
    const form = served.storedAs ?? served;
    const otherForm = this.#stored.get(served.storage);
    if (otherForm !== undefined && otherForm.kind !== form.kind) {
      const versions = `${otherForm.apiVersion} and ${served.apiVersion}`;
      throw new Error(
        `orchplane: ${qualifiedKind(served.gvk)} cannot be served in ${versions}: neither is declared as a version of the other`,
      );
    }
    this.#unshare();
    if (otherForm === undefined) this.#stored.set(served.storage, form);
    this.#byResource.set(resourceId(served.gvr), served);
    this.#all = undefined;
    this.#byKind.set(kindId(served.gvk), served);
    this.#unavailable.delete(resourceId(served.gvr));
    this.#off.delete(kindId(served.gvk));
    if (kind.manner === 'struct') this.#builtInGroups.add(served.gvr.group);
  }

  byResource(gvr: GroupVersionResource): ServedKind | undefined {
    // A client sends the same address object again and again; looking it up by identity saves building its text.
    let served = this.#byAddress.get(gvr);
    if (served === undefined) {
      served = this.#byResource.get(resourceId(gvr));
      if (served !== undefined) this.#byAddress.set(gvr, served);
    }
    return served;
  }

  byKind(gvk: GroupVersionKind): ServedKind | undefined {
    return this.#byKind.get(kindId(gvk));
  }

  /** The form in which objects of a resource are stored, if the cluster serves them in any version. */
  storedForm(resource: GroupResource): ServedKind | undefined {
    // Plugins ask with the same constants again and again.
    let place = this.#places.get(resource);
    if (place === undefined) {
      place = qualifiedResource({ group: this.#dialect.group(resource.group), resource: resource.resource });
      this.#places.set(resource, place);
    }
    return this.#stored.get(place);
  }

  /** All versions in which the objects of a kind are served. */
  versionsOf({ storage }: ServedKind): readonly ServedKind[] {
    const all = this.all();
    if (this.#versions?.all !== all) this.#versions = { all, byStorage: byStorage(all) };
    return this.#versions.byStorage.get(storage) ?? [];
  }

  /** The forms in which anything is stored. */
  storedForms(): readonly ServedKind[] {
    return [...this.#stored.values()];
  }

  /** Why a kind that the cluster knows is not served; undefined for one it does not know. */
  whyUnavailable(gvr: GroupVersionResource): string | undefined {
    return this.#unavailable.get(resourceId(gvr));
  }

  /** True for a kind that the cluster knows and does not serve. */
  isOff(gvk: GroupVersionKind): boolean {
    return this.#off.has(kindId(gvk));
  }

  /** True for groups in which built-in kinds live: what they do not serve is refused differently. */
  hasBuiltIns(group: string): boolean {
    return this.#builtInGroups.has(group);
  }

  /** In the order of installation; the same list until it changes, so that what is made of it can be kept. */
  all(): readonly ServedKind[] {
    this.#all ??= Object.freeze([...this.#byResource.values()]);
    return this.#all;
  }

  /** An independent registry with the same kinds. Costs nothing until either of them changes. */
  fork(): Registry {
    const copy = new Registry(this.#dialect, this.#availability);
    this.#isShared = true;
    copy.#isShared = true;
    copy.#byResource = this.#byResource;
    copy.#byAddress = this.#byAddress;
    copy.#byKind = this.#byKind;
    copy.#stored = this.#stored;
    copy.#places = this.#places;
    copy.#builtInGroups = this.#builtInGroups;
    copy.#all = this.#all;
    copy.#versions = this.#versions;
    copy.#owned = this.#owned;
    copy.#ownedKinds = this.#ownedKinds;
    copy.#unavailable = this.#unavailable;
    copy.#off = this.#off;
    return copy;
  }

  #unshare(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    this.#byResource = new Map(this.#byResource);
    this.#byAddress = new WeakMap();
    this.#byKind = new Map(this.#byKind);
    this.#stored = new Map(this.#stored);
    this.#builtInGroups = new Set(this.#builtInGroups);
    this.#owned = new Map(this.#owned);
    this.#ownedKinds = new Set(this.#ownedKinds);
    this.#unavailable = new Map(this.#unavailable);
    this.#off = new Set(this.#off);
  }
}

interface OwnedKinds {
  readonly versions: readonly Kind[];
  readonly stored: Kind;
  readonly served: readonly ServedKind[];
}

function byStorage(kinds: readonly ServedKind[]): ReadonlyMap<string, readonly ServedKind[]> {
  const versions = new Map<string, ServedKind[]>();
  for (const served of kinds) {
    const known = versions.get(served.storage);
    if (known === undefined) versions.set(served.storage, [served]);
    else known.push(served);
  }
  return versions;
}

function resourceId(gvr: GroupVersionResource): string {
  return `${gvr.group}/${gvr.version}/${gvr.resource}`;
}

function kindId(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}/${gvk.kind}`;
}
