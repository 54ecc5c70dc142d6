/**
 * The resources of pods and nodes as the scheduler compares them: plain numbers by name, cpu in thousandths.
 * upstream: pkg/scheduler/framework/types.go Resource
 */
import {
  type Amounts,
  addAmounts,
  isPodLevelResource,
  podAmounts,
  readAmounts,
  resizableAmounts,
} from '../../admission/plugins/pod-amounts.js';
import { Quantity } from '../../meta/quantity.js';
import type { StoredPod } from './snapshot.js';

/** By resource name. */
export type ResourceAmounts = ReadonlyMap<string, number>;

/** The requests of a container without any, for scores only. upstream: pkg/scheduler/util/pod_resources.go */
const DEFAULT_REQUESTS: Amounts = new Map([
  ['cpu', Quantity.parse('100m')],
  ['memory', Quantity.parse('200Mi')],
]);

const NATIVE = new Set(['cpu', 'memory', 'ephemeral-storage']);

export function isExtended(name: string): boolean {
  return name.includes('/') || name.startsWith('hugepages-') || name.startsWith('attachable-volumes-');
}

export interface RequestOptions {
  /** Defaults for containers that request nothing of a resource. */
  readonly defaults?: Amounts | undefined;
  /** True: requests of the pod as a whole are ignored. */
  readonly withoutPodLevel?: boolean;
}

/** The requests of a pod with its overhead. */
function requestsOf(pod: StoredPod, { defaults, withoutPodLevel = false }: RequestOptions = {}): Map<string, Quantity> {
  const amountsOf = resizableAmounts(pod);
  const requests = podAmounts(pod.spec, 'requests', {
    amountsOf:
      defaults === undefined ? amountsOf : (container, field) => new Map([...defaults, ...amountsOf(container, field)]),
    isPodLevel: withoutPodLevel ? () => false : isPodLevelResource,
  });
  addAmounts(requests, readAmounts(pod.spec.overhead));
  return requests;
}

/** The requests that a node must have free. */
export function podRequests(pod: StoredPod): ResourceAmounts {
  return numbersOf(requestsOf(pod));
}

/**
 * The requests of cpu and memory on a node for scores, with defaults for containers without requests. A pod with requests
 * as a whole gets the defaults only for the resources that are missing altogether.
 */
export function assumedRequests(pod: StoredPod): ResourceAmounts {
  const isPodLevel = Object.keys(pod.spec.resources?.requests ?? {}).some(isPodLevelResource);
  if (!isPodLevel) return numbersOf(requestsOf(pod, { defaults: DEFAULT_REQUESTS }));
  const requests = requestsOf(pod);
  const defaults = new Map([...DEFAULT_REQUESTS].filter(([name]) => !requests.has(name)));
  return numbersOf(defaults.size === 0 ? requests : requestsOf(pod, { defaults }));
}

/**
 * The requests of the pod to place, for the score of its node. Unlike the requests of pods on nodes, they ignore those of
 * the pod as a whole. upstream: pkg/scheduler/framework/plugins/noderesources/fit.go NewFit
 */
export function scoredRequests(pod: StoredPod): ResourceAmounts {
  return numbersOf(requestsOf(pod, { defaults: DEFAULT_REQUESTS, withoutPodLevel: true }));
}

/** The amounts that the scheduler considers, without other names. */
export function readResources(list: Readonly<Record<string, string>> = {}): Map<string, number> {
  return numbersOf(readAmounts(list), (name) => name === 'pods');
}

function numbersOf(amounts: Amounts, isKept: (name: string) => boolean = () => false): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const [name, amount] of amounts) {
    if (!NATIVE.has(name) && !isExtended(name) && !isKept(name)) continue;
    numbers.set(name, Number(name === 'cpu' ? amount.milliValue() : amount.value()));
  }
  return numbers;
}
