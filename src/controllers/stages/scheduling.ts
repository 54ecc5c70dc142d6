/**
 * Simulates the scheduler's choice of a node. It checks readiness, taints, the node selector and required node affinity, and
 * ignores resources, pod affinity and preferences. Nodes that fit are used in turn.
 */
import { Node } from '../../kinds/core/v1/node/node.js';
import type { Taint } from '../../kinds/shared/taints.js';
import type { Dialect } from '../../meta/dialect.js';
import type { SharedInformer } from '../runtime/shared-informer.js';
import { isNodeReady, matchesTerm, type StoredNode, tolerates } from '../workloads/daemon-set/placement.js';
import type { StoredPod } from '../workloads/pod-state.js';
import type { StageContext } from './stage.js';

/** `isMissing`: the cluster has no nodes, so the named node must be created. */
export type Placement = { readonly nodeName: string; readonly isMissing?: boolean } | { readonly message: string };

/** Selects nodes for pods. One instance for each run of controllers. */
export class Scheduler {
  readonly #nodes: SharedInformer<typeof Node> | undefined;
  readonly #dialect: Dialect;
  #turn = 0;

  constructor({ informer, serves, dialect }: StageContext) {
    this.#nodes = serves(Node) ? informer(Node) : undefined;
    this.#dialect = dialect;
  }

  /** `fallbackNode` is used in a cluster without nodes; false: the pod stays unscheduled. */
  place(pod: StoredPod, fallbackNode: string | false): Placement {
    const nodes = this.#nodes?.list() ?? [];
    if (nodes.length === 0) {
      if (fallbackNode === false) return { message: 'no nodes available to schedule pods' };
      return { nodeName: fallbackNode, isMissing: this.#nodes !== undefined };
    }
    const reasons = new Map<string, number>();
    const fitting = nodes.filter((node) => {
      const reason = misfitReason(pod, node, this.#dialect);
      if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      return reason === undefined;
    });
    const node = fitting[this.#turn++ % Math.max(1, fitting.length)];
    if (node !== undefined) return { nodeName: node.metadata.name };
    const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
    return { message: `0/${nodes.length} nodes are available: ${texts.join(', ')}.` };
  }

  /** The node's internal address; a default for unknown nodes. */
  addressOf(nodeName: string): string {
    const node = this.#nodes?.get(nodeName);
    return node?.status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '10.0.0.1';
  }
}

/** Why the pod does not fit on the node, as kube-scheduler says it; undefined if it fits. */
function misfitReason({ spec }: StoredPod, node: StoredNode, dialect: Dialect): string | undefined {
  const { name, labels = {} } = node.metadata;
  const { nodeSelector = {}, affinity, tolerations = [] } = spec;
  const notReady = dialect.subkey('node', 'not-ready');
  // The Ready condition decides about readiness, because the not-ready taint may be removed later.
  const taints: readonly Taint[] = [
    ...(node.spec.unschedulable === true
      ? [{ key: dialect.subkey('node', 'unschedulable'), effect: 'NoSchedule' }]
      : []),
    ...(isNodeReady(node) ? [] : [{ key: notReady, effect: 'NoSchedule' }]),
    ...(node.spec.taints ?? []).filter(({ key, effect }) => key !== notReady || effect === 'NoExecute'),
  ];
  const taint = taints.find(
    (each) => each.effect !== 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, each)),
  );
  if (taint !== undefined) {
    if (node.spec.unschedulable === true && taint === taints[0]) return 'node(s) were unschedulable';
    return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
  }
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const isSelected = Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);
  if (isSelected && (terms === undefined || terms.some((term) => matchesTerm(term, name, labels)))) return undefined;
  return "node(s) didn't match Pod's node affinity/selector";
}
