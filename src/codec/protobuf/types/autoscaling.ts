/** Message types of the group `autoscaling`, in the notation of `../notation.ts`. */
import type { GroupTypes } from '../notation.js';

export const autoscaling: GroupTypes = {
  name: 'autoscaling',
  group: 'autoscaling',
  versions: [
    {
      version: 'v2',
      kinds: 'HorizontalPodAutoscaler+',
      types: `
ContainerResourceMetricSource name target:MetricTarget container
ContainerResourceMetricStatus name current:MetricValueStatus container
CrossVersionObjectReference kind name apiVersion
ExternalMetricSource metric:MetricIdentifier target:MetricTarget
ExternalMetricStatus metric:MetricIdentifier current:MetricValueStatus
HPAScalingPolicy type value:int32 periodSeconds:int32
HPAScalingRules selectPolicy* policies[]:HPAScalingPolicy stabilizationWindowSeconds*:int32 tolerance*:Quantity
HorizontalPodAutoscaler metadata:ObjectMeta spec:HorizontalPodAutoscalerSpec status:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior scaleUp*:HPAScalingRules scaleDown*:HPAScalingRules
HorizontalPodAutoscalerCondition type status lastTransitionTime:Time reason message
HorizontalPodAutoscalerSpec scaleTargetRef:CrossVersionObjectReference minReplicas*:int32 maxReplicas:int32
  metrics[]:MetricSpec behavior*:HorizontalPodAutoscalerBehavior
HorizontalPodAutoscalerStatus observedGeneration*:int64 lastScaleTime*:Time currentReplicas:int32
  desiredReplicas:int32 currentMetrics[]:MetricStatus conditions[]:HorizontalPodAutoscalerCondition
MetricIdentifier name selector*:LabelSelector
MetricSpec type object*:ObjectMetricSource pods*:PodsMetricSource resource*:ResourceMetricSource
  external*:ExternalMetricSource containerResource=7*:ContainerResourceMetricSource
MetricStatus type object*:ObjectMetricStatus pods*:PodsMetricStatus resource*:ResourceMetricStatus
  external*:ExternalMetricStatus containerResource=7*:ContainerResourceMetricStatus
MetricTarget type value*:Quantity averageValue*:Quantity averageUtilization*:int32
MetricValueStatus value*:Quantity averageValue*:Quantity averageUtilization*:int32
ObjectMetricSource describedObject:CrossVersionObjectReference target:MetricTarget metric:MetricIdentifier
ObjectMetricStatus metric:MetricIdentifier current:MetricValueStatus describedObject:CrossVersionObjectReference
PodsMetricSource metric:MetricIdentifier target:MetricTarget
PodsMetricStatus metric:MetricIdentifier current:MetricValueStatus
ResourceMetricSource name target:MetricTarget
ResourceMetricStatus name current:MetricValueStatus
      `,
    },
    {
      version: 'v1',
      like: 'v2',
      kinds: 'HorizontalPodAutoscaler+ Scale',
      types: `
HorizontalPodAutoscalerSpec scaleTargetRef:CrossVersionObjectReference minReplicas*:int32 maxReplicas:int32
  targetCPUUtilizationPercentage*:int32
HorizontalPodAutoscalerStatus observedGeneration*:int64 lastScaleTime*:Time currentReplicas:int32
  desiredReplicas:int32 currentCPUUtilizationPercentage*:int32
Scale metadata:ObjectMeta spec:ScaleSpec status:ScaleStatus
ScaleSpec replicas:int32
ScaleStatus replicas:int32 selector
      `,
    },
    {
      version: 'v2beta2',
      like: 'v2',
      kinds: 'HorizontalPodAutoscaler+',
      types: `
HPAScalingRules selectPolicy* policies[]:HPAScalingPolicy stabilizationWindowSeconds*:int32
      `,
    },
    {
      version: 'v2beta1',
      like: 'v2',
      kinds: 'HorizontalPodAutoscaler+',
      types: `
ContainerResourceMetricSource name targetAverageUtilization*:int32 targetAverageValue*:Quantity container
ContainerResourceMetricStatus name currentAverageUtilization*:int32 currentAverageValue:Quantity container
ExternalMetricSource metricName metricSelector*:LabelSelector targetValue*:Quantity targetAverageValue*:Quantity
ExternalMetricStatus metricName metricSelector*:LabelSelector currentValue:Quantity currentAverageValue*:Quantity
HorizontalPodAutoscalerSpec scaleTargetRef:CrossVersionObjectReference minReplicas*:int32 maxReplicas:int32
  metrics[]:MetricSpec
ObjectMetricSource target:CrossVersionObjectReference metricName targetValue:Quantity selector*:LabelSelector
  averageValue*:Quantity
ObjectMetricStatus target:CrossVersionObjectReference metricName currentValue:Quantity selector*:LabelSelector
  averageValue*:Quantity
PodsMetricSource metricName targetAverageValue:Quantity selector*:LabelSelector
PodsMetricStatus metricName currentAverageValue:Quantity selector*:LabelSelector
ResourceMetricSource name targetAverageUtilization*:int32 targetAverageValue*:Quantity
ResourceMetricStatus name currentAverageUtilization*:int32 currentAverageValue:Quantity
      `,
    },
  ],
};
