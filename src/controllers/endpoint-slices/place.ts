/**
 * Distributes endpoints over slices with few writes: endpoints stay in their slice, slices that change anyway are filled up, and
 * only then other slices are changed or created.
 */
import {
  endpointKey,
  endpointsOf,
  isSameEndpoint,
  type SliceChanges,
  type SliceEndpoint,
  type SlicePlan,
  type StoredSlice,
} from './slice.js';

export interface Placement {
  readonly existing: readonly StoredSlice[];
  /** By {@link endpointKey}. Endpoints are removed as they are placed. */
  readonly desired: Map<string, SliceEndpoint>;
  readonly maxEndpoints: number;
  /** The plan of an existing slice with other endpoints. */
  readonly changed: (slice: StoredSlice, endpoints: readonly SliceEndpoint[]) => SlicePlan;
  /** Whether a slice must be written even if its endpoints are unchanged. */
  readonly isStale: (slice: StoredSlice) => boolean;
  /** The plan of a new slice without endpoints. */
  readonly fresh: () => SlicePlan;
}

export function placeEndpoints(placement: Placement): SliceChanges {
  const { desired, maxEndpoints } = placement;
  const { update, remove, unchanged } = keepInPlace(placement);

  // Fullest first, so that few slices are needed.
  for (const plan of [...update].sort((a, b) => b.endpoints.length - a.endpoints.length)) fill(plan, placement);

  const create: SlicePlan[] = [];
  while (desired.size > 0) {
    const host = desired.size < maxEndpoints ? bestFit(unchanged, desired.size, maxEndpoints) : undefined;
    if (host === undefined) {
      const plan = placement.fresh();
      fill(plan, placement);
      create.push(plan);
    } else {
      unchanged.delete(host);
      const plan = placement.changed(host, endpointsOf(host));
      fill(plan, placement);
      update.push(plan);
    }
  }
  return { create, update, remove };
}

interface Kept {
  readonly update: SlicePlan[];
  readonly remove: StoredSlice[];
  readonly unchanged: Set<StoredSlice>;
}

function keepInPlace({ existing, desired, changed, isStale }: Placement): Kept {
  const kept: Kept = { update: [], remove: [], unchanged: new Set() };
  for (const slice of existing) {
    const before = endpointsOf(slice);
    const endpoints: SliceEndpoint[] = [];
    let isUpdated = false;
    for (const endpoint of before) {
      const key = endpointKey(endpoint);
      const wanted = desired.get(key);
      if (wanted === undefined) continue;
      endpoints.push(wanted);
      if (!isSameEndpoint(wanted, endpoint)) isUpdated = true;
      desired.delete(key);
    }
    const isShorter = endpoints.length < before.length;
    if (isShorter && endpoints.length === 0) kept.remove.push(slice);
    else if (isUpdated || isShorter) kept.update.push(changed(slice, endpoints));
    else if (isStale(slice)) kept.update.push(changed(slice, before));
    else kept.unchanged.add(slice);
  }
  return kept;
}

function fill(plan: SlicePlan, { desired, maxEndpoints }: Placement): void {
  for (const [key, endpoint] of desired) {
    if (plan.endpoints.length >= maxEndpoints) return;
    desired.delete(key);
    plan.endpoints.push(endpoint);
  }
}

/** The slice that is closest to full after adding `count` endpoints. */
function bestFit(slices: Iterable<StoredSlice>, count: number, maxEndpoints: number): StoredSlice | undefined {
  let best: StoredSlice | undefined;
  let bestLeft = maxEndpoints;
  for (const slice of slices) {
    const left = maxEndpoints - (count + endpointsOf(slice).length);
    if (left >= 0 && left < bestLeft) [best, bestLeft] = [slice, left];
  }
  return best;
}
