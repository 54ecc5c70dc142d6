/**
 * An index of all volumes that finds the volume for a claim without scanning: by access modes, then by claimRef or, for free
 * volumes, by class and capacity.
 */
import { everything, labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { StoredClaim, StoredVolume } from './matching.js';
import {
  capacityOf,
  claimKeyOf,
  classOfClaim,
  classOfVolume,
  isBoundTo,
  type MatchTerms,
  requestOf,
  sameAttributes,
  sameVolumeMode,
  sizeOf,
} from './matching.js';

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
      const sizes = group.free.get(className) ?? new Map<string, Volumes>();
      group.free.set(className, sizes);
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
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { modes, claimed: new Map(), free: new Map() };
      this.#groups.set(key, group);
    }
    return group;
  }
}

function addTo(outer: Map<string, Volumes>, key: string, volume: StoredVolume): void {
  const inner = outer.get(key);
  if (inner === undefined) outer.set(key, new Map([[volume.metadata.name, volume]]));
  else inner.set(volume.metadata.name, volume);
}

function removeFrom(outer: Map<string, Volumes>, key: string, name: string): void {
  const inner = outer.get(key);
  inner?.delete(name);
  if (inner?.size === 0) outer.delete(key);
}
