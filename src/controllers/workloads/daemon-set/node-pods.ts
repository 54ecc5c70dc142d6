/**
 * The pods of a DaemonSet by their node, and predicates on them.
 */
import { scaleIntOrString } from '../../../meta/int-or-string.js';
import { compareText } from '../../../util/order.js';
import { isPodFinished, isTerminating, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';
import { type StoredDaemonSet, targetNode } from './placement.js';

export type NodePods = ReadonlyMap<string, readonly StoredPod[]>;

/** Groups pods by node. Finished pods that are terminating count as gone. */
export function podsByNode(pods: readonly StoredPod[]): Map<string, StoredPod[]> {
  const byNode = new Map<string, StoredPod[]>();
  for (const pod of pods) {
    if (isPodFinished(pod) && isTerminating(pod)) continue;
    const node = targetNode(pod);
    if (node === undefined) continue;
    const onNode = byNode.get(node);
    if (onNode === undefined) byNode.set(node, [pod]);
    else onNode.push(pod);
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

export function isBound({ spec }: StoredPod): boolean {
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

/** The maximum number of additional pods during an update. */
export function surgeOf({ spec }: StoredDaemonSet, wanted: number): number {
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type !== 'RollingUpdate') return 0;
  return scaleIntOrString(rollingUpdate?.maxSurge ?? 0, { total: wanted, round: 'up' });
}

/** The maximum number of unavailable pods during an update. */
export function unavailableOf({ spec }: StoredDaemonSet, wanted: number): number {
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type !== 'RollingUpdate') return 0;
  return scaleIntOrString(rollingUpdate?.maxUnavailable ?? 0, { total: wanted, round: 'up' });
}
