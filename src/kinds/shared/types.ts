/**
 * Schemas that kinds of all groups share: selectors, conditions, references.
 */
import * as z from 'zod';
import { enumString, int64, namedString, optional, pointer, time, timeOrNull } from '../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../schema/type.js';

const labelSelectorRequirementShape = () => ({
  key: z.string(),
  operator: namedString('v1.LabelSelectorOperator'),
  values: optional(z.array(z.string())),
});
export interface LabelSelectorRequirement extends Output<typeof labelSelectorRequirementShape> {}
export interface LabelSelectorRequirementInput extends Input<typeof labelSelectorRequirementShape> {}
export const labelSelectorRequirement: Type<LabelSelectorRequirement, LabelSelectorRequirementInput> = type(
  'LabelSelectorRequirement',
  labelSelectorRequirementShape,
);

const labelSelectorShape = () => ({
  matchLabels: optional(z.record(z.string(), z.string())),
  matchExpressions: optional(z.array(labelSelectorRequirement())),
});
export interface LabelSelector extends Output<typeof labelSelectorShape> {}
export interface LabelSelectorInput extends Input<typeof labelSelectorShape> {}
export const labelSelector: Type<LabelSelector, LabelSelectorInput> = type('LabelSelector', labelSelectorShape, {
  atomic: true,
});

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** The fields of conditions of older kinds, besides their type. */
export const conditionParts = () => ({
  status: enumString<ConditionStatus>('v1.ConditionStatus'),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});

const conditionShape = () => ({
  type: z.string(),
  status: enumString<ConditionStatus>('v1.ConditionStatus'),
  observedGeneration: optional(int64()),
  lastTransitionTime: time(),
  reason: z.string(),
  message: z.string(),
});
export interface Condition extends Output<typeof conditionShape> {}
export interface ConditionInput extends Input<typeof conditionShape> {}
export const condition: Type<Condition, ConditionInput> = type('Condition', conditionShape);

const objectReferenceShape = () => ({
  kind: optional(z.string()),
  namespace: optional(z.string()),
  name: optional(z.string()),
  uid: optional(z.string()),
  apiVersion: optional(z.string()),
  resourceVersion: optional(z.string()),
  fieldPath: optional(z.string()),
});
export interface ObjectReference extends Output<typeof objectReferenceShape> {}
export interface ObjectReferenceInput extends Input<typeof objectReferenceShape> {}
export const objectReference: Type<ObjectReference, ObjectReferenceInput> = type(
  'ObjectReference',
  objectReferenceShape,
  { atomic: true },
);

/** An ObjectReference that is not atomic: its fields can have different field managers. */
export const openReference: Type<ObjectReference, ObjectReferenceInput> = type('ObjectReference', objectReferenceShape);

/** An ObjectReference in a long list, whose frozen items are reused between versions of the object. */
export const lastingReference: Type<ObjectReference, ObjectReferenceInput> = type(
  'ObjectReference',
  objectReferenceShape,
  { atomic: true, reusable: true },
);

const localObjectReferenceShape = () => ({
  name: optional(z.string()),
});
export interface LocalObjectReference extends Output<typeof localObjectReferenceShape> {}
export interface LocalObjectReferenceInput extends Input<typeof localObjectReferenceShape> {}
export const localObjectReference: Type<LocalObjectReference, LocalObjectReferenceInput> = type(
  'LocalObjectReference',
  localObjectReferenceShape,
  { atomic: true },
);

const secretReferenceShape = () => ({
  name: optional(z.string()),
  namespace: optional(z.string()),
});
export interface SecretReference extends Output<typeof secretReferenceShape> {}
export interface SecretReferenceInput extends Input<typeof secretReferenceShape> {}
export const secretReference: Type<SecretReference, SecretReferenceInput> = type(
  'SecretReference',
  secretReferenceShape,
  { atomic: true },
);

const typedLocalObjectReferenceShape = () => ({
  apiGroup: pointer(z.string().nullable()),
  kind: z.string(),
  name: z.string(),
});
export interface TypedLocalObjectReference extends Output<typeof typedLocalObjectReferenceShape> {}
export interface TypedLocalObjectReferenceInput extends Input<typeof typedLocalObjectReferenceShape> {}
export const typedLocalObjectReference: Type<TypedLocalObjectReference, TypedLocalObjectReferenceInput> = type(
  'TypedLocalObjectReference',
  typedLocalObjectReferenceShape,
  { atomic: true },
);
