/**
 * Conditions of a pod: how one is looked up and how one is set.
 */
import type { PodCondition, PodStatus } from './status.js';

export function findCondition(status: PodStatus, type: string): PodCondition | undefined {
  return (status.conditions ?? []).find((condition) => condition.type === type);
}

export function isReady(status: PodStatus): boolean {
  return findCondition(status, 'Ready')?.status === 'True';
}

/** Changes the status. The time of transition stays that of the last change from one status to another. */
export function setCondition(status: PodStatus, condition: PodCondition): void {
  const before = findCondition(status, condition.type);
  const next = before !== undefined && before.status === condition.status ? keepTime(condition, before) : condition;
  // On the wire there is always a time of probing, if only to say that there was none.
  const whole: PodCondition = { lastProbeTime: null, ...next };
  status.conditions =
    before === undefined
      ? [...(status.conditions ?? []), whole]
      : (status.conditions ?? []).map((one) => (one === before ? whole : one));
}

function keepTime(condition: PodCondition, before: PodCondition): PodCondition {
  return before.lastTransitionTime === undefined
    ? condition
    : { ...condition, lastTransitionTime: before.lastTransitionTime };
}
