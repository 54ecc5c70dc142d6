/**
 * Conditions of a Deployment. One that changes goes to the end of the list.
 */
import type { StoredDeployment } from './bounds.js';
import type { StoredReplicaSet } from './replica-set-list.js';

export type Conditions = NonNullable<StoredDeployment['status']['conditions']>;
export type Condition = Conditions[number];
export type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';

/** A condition that begins now. */
export function conditionNow(
  type: ConditionType,
  status: Condition['status'],
  about: { readonly reason: string; readonly message: string; readonly now: string },
): Condition {
  const { reason, message, now } = about;
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

export function conditionIn(conditions: Conditions, wanted: ConditionType): Condition | undefined {
  return conditions.find(({ type }) => type === wanted);
}

/** With the condition. One that says the same with the same reason stays as it is, message and all. */
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

/** What hinders the pods: of the newest ReplicaSet, or else of any. */
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
