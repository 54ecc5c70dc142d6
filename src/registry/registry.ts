/**
 * The kinds of one cluster, by the resource in a URL and by the kind in a document, in the cluster's dialect.
 */
import type { Kind } from '../kinds/kind.js';
import { type ServedKind, serveKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import { qualifiedKind, qualifiedResource } from '../meta/gvk.js';
import { sameItems } from '../util/arrays.js';
import { getOrInsertComputed } from '../util/once.js';
import type { Availability } from './availability.js';

/** Lookup table of the kinds that a cluster serves. Each cluster has its own. */
export class Registry {
  readonly #dialect: Dialect;
  readonly #availability: Availability;
  #byResource = new Map<string, ServedKind>();
  #byAddress = new WeakMap<GroupVersionResource, ServedKind>();
  #byKind = new Map<string, ServedKind>();
  /** By storage key: the kind in whose version objects are stored. */
  #storageKinds = new Map<string, ServedKind>();
  #storageKeys = new WeakMap<GroupResource, string>();
  #builtInGroups = new Set<string>();
  #all: readonly ServedKind[] | undefined;
  #installed: readonly ServedKind[] | undefined;
  #versions:
    | { readonly all: readonly ServedKind[]; readonly byStorage: ReadonlyMap<string, readonly ServedKind[]> }
    | undefined;
  /** The kinds of CustomResourceDefinitions, by the name of the CRD. */
  #customKindsByCrd = new Map<string, CrdKinds>();
  #customKinds = new Set<ServedKind>();
  /** By resource: why a registered kind is not served. */
  #unavailable = new Map<string, string>();
  #disabled = new Set<string>();

  /** True while a fork uses the same maps; they are copied before the next change. */
  #isShared = false;

  constructor(dialect: Dialect, availability: Availability) {
    this.#dialect = dialect;
    this.#availability = availability;
  }

  /** Installs those kinds that are served by default; the others are registered as unavailable. */
  installAvailable(kinds: readonly Kind[]): void {
    if (kinds.length > 0) this.#availability.requireGroupsOf(kinds);
    for (const kind of kinds) this.install(kind, 'by default');
  }

  /** Installs a kind. Installing it again does nothing; a different kind with the same names throws an Error. */
  install(kind: Kind, asked: 'by name' | 'by default' = 'by name'): void {
    const why = this.#availability.unavailable(kind, asked);
    if (why === undefined) this.#add(kind);
    else this.#addUnavailable(kind, why);
  }

  /** Installs a kind regardless of the configuration. */
  forceInstall(kind: Kind): void {
    this.#add(kind);
  }

  /** Stores objects of a kind, also if no version of it is served. */
  store(kind: Kind): void {
    const served = serveKind(kind, this.#dialect);
    if (this.#storageKinds.has(served.storageKey)) return;
    this.#unshare();
    this.#storageKinds.set(served.storageKey, served);
  }

  /**
   * Replaces the served versions of a CRD. `storageKind` is the storage version, served or not; undefined removes the kind.
   * Does nothing if another CRD or a built-in kind uses the same storage key.
   */
  setCustomKinds(crdName: string, versions: readonly Kind[], storageKind: Kind | undefined): void {
    const before = this.#customKindsByCrd.get(crdName);
    if (before !== undefined && before.storageKind === storageKind && sameItems(before.versions, versions)) return;
    this.#unshare();
    for (const served of before?.served ?? []) {
      this.#byResource.delete(resourceId(served.gvr));
      this.#byKind.delete(kindId(served.gvk));
      this.#storageKinds.delete(served.storageKey);
      this.#customKinds.delete(served);
    }
    this.#byAddress = new WeakMap();
    this.#all = undefined;
    this.#customKindsByCrd.delete(crdName);
    if (storageKind === undefined) return;
    const servedStorageKind = serveKind(storageKind, this.#dialect);
    if (this.#storageKinds.has(servedStorageKind.storageKey)) return;
    const served = versions.map((kind) =>
      kind === storageKind ? servedStorageKind : serveKind(kind, this.#dialect, servedStorageKind),
    );
    this.#storageKinds.set(servedStorageKind.storageKey, servedStorageKind);
    for (const version of served) {
      this.#byResource.set(resourceId(version.gvr), version);
      this.#byKind.set(kindId(version.gvk), version);
    }
    // The storage version is kept even when it is not served: its objects must be found when the kind is removed.
    const kinds = served.includes(servedStorageKind) ? served : [...served, servedStorageKind];
    for (const kind of kinds) this.#customKinds.add(kind);
    this.#customKindsByCrd.set(crdName, { versions, storageKind, served: kinds });
  }

  /** Removes the kinds of all CRDs. */
  removeAllCustomKinds(): void {
    for (const crdName of [...this.#customKindsByCrd.keys()]) this.setCustomKinds(crdName, [], undefined);
  }

  /** Whether a CRD has kinds. */
  hasCustomKinds(): boolean {
    return this.#customKindsByCrd.size > 0;
  }

  #addUnavailable(kind: Kind, why: string): void {
    this.#unshare();
    const { gvr, gvk } = serveKind(kind, this.#dialect);
    this.#unavailable.set(resourceId(gvr), why);
    this.#disabled.add(kindId(gvk));
  }

  #add(kind: Kind): void {
    const served = serveKind(kind, this.#dialect);
    const present = this.#byResource.get(resourceId(served.gvr)) ?? this.#byKind.get(kindId(served.gvk));
    if (present?.kind === kind) return;
    if (present !== undefined) {
      const names = `${qualifiedResource(served.groupResource)} or ${qualifiedKind(served.gvk)}`;
      throw new Error(`orchplane: another kind is already served as ${names} in ${served.apiVersion}`);
    }
    const storageKind = served.storageKind ?? served;
    const other = this.#storageKinds.get(served.storageKey);
    if (other !== undefined && other.kind !== storageKind.kind) {
      const versions = `${other.apiVersion} and ${served.apiVersion}`;
      throw new Error(
        `orchplane: ${qualifiedKind(served.gvk)} cannot be served in ${versions}: neither is declared as a version of the other`,
      );
    }
    this.#unshare();
    if (other === undefined) this.#storageKinds.set(served.storageKey, storageKind);
    this.#byResource.set(resourceId(served.gvr), served);
    this.#all = undefined;
    this.#installed = undefined;
    this.#byKind.set(kindId(served.gvk), served);
    this.#unavailable.delete(resourceId(served.gvr));
    this.#disabled.delete(kindId(served.gvk));
    if (kind.representation === 'struct') this.#builtInGroups.add(served.gvr.group);
  }

  byResource(gvr: GroupVersionResource): ServedKind | undefined {
    // Clients reuse the same address object; a lookup by identity avoids building the key.
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

  /** The kind in whose version objects of a resource are stored, if the cluster serves the resource in any version. */
  storageKindOf(resource: GroupResource): ServedKind | undefined {
    // Plugins pass the same constants, so the key is cached by identity.
    let storage = this.#storageKeys.get(resource);
    if (storage === undefined) {
      storage = qualifiedResource({ group: this.#dialect.group(resource.group), resource: resource.resource });
      this.#storageKeys.set(resource, storage);
    }
    return this.#storageKinds.get(storage);
  }

  /** The storage version of the kind with a storage key. */
  storageKind(storageKey: string): ServedKind | undefined {
    return this.#storageKinds.get(storageKey);
  }

  /** All versions in which the objects of a kind are served. */
  versionsOf({ storageKey }: ServedKind): readonly ServedKind[] {
    const all = this.all();
    if (this.#versions?.all !== all) this.#versions = { all, byStorage: byStorage(all) };
    return this.#versions.byStorage.get(storageKey) ?? [];
  }

  /** The storage version of every kind. */
  storageKinds(): readonly ServedKind[] {
    return [...this.#storageKinds.values()];
  }

  /** Why a registered kind is not served; undefined for a kind that is not registered. */
  unavailableReason(gvr: GroupVersionResource): string | undefined {
    return this.#unavailable.get(resourceId(gvr));
  }

  /** True for a kind that is registered but not served. */
  isDisabled(gvk: GroupVersionKind): boolean {
    return this.#disabled.has(kindId(gvk));
  }

  /** True for groups with built-in kinds: a request for an unknown resource in them gets a different error. */
  hasBuiltIns(group: string): boolean {
    return this.#builtInGroups.has(group);
  }

  /** All served kinds in order of installation. Returns the same array until the kinds change, so callers can cache by it. */
  all(): readonly ServedKind[] {
    this.#all ??= Object.freeze([...this.#byResource.values()]);
    return this.#all;
  }

  /** The served kinds that do not come from a CRD. Returns the same array until they change. */
  installed(): readonly ServedKind[] {
    this.#installed ??= Object.freeze(this.all().filter((served) => !this.#customKinds.has(served)));
    return this.#installed;
  }

  /** An independent registry with the same kinds (copy on write). */
  fork(): Registry {
    const copy = new Registry(this.#dialect, this.#availability);
    this.#isShared = true;
    copy.#isShared = true;
    copy.#byResource = this.#byResource;
    copy.#byAddress = this.#byAddress;
    copy.#byKind = this.#byKind;
    copy.#storageKinds = this.#storageKinds;
    copy.#storageKeys = this.#storageKeys;
    copy.#builtInGroups = this.#builtInGroups;
    copy.#all = this.#all;
    copy.#installed = this.#installed;
    copy.#versions = this.#versions;
    copy.#customKindsByCrd = this.#customKindsByCrd;
    copy.#customKinds = this.#customKinds;
    copy.#unavailable = this.#unavailable;
    copy.#disabled = this.#disabled;
    return copy;
  }

  #unshare(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    this.#byResource = new Map(this.#byResource);
    this.#byAddress = new WeakMap();
    this.#byKind = new Map(this.#byKind);
    this.#storageKinds = new Map(this.#storageKinds);
    this.#builtInGroups = new Set(this.#builtInGroups);
    this.#customKindsByCrd = new Map(this.#customKindsByCrd);
    this.#customKinds = new Set(this.#customKinds);
    this.#unavailable = new Map(this.#unavailable);
    this.#disabled = new Set(this.#disabled);
  }
}

interface CrdKinds {
  readonly versions: readonly Kind[];
  readonly storageKind: Kind;
  readonly served: readonly ServedKind[];
}

function byStorage(kinds: readonly ServedKind[]): ReadonlyMap<string, readonly ServedKind[]> {
  const versions = new Map<string, ServedKind[]>();
  for (const served of kinds) getOrInsertComputed(versions, served.storageKey, () => []).push(served);
  return versions;
}

function resourceId(gvr: GroupVersionResource): string {
  return `${gvr.group}/${gvr.version}/${gvr.resource}`;
}

function kindId(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}/${gvk.kind}`;
}
