/**
 * Which pods a ready-made stage is about, and what the stages know of where pods are.
 */
import type { LabelsOption } from '../../client/selectors.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { watching } from '../define-controller.js';
import type { Lookup } from '../runtime/shared-informer.js';
import { isPodFinished, type StoredPod } from '../workloads/pod-state.js';
import type { PodPlace } from './pod-parts.js';
import { Scheduler } from './scheduling.js';
import { compileSelector } from './selector.js';
import type { StageContext } from './stage.js';

/** 10.244.0.0/16, the first and the last address of which are nobody's. */
const ADDRESSES = 2 ** 16 - 2;

class PodAddresses {
  readonly #inUse: Lookup<StoredPod>;
  #last = 0;

  constructor({ informer }: Pick<StageContext, 'informer'>) {
    this.#inUse = informer(Pod).index('podIP', ({ status }) => (status.podIP === undefined ? [] : [status.podIP]));
  }

  /** One that no pod has. It is the caller's from now on. */
  take(): string {
    for (let tries = 0; tries < ADDRESSES; tries++) {
      this.#last = (this.#last % ADDRESSES) + 1;
      const address = `10.244.${this.#last >> 8}.${this.#last & 255}`;
      if (this.#inUse(address).length === 0) return address;
    }
    throw new RangeError(`orchplane: all ${ADDRESSES} addresses of pods are taken`);
  }
}

/** All pods unless something is given. */
export interface PodSelection {
  readonly namespace?: string | undefined;
  readonly labels?: LabelsOption | undefined;
}

/** Who writes what a kubelet would. */
export const KUBELET = 'kubelet';

/** Selected, on a node, not being deleted and not at its end: a pod that a kubelet would see to. */
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

/** The addresses of a pod: those it has, or fresh ones. */
export function placeOf(pod: StoredPod, context: StageContext): PodPlace {
  const { spec, status } = pod;
  const hostIP = status.hostIP ?? schedulerOf(context).addressOf(spec.nodeName ?? '');
  if (status.podIP !== undefined) return { podIP: status.podIP, hostIP };
  if (spec.hostNetwork === true) return { podIP: hostIP, hostIP };
  return { podIP: context.memory('pod addresses', () => new PodAddresses(context)).take(), hostIP };
}

/** A change to a node is a reason to look at every pod that has no place. */
export const nodesConcernPods = watching(Node, (_node, { informer }) =>
  informer(Pod).index('without node', (pod) => (isBound(pod) ? [] : ['']))(''),
);
