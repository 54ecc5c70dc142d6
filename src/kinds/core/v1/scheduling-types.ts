/**
 * Schemas of tolerations, node selectors and topology terms.
 */
import * as z from 'zod';
import { int64, namedString, optional, pointer } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';

const tolerationShape = () => ({
  key: optional(z.string()),
  operator: optional(namedString('v1.TolerationOperator')),
  value: optional(z.string()),
  effect: optional(namedString('v1.TaintEffect')),
  tolerationSeconds: pointer(int64()),
});
export interface Toleration extends Output<typeof tolerationShape> {}
export interface TolerationInput extends Input<typeof tolerationShape> {}
export const toleration: Type<Toleration, TolerationInput> = type('Toleration', tolerationShape);

const nodeSelectorRequirementShape = () => ({
  key: z.string(),
  operator: namedString('v1.NodeSelectorOperator'),
  values: optional(z.array(z.string())),
});
export interface NodeSelectorRequirement extends Output<typeof nodeSelectorRequirementShape> {}
export interface NodeSelectorRequirementInput extends Input<typeof nodeSelectorRequirementShape> {}
export const nodeSelectorRequirement: Type<NodeSelectorRequirement, NodeSelectorRequirementInput> = type(
  'NodeSelectorRequirement',
  nodeSelectorRequirementShape,
);

const nodeSelectorTermShape = () => ({
  matchExpressions: optional(z.array(nodeSelectorRequirement())),
  matchFields: optional(z.array(nodeSelectorRequirement())),
});
export interface NodeSelectorTerm extends Output<typeof nodeSelectorTermShape> {}
export interface NodeSelectorTermInput extends Input<typeof nodeSelectorTermShape> {}
export const nodeSelectorTerm: Type<NodeSelectorTerm, NodeSelectorTermInput> = type(
  'NodeSelectorTerm',
  nodeSelectorTermShape,
  { atomic: true },
);

const nodeSelectorShape = () => ({
  nodeSelectorTerms: z.array(nodeSelectorTerm()),
});
export interface NodeSelector extends Output<typeof nodeSelectorShape> {}
export interface NodeSelectorInput extends Input<typeof nodeSelectorShape> {}
export const nodeSelector: Type<NodeSelector, NodeSelectorInput> = type('NodeSelector', nodeSelectorShape, {
  atomic: true,
});

const topologySelectorLabelRequirementShape = () => ({
  key: z.string(),
  values: z.array(z.string()),
});
export interface TopologySelectorLabelRequirement extends Output<typeof topologySelectorLabelRequirementShape> {}
export interface TopologySelectorLabelRequirementInput extends Input<typeof topologySelectorLabelRequirementShape> {}
export const topologySelectorLabelRequirement: Type<
  TopologySelectorLabelRequirement,
  TopologySelectorLabelRequirementInput
> = type('TopologySelectorLabelRequirement', topologySelectorLabelRequirementShape);

const topologySelectorTermShape = () => ({
  matchLabelExpressions: optional(z.array(topologySelectorLabelRequirement())),
});
export interface TopologySelectorTerm extends Output<typeof topologySelectorTermShape> {}
export interface TopologySelectorTermInput extends Input<typeof topologySelectorTermShape> {}
export const topologySelectorTerm: Type<TopologySelectorTerm, TopologySelectorTermInput> = type(
  'TopologySelectorTerm',
  topologySelectorTermShape,
  { atomic: true },
);
