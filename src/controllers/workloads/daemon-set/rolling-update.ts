/**
 * Plans the next step of a DaemonSet's rolling update. Without a surge, old pods are deleted while few enough pods are
 * unavailable. With a surge, the new pod is created first and the old one is deleted when the new one is available.
 */
import { isPodAvailable, isTerminating, type StoredPod } from '../pod-state.js';
import type { Plan, PlanInput } from './manage.js';
import { isUpToDate, surgeOf, unavailableOf } from './node-pods.js';
import type { StoredNode } from './placement.js';

export function rollingPlan(input: PlanInput): Plan {
  const { set, nodes, placement } = input;
  const wanted = nodes.filter((node) => placement(node).shouldRun);
  const surge = surgeOf(set, wanted.length);
  const unavailable = unavailableOf(set, wanted.length);
  if (surge > 0) return surgingPlan(input, { wanted, surge });
  // If neither surge nor unavailability is allowed, one unavailable pod is.
  return replacingPlan(input, { wanted, allowed: unavailable === 0 ? 1 : unavailable });
}

/** The new and the old pod of a node, without terminating ones. Undefined: more than one of a kind. */
interface Pair {
  readonly fresh?: StoredPod | undefined;
  readonly stale?: StoredPod | undefined;
}

function pairOf(pods: readonly StoredPod[], { set, hash }: PlanInput): Pair | undefined {
  const staying = pods.filter((pod) => !isTerminating(pod));
  const [fresh, ...moreFresh] = staying.filter((pod) => isUpToDate(set, pod, hash));
  const [stale, ...moreStale] = staying.filter((pod) => !isUpToDate(set, pod, hash));
  return moreFresh.length + moreStale.length > 0 ? undefined : { fresh, stale };
}

/** The pair of each node that has pods or should have one. */
function pairs(input: PlanInput, wanted: readonly StoredNode[]): [node: string, pair: Pair | undefined][] {
  const names = new Set([...input.pods.keys(), ...wanted.map(({ metadata }) => metadata.name)]);
  return [...names].map((name) => [name, pairOf(input.pods.get(name) ?? [], input)]);
}

function replacingPlan(
  input: PlanInput,
  { wanted, allowed }: { readonly wanted: readonly StoredNode[]; readonly allowed: number },
): Plan {
  const isAvailable = availability(input);
  const free: StoredPod[] = [];
  const candidates: StoredPod[] = [];
  let missing = 0;
  for (const [, pair] of pairs(input, wanted)) {
    const { fresh, stale } = pair ?? {};
    const only = fresh === undefined ? stale : stale === undefined ? fresh : undefined;
    const isMissing = only === undefined || !isAvailable(only);
    if (isMissing) missing++;
    if (only === undefined || only !== stale) continue;
    // Deleting a pod that is unavailable anyway does not count against the limit.
    if (isMissing) free.push(only);
    else candidates.push(only);
  }
  return { create: [], remove: [...free, ...candidates.slice(0, Math.max(0, allowed - missing))] };
}

function surgingPlan(
  input: PlanInput,
  { wanted, surge }: { readonly wanted: readonly StoredNode[]; readonly surge: number },
): Plan {
  const isAvailable = availability(input);
  const isWanted = new Set(wanted.map(({ metadata }) => metadata.name));
  const remove: StoredPod[] = [];
  const misplaced: StoredPod[] = [];
  const free: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let available = 0;
  for (const [node, pair] of pairs(input, wanted)) {
    if (pair === undefined) {
      surging++;
      continue;
    }
    const { fresh, stale } = pair;
    const serving = stale ?? fresh;
    if (serving !== undefined && isAvailable(serving)) available++;
    if (stale === undefined) continue;
    if (fresh !== undefined) {
      if (isAvailable(fresh)) remove.push(stale);
      else surging++;
    } else if (isWanted.has(node)) {
      (isAvailable(stale) ? candidates : free).push(node);
    } else {
      (isAvailable(stale) ? misplaced : remove).push(stale);
    }
  }
  const dispensable = misplaced.slice(0, Math.max(0, available - wanted.length));
  return {
    create: [...free, ...candidates.slice(0, Math.max(0, surge - surging))],
    remove: [...remove, ...dispensable],
  };
}

function availability({ set, nowMs }: PlanInput): (pod: StoredPod) => boolean {
  return (pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}
