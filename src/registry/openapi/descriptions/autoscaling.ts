/** What the types of this package are for; see `meta.ts` for the notation. */
export const autoscalingDescriptions = `
HorizontalPodAutoscaler Changes the number of pods of an object with their load.
HorizontalPodAutoscalerSpec What is scaled, between which bounds and by what.
 scaleTargetRef The object that is scaled.
 minReplicas The fewest pods.
 maxReplicas The most pods.
 metrics The measures that decide.
 behavior How fast the number may change.
 targetCPUUtilizationPercentage The use of processors to aim at, in percent of requests.
HorizontalPodAutoscalerStatus The state of the scaling.
 lastScaleTime When the number last changed.
 currentReplicas How many pods there are.
 desiredReplicas How many there should be.
 currentMetrics The measures as they were last read.
 currentCPUUtilizationPercentage The present use of processors, in percent of requests.
HorizontalPodAutoscalerCondition A statement about the scaling.
HorizontalPodAutoscalerBehavior How fast the number may change.
 scaleUp Upwards.
 scaleDown Downwards.
HPAScalingRules How fast the number may change in one direction.
 stabilizationWindowSeconds How far back earlier results still count.
 selectPolicy Which policy decides: Max, Min or Disabled.
 policies The policies.
 tolerance How far from its aim a measure may be without any change.
HPAScalingPolicy A bound on change.
 type Pods or Percent.
 value How much.
 periodSeconds In how many seconds.
MetricSpec,MetricStatus A measure. The field that its type names is set.
 type Resource, ContainerResource, Pods, Object or External.
 resource A resource of the pods.
 containerResource A resource of one container of the pods.
 pods A measure of every pod.
 object A measure of another object.
 external A measure from outside of the cluster.
MetricTarget,MetricValueStatus A value of a measure.
 type Utilization, Value or AverageValue.
 value The value.
 averageValue The average over pods.
 averageUtilization The average in percent of requests.
ResourceMetricSource,ContainerResourceMetricSource,PodsMetricSource,ObjectMetricSource,ExternalMetricSource A measure and its aim.
ResourceMetricStatus,ContainerResourceMetricStatus,PodsMetricStatus,ObjectMetricStatus,ExternalMetricStatus A measure and its present value.
MetricIdentifier A measure by its name.
 selector Selects among measures of the name.
CrossVersionObjectReference A reference to an object.
 kind The kind of the object.
 apiVersion The group and version of its kind.
Scale How many pods an object wants, whatever its kind.
ScaleSpec How many pods are wanted.
 replicas How many.
ScaleStatus How many pods there are.
 replicas How many.
 selector Selects them, as text.
*
 name The name.
 container The container.
 target The value to aim at.
 current The present value.
 metric The measure.
 describedObject The object that is measured.
`;
