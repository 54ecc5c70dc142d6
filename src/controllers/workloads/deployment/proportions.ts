/**
 * Sizes when a Deployment is resized in the middle of a rollout: each ReplicaSet gets its share, so that a template that
 * turns out bad has not spread faster than the rollout alone would have spread it.
 */
import { type AnnotationKeys, annotationsOf, countIn } from './annotations.js';
import type { Bounds, StoredDeployment } from './bounds.js';
import { bySizeNewerFirst, bySizeOlderFirst, type StoredReplicaSet, wantedBy } from './replica-set-list.js';

export interface Share {
  readonly set: StoredReplicaSet;
  readonly size: number;
}

/**
 * The sizes, largest ReplicaSet first: what rounding leaves over is its. Sets of the same size grow from the newest and
 * shrink from the oldest.
 *
 * Of 10 pods with a surge of 3, 8 old and 5 new, resized to 15 with a surge of 4: 19/13 of each, 8 → 12 and 5 → 7.
 */
export function proportions(
  active: readonly StoredReplicaSet[],
  about: { readonly deployment: StoredDeployment; readonly bounds: Bounds; readonly keys: AnnotationKeys },
): Share[] {
  const { deployment, bounds } = about;
  const wanted = deployment.spec.replicas;
  const total = wanted > 0 ? wanted + bounds.maxSurge : 0;
  const toAdd = total - wantedBy(active);
  const sets = toAdd === 0 ? [...active] : [...active].sort(toAdd > 0 ? bySizeNewerFirst : bySizeOlderFirst);
  let added = 0;
  const shares = sets.map((set) => {
    const left = toAdd - added;
    const part = left === 0 ? 0 : partOf(set, about);
    const change = toAdd > 0 ? Math.min(part, left) : Math.max(part, left);
    added += change;
    return { set, size: set.spec.replicas + change };
  });
  return shares.map((share, index) =>
    index === 0 ? { ...share, size: Math.max(0, share.size + toAdd - added) } : share,
  );
}

/** By how much a ReplicaSet changes when it changes as much as the whole does. */
function partOf(
  set: StoredReplicaSet,
  about: { readonly deployment: StoredDeployment; readonly bounds: Bounds; readonly keys: AnnotationKeys },
): number {
  const { deployment, bounds, keys } = about;
  const size = set.spec.replicas;
  const wanted = deployment.spec.replicas;
  if (wanted === 0) return -size;
  const told = countIn(annotationsOf(set)[keys.max]);
  // Somebody has taken the annotation away: what there is now is the best that is known.
  const before = told === undefined || told === 0 ? (deployment.status.replicas ?? 0) : told;
  if (before === 0) return 0;
  return Math.round((size * (wanted + bounds.maxSurge)) / before) - size;
}
