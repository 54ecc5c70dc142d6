/**
 * Which pods of a DaemonSet are replaced next in a rolling update. Either an old pod goes first, as long as few enough are
 * missing, or, with a surge, the new one comes first and the old one goes when the new one is available.
 */
import { isPodAvailable, isTerminating, type StoredPod } from '../pod-state.js';
import type { Managing, Plan } from './manage.js';
import { isUpToDate, surgeOf, unavailableOf } from './node-pods.js';
import type { StoredNode } from './placement.js';

export function rollingPlan(managing: Managing): Plan {
  const { set, nodes, placement } = managing;
  const wanted = nodes.filter((node) => placement(node).shouldRun);
  const surge = surgeOf(set, wanted.length);
  const unavailable = unavailableOf(set, wanted.length);
  if (surge > 0) return surgingPlan(managing, { wanted, surge });
  // Neither is allowed, so one has to be.
  return replacingPlan(managing, { wanted, allowed: unavailable === 0 ? 1 : unavailable });
}

/** A node's two kinds of pods, of those that stay. Undefined: more than one of a kind. */
interface Pair {
  readonly fresh?: StoredPod | undefined;
  readonly stale?: StoredPod | undefined;
}

function pairOf(pods: readonly StoredPod[], { set, hash }: Managing): Pair | undefined {
  const staying = pods.filter((pod) => !isTerminating(pod));
  const [fresh, ...moreFresh] = staying.filter((pod) => isUpToDate(set, pod, hash));
  const [stale, ...moreStale] = staying.filter((pod) => !isUpToDate(set, pod, hash));
  return moreFresh.length + moreStale.length > 0 ? undefined : { fresh, stale };
}

/** Each node that has pods or should have one, with its pair. */
function pairs(managing: Managing, wanted: readonly StoredNode[]): [node: string, pair: Pair | undefined][] {
  const names = new Set([...managing.pods.keys(), ...wanted.map(({ metadata }) => metadata.name)]);
  return [...names].map((name) => [name, pairOf(managing.pods.get(name) ?? [], managing)]);
}

function replacingPlan(
  managing: Managing,
  { wanted, allowed }: { readonly wanted: readonly StoredNode[]; readonly allowed: number },
): Plan {
  const isAvailable = availability(managing);
  const free: StoredPod[] = [];
  const candidates: StoredPod[] = [];
  let missing = 0;
  for (const [, pair] of pairs(managing, wanted)) {
    const { fresh, stale } = pair ?? {};
    const only = fresh === undefined ? stale : stale === undefined ? fresh : undefined;
    const isMissing = only === undefined || !isAvailable(only);
    if (isMissing) missing++;
    if (only === undefined || only !== stale) continue;
    // What is not available anyway costs nothing.
    if (isMissing) free.push(only);
    else candidates.push(only);
  }
  return { create: [], remove: [...free, ...candidates.slice(0, Math.max(0, allowed - missing))] };
}

function surgingPlan(
  managing: Managing,
  { wanted, surge }: { readonly wanted: readonly StoredNode[]; readonly surge: number },
): Plan {
  const isAvailable = availability(managing);
  const isWanted = new Set(wanted.map(({ metadata }) => metadata.name));
  const remove: StoredPod[] = [];
  const misplaced: StoredPod[] = [];
  const free: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let available = 0;
  for (const [node, pair] of pairs(managing, wanted)) {
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

function availability({ set, nowMs }: Managing): (pod: StoredPod) => boolean {
  return (pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}
