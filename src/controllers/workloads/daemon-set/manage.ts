/**
 * Plans the pods of a DaemonSet on each node: which are missing, which are too many, and which finished pods to replace.
 */
import { isPodAvailable, isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';
import { isBound, type NodePods, oldestFirst, surgeOf } from './node-pods.js';
import type { Placement, StoredDaemonSet, StoredNode } from './placement.js';

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
  if (surgeOf(set, 1) === 0) return { create: [], remove: [...finished, ...oldestFirst(running).slice(1)] };
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
