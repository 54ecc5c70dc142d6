/**
 * Schemas of affinity and topology spread.
 */
import * as z from 'zod';
import { enumString, int32, optional, pointer } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { labelSelector } from '../../../shared/types.js';
import { nodeSelector, nodeSelectorTerm } from '../scheduling-types.js';

const preferredSchedulingTermShape = () => ({
  weight: int32(),
  preference: nodeSelectorTerm(),
});
export interface PreferredSchedulingTerm extends Output<typeof preferredSchedulingTermShape> {}
export interface PreferredSchedulingTermInput extends Input<typeof preferredSchedulingTermShape> {}
export const preferredSchedulingTerm: Type<PreferredSchedulingTerm, PreferredSchedulingTermInput> = type(
  'PreferredSchedulingTerm',
  preferredSchedulingTermShape,
);

const nodeAffinityShape = () => ({
  requiredDuringSchedulingIgnoredDuringExecution: pointer(nodeSelector()),
  preferredDuringSchedulingIgnoredDuringExecution: optional(z.array(preferredSchedulingTerm())),
});
export interface NodeAffinity extends Output<typeof nodeAffinityShape> {}
export interface NodeAffinityInput extends Input<typeof nodeAffinityShape> {}
export const nodeAffinity: Type<NodeAffinity, NodeAffinityInput> = type('NodeAffinity', nodeAffinityShape);

const podAffinityTermShape = () => ({
  labelSelector: pointer(labelSelector()),
  namespaces: optional(z.array(z.string())),
  topologyKey: z.string(),
  namespaceSelector: pointer(labelSelector()),
  matchLabelKeys: optional(z.array(z.string())),
  mismatchLabelKeys: optional(z.array(z.string())),
});
export interface PodAffinityTerm extends Output<typeof podAffinityTermShape> {}
export interface PodAffinityTermInput extends Input<typeof podAffinityTermShape> {}
export const podAffinityTerm: Type<PodAffinityTerm, PodAffinityTermInput> = type(
  'PodAffinityTerm',
  podAffinityTermShape,
);

const weightedPodAffinityTermShape = () => ({
  weight: int32(),
  podAffinityTerm: podAffinityTerm(),
});
export interface WeightedPodAffinityTerm extends Output<typeof weightedPodAffinityTermShape> {}
export interface WeightedPodAffinityTermInput extends Input<typeof weightedPodAffinityTermShape> {}
export const weightedPodAffinityTerm: Type<WeightedPodAffinityTerm, WeightedPodAffinityTermInput> = type(
  'WeightedPodAffinityTerm',
  weightedPodAffinityTermShape,
);

const podAffinityShape = () => ({
  requiredDuringSchedulingIgnoredDuringExecution: optional(z.array(podAffinityTerm())),
  preferredDuringSchedulingIgnoredDuringExecution: optional(z.array(weightedPodAffinityTerm())),
});
export interface PodAffinity extends Output<typeof podAffinityShape> {}
export interface PodAffinityInput extends Input<typeof podAffinityShape> {}
export const podAffinity: Type<PodAffinity, PodAffinityInput> = type('PodAffinity', podAffinityShape);

const podAntiAffinityShape = () => ({
  requiredDuringSchedulingIgnoredDuringExecution: optional(z.array(podAffinityTerm())),
  preferredDuringSchedulingIgnoredDuringExecution: optional(z.array(weightedPodAffinityTerm())),
});
export interface PodAntiAffinity extends Output<typeof podAntiAffinityShape> {}
export interface PodAntiAffinityInput extends Input<typeof podAntiAffinityShape> {}
export const podAntiAffinity: Type<PodAntiAffinity, PodAntiAffinityInput> = type(
  'PodAntiAffinity',
  podAntiAffinityShape,
);

const affinityShape = () => ({
  nodeAffinity: pointer(nodeAffinity()),
  podAffinity: pointer(podAffinity()),
  podAntiAffinity: pointer(podAntiAffinity()),
});
export interface Affinity extends Output<typeof affinityShape> {}
export interface AffinityInput extends Input<typeof affinityShape> {}
export const affinity: Type<Affinity, AffinityInput> = type('Affinity', affinityShape);

const topologySpreadConstraintShape = () => ({
  maxSkew: int32(),
  topologyKey: z.string(),
  whenUnsatisfiable: enumString<'DoNotSchedule' | 'ScheduleAnyway'>('v1.UnsatisfiableConstraintAction'),
  labelSelector: pointer(labelSelector()),
  minDomains: pointer(int32()),
  nodeAffinityPolicy: pointer(enumString<'Ignore' | 'Honor'>('v1.NodeInclusionPolicy')),
  nodeTaintsPolicy: pointer(enumString<'Ignore' | 'Honor'>('v1.NodeInclusionPolicy')),
  matchLabelKeys: optional(z.array(z.string())),
});
export interface TopologySpreadConstraint extends Output<typeof topologySpreadConstraintShape> {}
export interface TopologySpreadConstraintInput extends Input<typeof topologySpreadConstraintShape> {}
export const topologySpreadConstraint: Type<TopologySpreadConstraint, TopologySpreadConstraintInput> = type(
  'TopologySpreadConstraint',
  topologySpreadConstraintShape,
);
