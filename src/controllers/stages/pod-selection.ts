/**
 * The selection of pods for the built-in stages, their network addresses, and a simulated scheduler. The scheduler checks
 * readiness, taints, the node selector and required node affinity, and ignores resources, pod affinity and preferences. Nodes
 * that fit are used in turn.
 */
import type { LabelsOption } from '../../client/selectors.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Taint } from '../../kinds/shared/taints.js';
import type { Dialect } from '../../meta/dialect.js';
import { watching } from '../define-controller.js';
import type { SharedInformer } from '../runtime/shared-informer.js';
import {
  isNodeReady,
  matchesNodeSelector,
  matchesTerms,
  type StoredNode,
  tolerates,
} from '../workloads/daemon-set/placement.js';
import { isPodFinished, type StoredPod } from '../workloads/pod-state.js';
import type { PodAddressPair } from './pod-parts.js';
import type { StageContext } from './stage.js';
import { compileSelector } from './stage.js';

/** Selects pods; without any option all pods. */
export interface PodSelection {
  readonly namespace?: string | undefined;
  readonly labels?: LabelsOption | undefined;
}

/** The selection alone, of options that have more. */
export function selection({ namespace, labels }: PodSelection): PodSelection {
  return { namespace, labels };
}

/** 10.244.0.0/16 without its first and last address. */
const ADDRESSES = 2 ** 16 - 2;
const ADDRESS_PREFIX = '10.244.';

/** Whether an address, in canonical form, is one that pods get. */
export function isPodAddress(address: string): boolean {
  return address.startsWith(ADDRESS_PREFIX);
}

export class PodAddresses {
  readonly #isInUse: (address: string) => boolean;
  #last = 0;

  constructor(isInUse: (address: string) => boolean) {
    this.#isInUse = isInUse;
  }

  /** Allocates an address that no pod has. */
  take(): string {
    for (let tries = 0; tries < ADDRESSES; tries++) {
      this.#last = (this.#last % ADDRESSES) + 1;
      const address = `${ADDRESS_PREFIX}${this.#last >> 8}.${this.#last & 255}`;
      if (!this.#isInUse(address)) return address;
    }
    throw new RangeError(`orchplane: all ${ADDRESSES} addresses of pods are taken`);
  }
}

/** The field manager of stages that simulate kubelet. */
export const KUBELET = 'kubelet';

/** A predicate for pods that kubelet would manage: selected, bound to a node, not being deleted and not finished. */
export function livePods({ namespace, labels }: PodSelection): (pod: StoredPod) => boolean {
  const isSelected = compileSelector({ namespace, labels });
  return (pod) => isBound(pod) && !isPodFinished(pod) && isSelected(pod);
}

export function isBound({ spec }: StoredPod): boolean {
  return spec.nodeName !== undefined && spec.nodeName !== '';
}

export function schedulerOf(context: StageContext): Scheduler {
  return context.memory('scheduler', () => new Scheduler(context));
}

/** The pod's existing addresses, or new ones. */
export function placeOf(pod: StoredPod, context: StageContext): PodAddressPair {
  const { spec, status } = pod;
  const hostIP = status.hostIP ?? schedulerOf(context).addressOf(spec.nodeName ?? '');
  if (status.podIP !== undefined) return { podIP: status.podIP, hostIP };
  if (spec.hostNetwork === true) return { podIP: hostIP, hostIP };
  return { podIP: context.memory('pod addresses', () => freeAddresses(context)).take(), hostIP };
}

function freeAddresses({ informer }: StageContext): PodAddresses {
  const inUse = informer(Pod).index('podIP', podAddress);
  return new PodAddresses((address) => inUse(address).length > 0);
}

/** The address in the status, as a key of an index. */
function podAddress({ status }: StoredPod): readonly string[] {
  return status.podIP === undefined ? [] : [status.podIP];
}

/** Queues every unscheduled pod when a node changes. */
export const nodesAffectUnscheduledPods = watching(Node, (_node, { informer }) =>
  informer(Pod).index('without node', (pod) => (isBound(pod) ? [] : ['']))(''),
);

/** `isMissing`: the cluster has no nodes, so the named node must be created. */
type Placement = { readonly nodeName: string; readonly isMissing?: boolean } | { readonly message: string };

/** Selects nodes for pods. One instance for each run of controllers. */
class Scheduler {
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
    const message = `0/${nodes.length} nodes are available: ${texts.join(', ')}.`;
    return { message: `${message} preemption: ${preemptionMessage(pod, nodes.length)}` };
  }

  /** The node's internal address; a default for unknown nodes. */
  addressOf(nodeName: string): string {
    const node = this.#nodes?.get(nodeName);
    return node?.status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '10.0.0.1';
  }
}

/** Why preemption does not help: the removal of pods changes neither taints nor labels of a node. */
function preemptionMessage({ spec }: StoredPod, nodes: number): string {
  if (spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  return `0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;
}

/** Why the pod does not fit on the node, as kube-scheduler says it; undefined if it fits. */
function misfitReason({ spec }: StoredPod, node: StoredNode, dialect: Dialect): string | undefined {
  const { name, labels } = node.metadata;
  const { nodeSelector, affinity, tolerations = [] } = spec;
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
  if (matchesNodeSelector(nodeSelector, labels ?? {}) && matchesTerms(terms, name, labels)) return undefined;
  return "node(s) didn't match Pod's node affinity/selector";
}
