/**
 * The shape of a HorizontalPodAutoscaler.
 */

import * as z from 'zod';
import {
  always,
  defaultedPointer,
  enumString,
  int32,
  int64,
  mapList,
  namedString,
  optional,
  pointer,
  quantity,
  time,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { conditionParts } from '../../../shared/types.js';
import { crossVersionObjectReference, metricSpec, metricStatus } from './metrics.js';

const scalingPolicyShape = () => ({
  type: enumString<'Pods' | 'Percent'>('v2.HPAScalingPolicyType'),
  value: int32(),
  periodSeconds: int32(),
});
export interface ScalingPolicy extends Output<typeof scalingPolicyShape> {}
export interface ScalingPolicyInput extends Input<typeof scalingPolicyShape> {}
const scalingPolicy: Type<ScalingPolicy, ScalingPolicyInput> = type('v2.HPAScalingPolicy', scalingPolicyShape);

export const scalingRulesShape = () => ({
  stabilizationWindowSeconds: pointer(int32()),
  selectPolicy: pointer(enumString<'Max' | 'Min' | 'Disabled'>('v2.ScalingPolicySelect')),
  // An empty list is a mistake, none at all is not; so it matters which of them was given.
  policies: pointer(z.array(scalingPolicy())),
  tolerance: pointer(quantity()),
});
export interface ScalingRules extends Output<typeof scalingRulesShape> {}
export interface ScalingRulesInput extends Input<typeof scalingRulesShape> {}
const scalingRules: Type<ScalingRules, ScalingRulesInput> = type('v2.HPAScalingRules', scalingRulesShape);

const horizontalPodAutoscalerBehaviorShape = () => ({
  scaleUp: pointer(scalingRules()),
  scaleDown: pointer(scalingRules()),
});
export interface HorizontalPodAutoscalerBehavior extends Output<typeof horizontalPodAutoscalerBehaviorShape> {}
export interface HorizontalPodAutoscalerBehaviorInput extends Input<typeof horizontalPodAutoscalerBehaviorShape> {}
const horizontalPodAutoscalerBehavior: Type<HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerBehaviorInput> =
  type('v2.HorizontalPodAutoscalerBehavior', horizontalPodAutoscalerBehaviorShape);

export const horizontalPodAutoscalerSpecShape = () => ({
  scaleTargetRef: crossVersionObjectReference(),
  minReplicas: defaultedPointer(int32(), 1),
  maxReplicas: int32(),
  metrics: optional(z.array(metricSpec())),
  behavior: pointer(horizontalPodAutoscalerBehavior()),
});
export interface HorizontalPodAutoscalerSpec extends Output<typeof horizontalPodAutoscalerSpecShape> {}
export interface HorizontalPodAutoscalerSpecInput extends Input<typeof horizontalPodAutoscalerSpecShape> {}
const horizontalPodAutoscalerSpec: Type<HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerSpecInput> = type(
  'v2.HorizontalPodAutoscalerSpec',
  horizontalPodAutoscalerSpecShape,
);

export const horizontalPodAutoscalerConditionShape = () => ({
  type: namedString('v2.HorizontalPodAutoscalerConditionType'),
  ...conditionParts(),
});
export interface HorizontalPodAutoscalerCondition extends Output<typeof horizontalPodAutoscalerConditionShape> {}
export interface HorizontalPodAutoscalerConditionInput extends Input<typeof horizontalPodAutoscalerConditionShape> {}
const horizontalPodAutoscalerCondition: Type<HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerConditionInput> =
  type('v2.HorizontalPodAutoscalerCondition', horizontalPodAutoscalerConditionShape);

export const horizontalPodAutoscalerStatusShape = () => ({
  observedGeneration: pointer(int64()),
  lastScaleTime: pointer(time()),
  currentReplicas: optional(int32()),
  desiredReplicas: int32(),
  // Null when there are none.
  currentMetrics: always(z.array(metricStatus()).nullable()),
  conditions: optional(mapList(horizontalPodAutoscalerCondition(), 'type')),
});
export interface HorizontalPodAutoscalerStatus extends Output<typeof horizontalPodAutoscalerStatusShape> {}
export interface HorizontalPodAutoscalerStatusInput extends Input<typeof horizontalPodAutoscalerStatusShape> {}
const horizontalPodAutoscalerStatus: Type<HorizontalPodAutoscalerStatus, HorizontalPodAutoscalerStatusInput> = type(
  'v2.HorizontalPodAutoscalerStatus',
  horizontalPodAutoscalerStatusShape,
);

export const horizontalPodAutoscalerShape = () => ({
  spec: always(horizontalPodAutoscalerSpec()),
  status: always(horizontalPodAutoscalerStatus()),
});
