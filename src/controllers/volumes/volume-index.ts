/**
 * All volumes, filed so that the one for a claim is found without a look at each: by what they offer and, as long as they
 * refer to no claim, by class and size.
 */
import { everything, labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
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
import type { StoredClaim, StoredVolume } from './objects.js';

type Volumes = Map<string, StoredVolume>;

/** Volumes with the same access modes. */
interface Group {
  readonly modes: ReadonlySet<string>;
  /** By the key of the claim that they refer to. */
  readonly claimed: Map<string, Volumes>;
  /** By class, then by capacity as it is written. */
  readonly free: Map<string, Map<string, Volumes>>;
}

export class VolumeIndex {
  readonly #terms: MatchTerms;
  readonly #groups = new Map<string, Group>();

  constructor(terms: MatchTerms) {
    this.#terms = terms;
  }

  add(volume: StoredVolume): void {
    const group = this.#group(volume);
    const claim = claimKeyOf(volume);
    if (claim !== undefined) inside(group.claimed, claim).set(volume.metadata.name, volume);
    else {
      const sizes = inside(group.free, classOfVolume(volume, this.#terms.names));
      inside(sizes, capacityOf(volume) ?? '0').set(volume.metadata.name, volume);
    }
  }

  remove(volume: StoredVolume): void {
    const group = this.#group(volume);
    const { name } = volume.metadata;
    const claim = claimKeyOf(volume);
    if (claim !== undefined) dropFrom(group.claimed, claim, name);
    else {
      const className = classOfVolume(volume, this.#terms.names);
      const sizes = group.free.get(className);
      if (sizes === undefined) return;
      dropFrom(sizes, capacityOf(volume) ?? '0', name);
      if (sizes.size === 0) group.free.delete(className);
    }
  }

  /** The volumes that refer to a claim. */
  ofClaim(key: string): readonly StoredVolume[] {
    return [...this.#groups.values()].flatMap(({ claimed }) => [...(claimed.get(key)?.values() ?? [])]);
  }

  /** How many of a class refer to no claim. */
  countFree(className: string): number {
    let count = 0;
    for (const { free } of this.#groups.values()) {
      for (const volumes of free.get(className)?.values() ?? []) count += volumes.size;
    }
    return count;
  }

  /**
   * The best volume for a claim: among those that offer no more ways of access than they must, one that refers to the
   * claim already, or else the smallest that is large enough. `claimedOnly`: only the first of these.
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

function inside<Inner extends Map<string, unknown>>(outer: Map<string, Inner>, key: string): Inner {
  let inner = outer.get(key);
  if (inner === undefined) {
    // Every map in here holds maps or volumes by name; which of them is the caller's type.
    inner = new Map<string, unknown>() as unknown as Inner;
    outer.set(key, inner);
  }
  return inner;
}

function dropFrom(outer: Map<string, Volumes>, key: string, name: string): void {
  const inner = outer.get(key);
  inner?.delete(name);
  if (inner?.size === 0) outer.delete(key);
}
