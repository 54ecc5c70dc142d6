/**
 * The names and types of volumes and claims, pure functions that compare a volume with a claim, and an index of all volumes
 * that finds the volume for a claim without scanning: by access modes, then by claimRef or, for free volumes, by class and
 * capacity.
 */
import type { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import type { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { StorageClass } from '../../kinds/storage/v1/storage-class.js';
import type { Dialect } from '../../meta/dialect.js';
import { everything, labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';

export type StoredVolume = ObjectOf<typeof PersistentVolume>;

export type StoredClaim = ObjectOf<typeof PersistentVolumeClaim>;

export type StoredPod = ObjectOf<typeof Pod>;

export type StoredClass = ObjectOf<typeof StorageClass>;

export interface VolumeNames {
  /** On a claim: it was bound once. It is never bound to another volume. */
  readonly bindCompleted: string;
  /** On a volume or claim: the controller, not a user, chose the other side. */
  readonly boundByController: string;
  /** On a volume: the provisioner that created it. */
  readonly provisionedBy: string;
  /** On a claim: the node of its first consumer. */
  readonly selectedNode: string;
  /** On a claim: the provisioner that must create its volume. */
  readonly storageProvisioner: string;
  readonly betaStorageProvisioner: string;
  /** On a volume or claim: the storage class, from before there was a field for it. */
  readonly betaStorageClass: string;
  /** On a volume: its capacity before a resize. */
  readonly preResizeCapacity: string;
  readonly claimProtection: string;
  readonly volumeProtection: string;
  /** Keeps a volume of a built-in provisioner until its storage is deleted. */
  readonly deletionProtection: string;
  /** The name prefix of built-in provisioners. */
  readonly builtInPrefix: string;
}

export function volumeNames({ key, subkey }: Dialect): VolumeNames {
  return {
    bindCompleted: subkey('pv', 'bind-completed'),
    boundByController: subkey('pv', 'bound-by-controller'),
    provisionedBy: subkey('pv', 'provisioned-by'),
    selectedNode: subkey('volume', 'selected-node'),
    storageProvisioner: subkey('volume', 'storage-provisioner'),
    betaStorageProvisioner: subkey('volume.beta', 'storage-provisioner'),
    betaStorageClass: subkey('volume.beta', 'storage-class'),
    preResizeCapacity: subkey('volume.alpha', 'pre-resize-capacity'),
    claimProtection: key('pvc-protection'),
    volumeProtection: key('pv-protection'),
    deletionProtection: key('pv-controller'),
    builtInPrefix: key(''),
  };
}

/** The cluster settings that matching depends on. */
export interface MatchTerms {
  readonly names: VolumeNames;
  readonly features: FeatureGates | undefined;
}

type Annotated = Pick<StoredVolume | StoredClaim, 'metadata'>;

export function annotationOf({ metadata }: Annotated, name: string): string | undefined {
  return own(metadata.annotations ?? {}, name);
}

/** The class of a claim; empty if it wants none or has none yet. */
export function classOfClaim(claim: StoredClaim, { betaStorageClass }: VolumeNames): string {
  return annotationOf(claim, betaStorageClass) ?? claim.spec.storageClassName ?? '';
}

/** Whether a claim sets a class, including the empty one. */
export function hasClass(claim: StoredClaim, { betaStorageClass }: VolumeNames): boolean {
  return annotationOf(claim, betaStorageClass) !== undefined || claim.spec.storageClassName !== undefined;
}

export function classOfVolume(volume: StoredVolume, { betaStorageClass }: VolumeNames): string {
  return annotationOf(volume, betaStorageClass) ?? volume.spec.storageClassName ?? '';
}

export function claimKeyOf({ spec }: StoredVolume): string | undefined {
  return spec.claimRef === undefined ? undefined : `${spec.claimRef.namespace}/${spec.claimRef.name}`;
}

/** Whether a volume's claimRef is this claim: by name and, if set, by uid. */
export function isBoundTo({ spec }: StoredVolume, { metadata }: StoredClaim): boolean {
  const { claimRef } = spec;
  if (claimRef?.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return (claimRef.uid ?? '') === '' || claimRef.uid === metadata.uid;
}

const sizes = new Map<string, Quantity>();
let sizesCharacters = 0;
const MAX_CACHED_SIZES = 1_000;
/** A size may have three million decimals. */
const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;

/** Parses a size with a cache, because the same few sizes are compared repeatedly. */
export function sizeOf(text: string | undefined): Quantity {
  if (text === undefined) return Quantity.zero;
  let size = sizes.get(text);
  if (size === undefined) {
    sizesCharacters += text.length;
    if (sizes.size >= MAX_CACHED_SIZES || sizesCharacters > MAX_CACHED_CHARACTERS) {
      sizes.clear();
      sizesCharacters = text.length;
    }
    size = Quantity.parse(text);
    sizes.set(text, size);
  }
  return size;
}

export function capacityOf({ spec }: StoredVolume): string | undefined {
  return own(spec.capacity ?? {}, 'storage');
}

export function requestOf({ spec }: StoredClaim): Quantity {
  return sizeOf(own(spec.resources.requests ?? {}, 'storage'));
}

export function sameVolumeMode(claim: StoredClaim, volume: StoredVolume): boolean {
  return (claim.spec.volumeMode ?? 'Filesystem') === (volume.spec.volumeMode ?? 'Filesystem');
}

export function sameAttributes(claim: StoredClaim, volume: StoredVolume, { features }: MatchTerms): boolean {
  const [wanted, given] = [claim.spec.volumeAttributesClassName ?? '', volume.spec.volumeAttributesClassName ?? ''];
  return features?.enabled('VolumeAttributesClass') === true ? wanted === given : wanted === '' && given === '';
}

export function offersModes(claim: StoredClaim, volume: StoredVolume): boolean {
  return (claim.spec.accessModes ?? []).every((mode) => (volume.spec.accessModes ?? []).includes(mode));
}

/**
 * The reason why a claim cannot have the volume that it names; undefined if it can. The messages are the reference server's.
 * upstream: pkg/controller/volume/persistentvolume/pv_controller.go checkVolumeSatisfyClaim
 */
export function mismatch(volume: StoredVolume, claim: StoredClaim, terms: MatchTerms): string | undefined {
  const { names, features } = terms;
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  }
  if (sizeOf(capacityOf(volume)).cmp(requestOf(claim)) < 0) return 'requested PV is too small';
  if (classOfVolume(volume, names) !== classOfClaim(claim, names)) return 'storageClassName does not match';
  if (!sameAttributes(claim, volume, terms)) {
    return features?.enabled('VolumeAttributesClass') === true
      ? 'volumeAttributesClassName does not match'
      : 'volumeAttributesClassName is not supported when the feature-gate VolumeAttributesClass is disabled';
  }
  if (!sameVolumeMode(claim, volume)) return 'incompatible volumeMode';
  if (!offersModes(claim, volume)) return 'incompatible accessMode';
  return undefined;
}

type Volumes = Map<string, StoredVolume>;

/** Volumes with the same access modes. */
interface Group {
  readonly modes: ReadonlySet<string>;
  /** By the key of the claimRef. */
  readonly claimed: Map<string, Volumes>;
  /** By class, then by the capacity string. */
  readonly free: Map<string, Map<string, Volumes>>;
}

/** All volumes, indexed by what claims ask for. */
export class VolumeIndex {
  readonly #terms: MatchTerms;
  readonly #groups = new Map<string, Group>();

  constructor(terms: MatchTerms) {
    this.#terms = terms;
  }

  add(volume: StoredVolume): void {
    const group = this.#group(volume);
    const claim = claimKeyOf(volume);
    if (claim !== undefined) addTo(group.claimed, claim, volume);
    else {
      const className = classOfVolume(volume, this.#terms.names);
      const sizes = getOrInsertComputed(group.free, className, () => new Map());
      addTo(sizes, capacityOf(volume) ?? '0', volume);
    }
  }

  remove(volume: StoredVolume): void {
    const group = this.#group(volume);
    const { name } = volume.metadata;
    const claim = claimKeyOf(volume);
    if (claim !== undefined) removeFrom(group.claimed, claim, name);
    else {
      const className = classOfVolume(volume, this.#terms.names);
      const sizes = group.free.get(className);
      if (sizes === undefined) return;
      removeFrom(sizes, capacityOf(volume) ?? '0', name);
      if (sizes.size === 0) group.free.delete(className);
    }
  }

  /** The volumes whose claimRef is the claim. */
  ofClaim(key: string): readonly StoredVolume[] {
    return [...this.#groups.values()].flatMap(({ claimed }) => [...(claimed.get(key)?.values() ?? [])]);
  }

  /** The number of volumes of a class without claimRef. */
  countFree(className: string): number {
    let count = 0;
    for (const { free } of this.#groups.values()) {
      for (const volumes of free.get(className)?.values() ?? []) count += volumes.size;
    }
    return count;
  }

  /**
   * The best volume for a claim. Groups with the fewest access modes come first; within a group, a volume whose claimRef is
   * the claim, otherwise the smallest that is large enough. `claimedOnly` skips the latter.
   */
  find(claim: StoredClaim, { claimedOnly }: { claimedOnly: boolean }): StoredVolume | undefined {
    const wanted = claim.spec.accessModes ?? [];
    const groups = [...this.#groups.values()]
      .filter(({ modes }) => wanted.every((mode) => modes.has(mode)))
      .sort((left, right) => left.modes.size - right.modes.size);
    for (const group of groups) {
      const found = this.#claimedIn(group, claim) ?? (claimedOnly ? undefined : this.#smallestIn(group, claim));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #claimedIn({ claimed }: Group, claim: StoredClaim): StoredVolume | undefined {
    const request = requestOf(claim);
    for (const volume of claimed.get(`${claim.metadata.namespace}/${claim.metadata.name}`)?.values() ?? []) {
      if (!isBoundTo(volume, claim) || sizeOf(capacityOf(volume)).cmp(request) < 0) continue;
      if (this.#isUsable(volume, claim)) return volume;
    }
    return undefined;
  }

  #smallestIn({ free }: Group, claim: StoredClaim): StoredVolume | undefined {
    const sizes = free.get(classOfClaim(claim, this.#terms.names));
    if (sizes === undefined) return undefined;
    const { selector: wanted } = claim.spec;
    const selector = wanted === undefined ? everything : labelSelectorFromObject(wanted);
    const request = requestOf(claim);
    let best: StoredVolume | undefined;
    for (const [text, volumes] of sizes) {
      const size = sizeOf(text);
      if (size.cmp(request) < 0 || (best !== undefined && size.cmp(sizeOf(capacityOf(best))) >= 0)) continue;
      for (const volume of volumes.values()) {
        if (volume.status.phase !== 'Available' || !matchesLabels(selector, volume.metadata.labels)) continue;
        if (!this.#isUsable(volume, claim)) continue;
        best = volume;
        break;
      }
    }
    return best;
  }

  #isUsable(volume: StoredVolume, claim: StoredClaim): boolean {
    if (volume.metadata.deletionTimestamp !== undefined) return false;
    return sameVolumeMode(claim, volume) && sameAttributes(claim, volume, this.#terms);
  }

  #group({ spec }: StoredVolume): Group {
    const modes = new Set<string>(spec.accessModes);
    const key = [...modes].sort().join(',');
    return getOrInsertComputed(this.#groups, key, () => ({ modes, claimed: new Map(), free: new Map() }));
  }
}

function addTo(outer: Map<string, Volumes>, key: string, volume: StoredVolume): void {
  getOrInsertComputed(outer, key, () => new Map()).set(volume.metadata.name, volume);
}

function removeFrom(outer: Map<string, Volumes>, key: string, name: string): void {
  const inner = outer.get(key);
  inner?.delete(name);
  if (inner?.size === 0) outer.delete(key);
}
