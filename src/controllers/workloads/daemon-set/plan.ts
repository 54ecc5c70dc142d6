/**
 * Plans the pods of a DaemonSet on each node: which are missing, which are too many, which finished pods to replace, and the
 * next step of a rolling update. Without a surge, old pods are deleted while few enough pods are unavailable. With a surge, the
 * new pod is created first and the old one is deleted when the new one is available.
 */

import { scaleIntOrString } from '../../../meta/int-or-string.js';
import { getOrInsertComputed } from '../../../util/once.js';
import { compareText } from '../../../util/order.js';
import { isPodAvailable, isPodFinished, isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';
import type { Placement, StoredDaemonSet, StoredNode } from './placement.js';
import { targetNode } from './placement.js';

/** The nodes that need a pod and the pods to delete. */
export interface Plan {
  readonly create: readonly string[];
  readonly remove: readonly StoredPod[];
}

export interface PlanInput {
  readonly set: StoredDaemonSet;
  readonly nodes: readonly StoredNode[];
  readonly pods: NodePods;
  readonly hash: string;
  readonly nowMs: number;
  readonly placement: (node: StoredNode) => Placement;
  /** Called for a finished pod; returns false if it must not be replaced yet. */
  readonly onFinished: (pod: StoredPod, node: string) => boolean;
}

export function managePlan(input: PlanInput): Plan {
  const create: string[] = [];
  const remove: StoredPod[] = [];
  const known = new Set<string>();
  for (const node of input.nodes) {
    known.add(node.metadata.name);
    const onNode = planOn(node, input);
    create.push(...onNode.create);
    remove.push(...onNode.remove);
  }
  // Pods with an affinity to a missing node. Pods bound to it are left to the pod garbage collector.
  for (const [node, pods] of input.pods) {
    if (!known.has(node)) remove.push(...pods.filter((pod) => !isBound(pod)));
  }
  return { create, remove };
}

function planOn(node: StoredNode, input: PlanInput): Plan {
  const { set, placement, pods } = input;
  const { shouldRun, mayStay } = placement(node);
  const { name } = node.metadata;
  const existing = pods.get(name);
  if (existing === undefined) return { create: shouldRun ? [name] : [], remove: [] };
  const staying = existing.filter((pod) => !isTerminating(pod));
  if (!mayStay) return { create: [], remove: staying };

  const running = staying.filter(({ status }) => status.phase !== 'Failed' && status.phase !== 'Succeeded');
  const finished = staying.filter((pod) => !running.includes(pod) && input.onFinished(pod, name));
  if (limitOf(set, 'maxSurge', 1) === 0) return { create: [], remove: [...finished, ...oldestFirst(running).slice(1)] };
  // With a surge, the new pod need not wait until the old one is gone.
  if (running.length === 0) return { create: shouldRun ? [name] : [], remove: finished };
  return { create: [], remove: [...finished, ...excessWithSurge(running, input)] };
}

/** One pod of the current and one of an old template may run together until the new one is available. */
function excessWithSurge(running: readonly StoredPod[], { set, hash, nowMs }: PlanInput): StoredPod[] {
  const isNew = ({ metadata }: StoredPod) => metadata.labels?.[REVISION_LABEL] === hash;
  const sorted = oldestFirst(running);
  const [newest, oldest] = [sorted.find(isNew), sorted.find((pod) => !isNew(pod))];
  const excess = sorted.filter((pod) => pod !== newest && pod !== oldest);
  if (newest === undefined || oldest === undefined) return excess;
  const isReplaced = !isPodReady(oldest) || isPodAvailable(newest, set.spec.minReadySeconds ?? 0, nowMs);
  return isReplaced ? [...excess, oldest] : excess;
}

type NodePods = ReadonlyMap<string, readonly StoredPod[]>;

/** Groups pods by node. Finished pods that are terminating count as gone. */
export function podsByNode(pods: readonly StoredPod[]): Map<string, StoredPod[]> {
  const byNode = new Map<string, StoredPod[]>();
  for (const pod of pods) {
    if (isPodFinished(pod) && isTerminating(pod)) continue;
    const node = targetNode(pod);
    if (node === undefined) continue;
    getOrInsertComputed(byNode, node, () => []).push(pod);
  }
  return byNode;
}

/** Bound pods first, then older ones. */
export function oldestFirst(pods: readonly StoredPod[]): StoredPod[] {
  return [...pods].sort(
    (left, right) =>
      Number(isBound(right)) - Number(isBound(left)) ||
      compareText(left.metadata.creationTimestamp, right.metadata.creationTimestamp) ||
      compareText(left.metadata.name, right.metadata.name),
  );
}

function isBound({ spec }: StoredPod): boolean {
  return spec.nodeName !== undefined && spec.nodeName !== '';
}

const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

const GENERATION_LABEL = 'pod-template-generation';

/** The legacy label with the template's generation; empty if the set has no such annotation. */
export function generationLabel({ metadata }: StoredDaemonSet): Record<string, string> {
  const generation = metadata.annotations?.[GENERATION_ANNOTATION];
  if (generation === undefined || !/^[+-]?[0-9]+$/.test(generation)) return {};
  return { [GENERATION_LABEL]: String(BigInt(generation.replace(/^\+/, ''))) };
}

/** Whether a pod is of the current template. */
export function isUpToDate(set: StoredDaemonSet, pod: StoredPod, hash: string): boolean {
  const { labels = {} } = pod.metadata;
  const generation = generationLabel(set)[GENERATION_LABEL];
  return labels[REVISION_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

function limitOf({ spec }: StoredDaemonSet, limit: 'maxSurge' | 'maxUnavailable', wanted: number): number {
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type !== 'RollingUpdate') return 0;
  return scaleIntOrString(rollingUpdate?.[limit] ?? 0, { total: wanted, round: 'up' });
}

export function rollingPlan(input: PlanInput): Plan {
  const { set, nodes, placement } = input;
  const wanted = nodes.filter((node) => placement(node).shouldRun);
  const surge = limitOf(set, 'maxSurge', wanted.length);
  const unavailable = limitOf(set, 'maxUnavailable', wanted.length);
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
