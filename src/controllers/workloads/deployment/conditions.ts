/**
 * Conditions of a Deployment. A condition that changes moves to the end of the list.
 */
import type { StoredDeployment } from './bounds.js';
import type { StoredReplicaSet } from './replica-set-list.js';

export type Conditions = NonNullable<StoredDeployment['status']['conditions']>;
export type Condition = Conditions[number];
export type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';

/** A condition with the current time. */
export function conditionNow(
  type: ConditionType,
  status: Condition['status'],
  details: { readonly reason: string; readonly message: string; readonly now: string },
): Condition {
  const { reason, message, now } = details;
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

export function conditionIn(conditions: Conditions, wanted: ConditionType): Condition | undefined {
  return conditions.find(({ type }) => type === wanted);
}

/** Sets a condition. One with the same status and reason is left unchanged, including its message. */
export function withCondition(conditions: Conditions, next: Condition): Conditions {
  const current = conditions.find(({ type }) => type === next.type);
  if (current === undefined) return [...conditions, next];
  if (current.status === next.status && current.reason === next.reason) return conditions;
  const { lastTransitionTime = null } = current.status === next.status ? current : next;
  return [...conditions.filter(({ type }) => type !== next.type), { ...next, lastTransitionTime }];
}

export function withoutCondition(conditions: Conditions, unwanted: ConditionType): Conditions {
  return conditions.some(({ type }) => type === unwanted)
    ? conditions.filter(({ type }) => type !== unwanted)
    : conditions;
}

/** The ReplicaFailure condition of the new ReplicaSet, or of any. */
export function failureAmong(
  sets: readonly StoredReplicaSet[],
  newSet: StoredReplicaSet | undefined,
): Condition | undefined {
  for (const set of newSet === undefined ? sets : [newSet, ...sets]) {
    const failure = set.status.conditions?.find(({ type }) => type === 'ReplicaFailure');
    if (failure !== undefined) return { ...failure, lastUpdateTime: failure.lastTransitionTime ?? null };
  }
  return undefined;
}
