/**
 * What a definition's status says of it, one condition per type.
 */
import type { DeepReadonly } from '../../meta/object.js';
import type { CustomResourceDefinition } from '../definition/custom-resource-definition.js';
import type { CustomResourceDefinitionCondition } from '../definition/schema.js';

export type Definition = DeepReadonly<CustomResourceDefinition>;
export type Condition = CustomResourceDefinitionCondition;
export type ConditionText = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export function conditionOf(definition: Definition, type: string): DeepReadonly<Condition> | undefined {
  return definition.status.conditions?.find((condition) => condition.type === type);
}

export function isTrue(definition: Definition, type: string): boolean {
  return conditionOf(definition, type)?.status === 'True';
}

/** While its objects are being removed it takes no new ones; once they are gone it does, if something else still holds it. */
export function isTerminating(definition: Definition): boolean {
  return isTrue(definition, 'Terminating');
}

/** Its kind is served from its first acceptance on, whatever is asked for later. */
export function isServed(definition: Definition): boolean {
  return isTrue(definition, 'NamesAccepted') || isTrue(definition, 'Established');
}

/** The conditions with this one in its place; its time is that of the last change of its status. */
export function withCondition(
  conditions: DeepReadonly<Condition[]> | null | undefined,
  next: ConditionText,
  now: string,
): Condition[] {
  const all = [...(conditions ?? [])] as Condition[];
  const at = all.findIndex(({ type }) => type === next.type);
  const before = all[at];
  const { type, status, reason, message } = next;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
  const made = { type, status, lastTransitionTime, reason, message } as Condition;
  if (before === undefined) all.push(made);
  else all[at] = made;
  return all;
}

export function sameCondition(left: DeepReadonly<Condition> | undefined, right: ConditionText): boolean {
  return left?.status === right.status && left.reason === right.reason && left.message === right.message;
}
