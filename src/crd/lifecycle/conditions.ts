/**
 * Conditions in the status of a CustomResourceDefinition.
 */

import type { CustomResourceDefinitionCondition } from '../../kinds/generated/apiextensions-v1.js';
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { type Approval, approvalMessage, approvalOf } from '../definition/approval.js';
import type { CustomResourceDefinition } from '../definition/custom-resource-definition.js';

/** A CRD as stored. */
export type Crd = DeepReadonly<CustomResourceDefinition>;
export type Condition = CustomResourceDefinitionCondition;
/** A condition without its time. */
export type ConditionText = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** CRDs without a complete status, with an empty one. */
const completed = new WeakMap<ApiObject, Crd>();

/** A CRD whose status can be read: stored objects need not be valid. The same object for the same CRD. */
export function withReadableStatus(object: ApiObject): Crd {
  const status = (object as { readonly status?: unknown }).status;
  const { acceptedNames, conditions = [], storedVersions } = isRecord(status) ? status : {};
  if (isRecord(acceptedNames) && (conditions === null || Array.isArray(conditions)) && Array.isArray(storedVersions))
    return object as Crd;
  return getOrInsertComputed(completed, object, () => {
    const readable = {
      ...(isRecord(status) ? status : {}),
      acceptedNames: isRecord(acceptedNames) ? acceptedNames : { plural: '', kind: '' },
      conditions: Array.isArray(conditions) ? conditions : [],
      storedVersions: Array.isArray(storedVersions) ? storedVersions : storageVersionsOf(object as unknown as Crd),
    };
    return { ...object, status: readable } as unknown as Crd;
  });
}

function storageVersionsOf({ spec }: Crd): readonly string[] {
  return (spec.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name);
}

/** Returns the condition of a type. */
export function conditionOf(crd: Crd, type: string): DeepReadonly<Condition> | undefined {
  return crd.status.conditions?.find((condition) => condition.type === type);
}

/** Reports whether a condition has the status True. */
export function isConditionTrue(crd: Crd, type: string): boolean {
  return conditionOf(crd, type)?.status === 'True';
}

/**
 * True while the objects of the CRD are being deleted. Creates are rejected then. When all objects are deleted and
 * another finalizer keeps the CRD, creates are accepted again.
 */
export function isTerminating(crd: Crd): boolean {
  return isConditionTrue(crd, 'Terminating');
}

/** A CRD is served from its first accepted names on, even if a later update causes a name conflict. */
export function isServed(crd: Crd): boolean {
  return isConditionTrue(crd, 'NamesAccepted') || isConditionTrue(crd, 'Established');
}

/** Replaces or adds a condition. `lastTransitionTime` changes only if the status changes. */
export function withCondition(
  conditions: DeepReadonly<Condition[]> | null | undefined,
  next: ConditionText,
  now: string,
): Condition[] {
  const all = [...(conditions ?? [])] as Condition[];
  const index = all.findIndex(({ type }) => type === next.type);
  const before = all[index];
  const { type, status, reason, message } = next;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
  const updated = { type, status, lastTransitionTime, reason, message } as Condition;
  if (before === undefined) all.push(updated);
  else all[index] = updated;
  return all;
}

/** Reports whether two conditions differ only in their time. */
export function isSameCondition(left: DeepReadonly<Condition> | undefined, right: ConditionText): boolean {
  return left?.status === right.status && left.reason === right.reason && left.message === right.message;
}

const APPROVAL_REASONS: Readonly<Record<Approval, string>> = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  invalid: 'InvalidAnnotation',
  missing: 'MissingAnnotation',
};

/** The condition of a CRD in a protected group. */
export function approvalCondition(text: string, dialect: Dialect): ConditionText {
  const approval = approvalOf(text);
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: approval === 'approved' ? 'True' : 'False',
    reason: APPROVAL_REASONS[approval],
    message: approvalMessage(text, dialect),
  };
}
