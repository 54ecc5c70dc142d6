/**
 * Predicates and accessors on the state of a pod.
 */
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { timeToMs } from '../../text/time/time.js';

export type StoredPod = ObjectOf<typeof Pod>;
export type StoredPodCondition = NonNullable<StoredPod['status']['conditions']>[number];

const NO_CONDITIONS: readonly StoredPodCondition[] = Object.freeze([]);

export function podCondition(pod: StoredPod, type: string): StoredPodCondition | undefined {
  for (const condition of pod.status.conditions ?? NO_CONDITIONS) if (condition.type === type) return condition;
  return undefined;
}

export function isPodReady(pod: StoredPod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/** Whether the pod has been ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: StoredPod, minReadySeconds: number, nowMs: number): boolean {
  return isPodReady(pod) && msUntilAvailable(pod, minReadySeconds, nowMs) === 0;
}

/** The time until a ready pod becomes available; 0: it is. Only for ready pods. */
export function msUntilAvailable(pod: StoredPod, minReadySeconds: number, nowMs: number): number {
  if (minReadySeconds === 0) return 0;
  const since = podCondition(pod, 'Ready')?.lastTransitionTime;
  // Without a transition time the pod does not count as available.
  if (since === undefined || since === null) return Infinity;
  return Math.max(0, timeToMs(since) + minReadySeconds * 1000 - nowMs);
}

/** The time until the next ready pod becomes available; undefined: none will. */
export function msUntilNextAvailable(
  pods: readonly StoredPod[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  let next = Infinity;
  for (const pod of pods) {
    const ms = isPodReady(pod) ? msUntilAvailable(pod, minReadySeconds, nowMs) : 0;
    if (ms > 0) next = Math.min(next, ms);
  }
  return next === Infinity ? undefined : next;
}

export function isPodFinished({ status }: StoredPod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

export function isTerminating({ metadata }: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether the pod is neither finished nor terminating. */
export function isPodActive(pod: StoredPod): boolean {
  return !isPodFinished(pod) && !isTerminating(pod);
}

export function restartsOf({ status }: StoredPod): number {
  return Math.max(0, ...(status.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
