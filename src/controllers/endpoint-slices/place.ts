/**
 * Puts endpoints into slices with as few writes as possible: endpoints stay where they are, slices that change anyhow are
 * filled up, and only then others are touched or made.
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

export interface Placing {
  readonly existing: readonly StoredSlice[];
  /** By {@link endpointKey}. Emptied as endpoints find their place. */
  readonly desired: Map<string, SliceEndpoint>;
  readonly maxEndpoints: number;
  /** An existing slice with other endpoints. */
  readonly changed: (slice: StoredSlice, endpoints: readonly SliceEndpoint[]) => SlicePlan;
  /** Whether a slice has to be written even if its endpoints are right. */
  readonly isStale: (slice: StoredSlice) => boolean;
  /** A new slice without endpoints. */
  readonly fresh: () => SlicePlan;
}

export function placeEndpoints(placing: Placing): SliceChanges {
  const { desired, maxEndpoints } = placing;
  const { update, remove, unchanged } = keepInPlace(placing);

  // The fullest first: slices become full rather than many.
  for (const plan of [...update].sort((a, b) => b.endpoints.length - a.endpoints.length)) fill(plan, placing);

  const create: SlicePlan[] = [];
  while (desired.size > 0) {
    const host = desired.size < maxEndpoints ? bestFit(unchanged, desired.size, maxEndpoints) : undefined;
    if (host === undefined) {
      const plan = placing.fresh();
      fill(plan, placing);
      create.push(plan);
    } else {
      unchanged.delete(host);
      const plan = placing.changed(host, endpointsOf(host));
      fill(plan, placing);
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

function keepInPlace({ existing, desired, changed, isStale }: Placing): Kept {
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

function fill(plan: SlicePlan, { desired, maxEndpoints }: Placing): void {
  for (const [key, endpoint] of desired) {
    if (plan.endpoints.length >= maxEndpoints) return;
    desired.delete(key);
    plan.endpoints.push(endpoint);
  }
}

/** The slice that is closest to full with so many more. */
function bestFit(slices: Iterable<StoredSlice>, count: number, maxEndpoints: number): StoredSlice | undefined {
  let best: StoredSlice | undefined;
  let bestLeft = maxEndpoints;
  for (const slice of slices) {
    const left = maxEndpoints - (count + endpointsOf(slice).length);
    if (left >= 0 && left < bestLeft) [best, bestLeft] = [slice, left];
  }
  return best;
}
