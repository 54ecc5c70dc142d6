/**
 * Finding and setting the conditions of a pod.
 */
import type { PodCondition, PodStatus } from '../../../generated/core-v1.js';

export function findCondition(status: PodStatus, type: string): PodCondition | undefined {
  return (status.conditions ?? []).find((condition) => condition.type === type);
}

export function isReady(status: PodStatus): boolean {
  return findCondition(status, 'Ready')?.status === 'True';
}

/** Sets a condition in place. `lastTransitionTime` changes only if the status of the condition changes. */
export function setCondition(status: PodStatus, condition: PodCondition): void {
  const before = findCondition(status, condition.type);
  const next = before !== undefined && before.status === condition.status ? keepTime(condition, before) : condition;
  // lastProbeTime is always on the wire, null if absent.
  const complete: PodCondition = { lastProbeTime: null, ...next };
  status.conditions =
    before === undefined
      ? [...(status.conditions ?? []), complete]
      : (status.conditions ?? []).map((one) => (one === before ? complete : one));
}

function keepTime(condition: PodCondition, before: PodCondition): PodCondition {
  return before.lastTransitionTime === undefined
    ? condition
    : { ...condition, lastTransitionTime: before.lastTransitionTime };
}
