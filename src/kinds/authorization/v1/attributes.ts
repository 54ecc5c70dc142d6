/**
 * What an access review asks about.
 */
import * as z from 'zod';
import { type FieldError, invalid } from '../../../meta/field-error.js';
import { namedString, optional, pointer } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { quote, verbatim } from '../../../text/go/go-text.js';

const fieldSelectorRequirementShape = () => ({
  key: z.string(),
  operator: namedString('v1.FieldSelectorOperator'),
  values: optional(z.array(z.string())),
});
export interface FieldSelectorRequirement extends Output<typeof fieldSelectorRequirementShape> {}
export interface FieldSelectorRequirementInput extends Input<typeof fieldSelectorRequirementShape> {}
export const fieldSelectorRequirement: Type<FieldSelectorRequirement, FieldSelectorRequirementInput> = type(
  'FieldSelectorRequirement',
  fieldSelectorRequirementShape,
);

const fieldSelectorAttributesShape = () => ({
  rawSelector: optional(z.string()),
  requirements: optional(z.array(fieldSelectorRequirement())),
});
export interface FieldSelectorAttributes extends Output<typeof fieldSelectorAttributesShape> {}
export interface FieldSelectorAttributesInput extends Input<typeof fieldSelectorAttributesShape> {}
export const fieldSelectorAttributes: Type<FieldSelectorAttributes, FieldSelectorAttributesInput> = type(
  'FieldSelectorAttributes',
  fieldSelectorAttributesShape,
);

const labelRequirementShape = () => ({
  key: z.string(),
  operator: namedString('v1.LabelSelectorOperator'),
  values: optional(z.array(z.string())),
});
export interface LabelRequirement extends Output<typeof labelRequirementShape> {}
export interface LabelRequirementInput extends Input<typeof labelRequirementShape> {}
const labelRequirement: Type<LabelRequirement, LabelRequirementInput> = type(
  'LabelSelectorRequirement',
  labelRequirementShape,
);

const labelSelectorAttributesShape = () => ({
  rawSelector: optional(z.string()),
  requirements: optional(z.array(labelRequirement())),
});
export interface LabelSelectorAttributes extends Output<typeof labelSelectorAttributesShape> {}
export interface LabelSelectorAttributesInput extends Input<typeof labelSelectorAttributesShape> {}
export const labelSelectorAttributes: Type<LabelSelectorAttributes, LabelSelectorAttributesInput> = type(
  'LabelSelectorAttributes',
  labelSelectorAttributesShape,
);

const resourceAttributesShape = () => ({
  namespace: optional(z.string()),
  verb: optional(z.string()),
  group: optional(z.string()),
  version: optional(z.string()),
  resource: optional(z.string()),
  subresource: optional(z.string()),
  name: optional(z.string()),
  fieldSelector: pointer(fieldSelectorAttributes()),
  labelSelector: pointer(labelSelectorAttributes()),
});
export interface ResourceAttributes extends Output<typeof resourceAttributesShape> {}
export interface ResourceAttributesInput extends Input<typeof resourceAttributesShape> {}
export const resourceAttributes: Type<ResourceAttributes, ResourceAttributesInput> = type(
  'ResourceAttributes',
  resourceAttributesShape,
);

const nonResourceAttributesShape = () => ({
  path: optional(z.string()),
  verb: optional(z.string()),
});
export interface NonResourceAttributes extends Output<typeof nonResourceAttributesShape> {}
export interface NonResourceAttributesInput extends Input<typeof nonResourceAttributesShape> {}
export const nonResourceAttributes: Type<NonResourceAttributes, NonResourceAttributesInput> = type(
  'NonResourceAttributes',
  nonResourceAttributesShape,
);

/** Exactly one of the two. */
export function attributesProblems(spec: {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}): FieldError[] {
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  const problems: FieldError[] = [];
  if (resource !== undefined && other !== undefined) {
    const { path = '', verb = '' } = other;
    const dump = verbatim(`authorization.NonResourceAttributes{Path:${quote(path)}, Verb:${quote(verb)}}`);
    problems.push(
      invalid('spec.nonResourceAttributes', dump, 'cannot be specified in combination with resourceAttributes'),
    );
  }
  if (resource === undefined && other === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    problems.push(invalid('spec.resourceAttributes', 'null', detail));
  }
  return problems;
}
