/**
 * What is to be done on each node for a DaemonSet to have one pod there: how many are missing, which are too many, which
 * have finished and make room for another.
 */
import { isPodAvailable, isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';
import { isBound, type NodePods, oldestFirst, surgeOf } from './node-pods.js';
import type { Placement, StoredDaemonSet, StoredNode } from './placement.js';

/** What to do: make a pod for each of these nodes, delete these pods. */
export interface Plan {
  readonly create: readonly string[];
  readonly remove: readonly StoredPod[];
}

export interface Managing {
  readonly set: StoredDaemonSet;
  readonly nodes: readonly StoredNode[];
  readonly pods: NodePods;
  readonly hash: string;
  readonly nowMs: number;
  readonly placement: (node: StoredNode) => Placement;
  /** Told of a pod that has finished; false: it may not be replaced yet. */
  readonly onFinished: (pod: StoredPod, node: string) => boolean;
}

export function managePlan(managing: Managing): Plan {
  const create: string[] = [];
  const remove: StoredPod[] = [];
  const known = new Set<string>();
  for (const node of managing.nodes) {
    known.add(node.metadata.name);
    const onNode = planOn(node, managing);
    create.push(...onNode.create);
    remove.push(...onNode.remove);
  }
  // Meant for nodes that are not there; those that are bound to one are left to whoever collects them.
  for (const [node, pods] of managing.pods) {
    if (!known.has(node)) remove.push(...pods.filter((pod) => !isBound(pod)));
  }
  return { create, remove };
}

function planOn(node: StoredNode, managing: Managing): Plan {
  const { set, placement, pods } = managing;
  const { shouldRun, mayStay } = placement(node);
  const { name } = node.metadata;
  const there = pods.get(name);
  if (there === undefined) return { create: shouldRun ? [name] : [], remove: [] };
  const staying = there.filter((pod) => !isTerminating(pod));
  if (!mayStay) return { create: [], remove: staying };

  const running = staying.filter(({ status }) => status.phase !== 'Failed' && status.phase !== 'Succeeded');
  const finished = staying.filter((pod) => !running.includes(pod) && managing.onFinished(pod, name));
  if (surgeOf(set, 1) === 0) return { create: [], remove: [...finished, ...oldestFirst(running).slice(1)] };
  // With room for two, the next need not wait until the last one is gone.
  if (running.length === 0) return { create: shouldRun ? [name] : [], remove: finished };
  return { create: [], remove: [...finished, ...tooManyOfEach(running, managing)] };
}

/** One of the present template and one of a former one may be there together, until the new one can do without the old. */
function tooManyOfEach(running: readonly StoredPod[], { set, hash, nowMs }: Managing): StoredPod[] {
  const isNew = ({ metadata }: StoredPod) => metadata.labels?.[REVISION_LABEL] === hash;
  const sorted = oldestFirst(running);
  const [newest, oldest] = [sorted.find(isNew), sorted.find((pod) => !isNew(pod))];
  const excess = sorted.filter((pod) => pod !== newest && pod !== oldest);
  if (newest === undefined || oldest === undefined) return excess;
  const isReplaced = !isPodReady(oldest) || isPodAvailable(newest, set.spec.minReadySeconds ?? 0, nowMs);
  return isReplaced ? [...excess, oldest] : excess;
}
