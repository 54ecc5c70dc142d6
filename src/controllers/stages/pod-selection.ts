/**
 * The selection of pods for the built-in stages, and their network addresses.
 */
import type { LabelsOption } from '../../client/selectors.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { watching } from '../define-controller.js';
import type { Lookup } from '../runtime/shared-informer.js';
import { isPodFinished, type StoredPod } from '../workloads/pod-state.js';
import type { PodAddressesOnNode } from './pod-parts.js';
import { Scheduler } from './scheduling.js';
import { compileSelector } from './selector.js';
import type { StageContext } from './stage.js';

/** 10.244.0.0/16 without its first and last address. */
const ADDRESSES = 2 ** 16 - 2;

class PodAddresses {
  readonly #inUse: Lookup<StoredPod>;
  #last = 0;

  constructor({ informer }: Pick<StageContext, 'informer'>) {
    this.#inUse = informer(Pod).index('podIP', ({ status }) => (status.podIP === undefined ? [] : [status.podIP]));
  }

  /** Allocates an address that no pod has. */
  take(): string {
    for (let tries = 0; tries < ADDRESSES; tries++) {
      this.#last = (this.#last % ADDRESSES) + 1;
      const address = `10.244.${this.#last >> 8}.${this.#last & 255}`;
      if (this.#inUse(address).length === 0) return address;
    }
    throw new RangeError(`orchplane: all ${ADDRESSES} addresses of pods are taken`);
  }
}

/** Selects pods; without any option all pods. */
export interface PodSelection {
  readonly namespace?: string | undefined;
  readonly labels?: LabelsOption | undefined;
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
export function placeOf(pod: StoredPod, context: StageContext): PodAddressesOnNode {
  const { spec, status } = pod;
  const hostIP = status.hostIP ?? schedulerOf(context).addressOf(spec.nodeName ?? '');
  if (status.podIP !== undefined) return { podIP: status.podIP, hostIP };
  if (spec.hostNetwork === true) return { podIP: hostIP, hostIP };
  return { podIP: context.memory('pod addresses', () => new PodAddresses(context)).take(), hostIP };
}

/** Queues every unscheduled pod when a node changes. */
export const nodesAffectUnscheduledPods = watching(Node, (_node, { informer }) =>
  informer(Pod).index('without node', (pod) => (isBound(pod) ? [] : ['']))(''),
);
