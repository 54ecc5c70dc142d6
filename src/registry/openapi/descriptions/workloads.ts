/**
 * OpenAPI descriptions of the groups for workloads, scheduling and devices, by package. `../definitions.ts` explains the
 * notation and parses it.
 */
export const workloadDescriptions: Readonly<Record<string, string>> = {
  apps: `
Deployment Keeps equal pods running and replaces them step by step when their template changes.
DeploymentSpec How many pods, which ones, and how they are replaced.
 strategy How old pods are replaced by new ones.
 paused Changes of the template have no effect for now.
 progressDeadlineSeconds How long a rollout may make no progress before it counts as failed.
DeploymentStrategy How old pods are replaced by new ones.
 type Recreate or RollingUpdate.
DaemonSet Keeps one pod running on every node, or on some of them.
DaemonSetSpec Which pods, and how they are replaced.
StatefulSet Keeps pods with lasting names and storage running.
StatefulSetSpec How many pods, which ones, and how they are replaced.
 serviceName The service that gives the pods their names.
 volumeClaimTemplates Claims that every pod gets for itself.
 podManagementPolicy OrderedReady makes pods one after another; Parallel all at once.
 persistentVolumeClaimRetentionPolicy Whether claims are deleted.
 ordinals How the pods are numbered.
StatefulSetOrdinals How pods are numbered.
 start The first number; 0 unless said otherwise.
StatefulSetPersistentVolumeClaimRetentionPolicy Whether claims are deleted: Retain or Delete.
 whenDeleted When the set is deleted.
 whenScaled When the set becomes smaller.
ReplicaSet Keeps a number of equal pods running.
ReplicaSetSpec How many pods, and which.
DaemonSetUpdateStrategy,StatefulSetUpdateStrategy How old pods are replaced by new ones.
 type RollingUpdate or OnDelete.
RollingUpdateDeployment,RollingUpdateDaemonSet,RollingUpdateStatefulSetStrategy The steps of a rolling update.
 maxUnavailable How many pods may be unavailable during the update, as a number or a percentage.
 maxSurge How many extra pods may exist during the update, as a number or a percentage.
 partition Only pods with this number or a higher one are replaced.
DeploymentStatus,ReplicaSetStatus,StatefulSetStatus,DaemonSetStatus The state of the pods.
 terminatingReplicas How many pods are terminating.
 unavailableReplicas How many pods are still missing.
 updatedReplicas How many pods are of the present template.
 fullyLabeledReplicas How many pods have the labels of the template.
 currentReplicas How many pods are of the current revision.
 currentRevision The revision that pods come from.
 updateRevision The revision that pods go to.
 currentNumberScheduled Nodes that run the pod and should.
 numberMisscheduled Nodes that run the pod and should not.
 desiredNumberScheduled Nodes that should run the pod.
 numberReady Nodes on which the pod is ready.
 updatedNumberScheduled Nodes with a pod of the present template.
 numberAvailable Nodes on which the pod is available.
 numberUnavailable Nodes on which the pod is missing or not available.
 replicas How many pods there are.
 readyReplicas How many pods are ready.
 availableReplicas How many pods are available.
 collisionCount How often a name was already taken.
DeploymentCondition,ReplicaSetCondition,DaemonSetCondition,StatefulSetCondition A statement about the pods.
ControllerRevision A state that a controller keeps for rollbacks. It cannot be changed.
 data The state, as the controller wrote it.
 revision The number of the state.
*
 replicas How many pods.
 selector Selects the pods; it must match the labels of the template and cannot be changed.
 template The pods to make.
 updateStrategy How old pods are replaced by new ones.
 rollingUpdate The steps of a rolling update.
 minReadySeconds How long a pod must be ready to count as available.
 revisionHistoryLimit How many old revisions are kept.
`,
  autoscaling: `
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
`,
  batch: `
CronJob Makes jobs at given times.
CronJobSpec When jobs are made, and which.
 schedule The times, as cron writes them.
 timeZone The time zone of the times; that of the controller unless said otherwise.
 startingDeadlineSeconds How late a job may start; later it counts as failed.
 concurrencyPolicy What to do while a job still runs: Allow another, Forbid it, or Replace the running one.
 suspend True: no new jobs for now. Running ones go on.
 jobTemplate The jobs to make.
 successfulJobsHistoryLimit How many successful jobs are kept; 3 unless said otherwise.
 failedJobsHistoryLimit How many failed jobs are kept; 1 unless said otherwise.
CronJobStatus The state of the jobs.
 active The jobs that are running.
 lastScheduleTime When a job was last made.
 lastSuccessfulTime When a job last ended well.
JobTemplateSpec The jobs that are made.
 metadata Labels and annotations of the jobs.
 spec What the jobs do.
Job Runs pods until enough of them have ended well.
JobSpec What is to be done, and how often.
 parallelism How many pods run at a time.
 completions How many pods must end well.
 activeDeadlineSeconds How long the job may last.
 podFailurePolicy What a failed pod means.
 successPolicy When the job counts as successful.
 backoffLimit How many failures until the job counts as failed.
 backoffLimitPerIndex The same for every index.
 maxFailedIndexes How many indexes may fail.
 selector Selects the pods; usually made by the server.
 manualSelector Whether the selector and its labels are the user's own.
 template The pods to make.
 ttlSecondsAfterFinished How long the job is kept after its end.
 completionMode NonIndexed, or Indexed: every pod has a number.
 suspend True: its pods are deleted, and the job waits.
 podReplacementPolicy When a pod is replaced: TerminatingOrFailed or Failed.
 managedBy The controller that manages the job.
JobStatus The progress of the job.
 startTime When the job began.
 completionTime When it ended well.
 active How many pods are running.
 succeeded How many pods ended well.
 failed How many pods failed.
 terminating How many pods are terminating.
 completedIndexes Indexes that ended well.
 failedIndexes Indexes that failed.
 uncountedTerminatedPods Pods that have ended and are not counted yet.
 ready How many pods are ready.
UncountedTerminatedPods Pods that have ended and are not counted yet.
 succeeded Those that ended well.
 failed Those that failed.
JobCondition A statement about the state of a job.
PodFailurePolicy What a failed pod means.
 rules The rules; the first that matches decides.
PodFailurePolicyRule A rule about failed pods.
 action FailJob, FailIndex, Ignore or Count.
 onExitCodes Matches by exit code.
 onPodConditions Matches by conditions of the pod.
PodFailurePolicyOnExitCodesRequirement Exit codes.
 containerName The container; any when absent.
 operator In or NotIn.
 values The codes.
PodFailurePolicyOnPodConditionsPattern A condition of a pod.
 type Its type.
 status Its status; True unless said otherwise.
SuccessPolicy When a job counts as successful.
 rules The rules; one of them is enough.
SuccessPolicyRule Indexes that must end well.
 succeededIndexes Which indexes.
 succeededCount How many of them.
`,
  node: `
RuntimeClass A way to run pods.
 handler The runtime, as nodes know it.
 overhead What it needs for itself.
 scheduling Which nodes have it.
Overhead What a runtime needs for itself.
 podFixed For every pod, by resource.
Scheduling Nodes that have a runtime.
 nodeSelector Labels of the nodes.
 tolerations Taints of the nodes that pods must tolerate.
`,
  policy: `
PodDisruptionBudget How many pods may be voluntarily disrupted.
PodDisruptionBudgetSpec The pods and the bound.
 selector Selects the pods.
 minAvailable How many must stay, as a number or a percentage.
 maxUnavailable How many may be missing, as a number or a percentage.
 unhealthyPodEvictionPolicy When unhealthy pods may be evicted: IfHealthyBudget or AlwaysAllow.
PodDisruptionBudgetStatus The state of the budget.
 disruptedPods Pods that are being evicted, and since when.
 disruptionsAllowed How many pods may be evicted now.
 currentHealthy How many are healthy.
 desiredHealthy How many should be.
 expectedPods How many pods count.
Eviction Evicts a pod, if its budgets allow it.
 deleteOptions How the pod is to be deleted.
`,
  resource: `
DeviceClass A class of devices: which ones, and how they are set up.
DeviceClassSpec The devices and their settings.
 selectors Every one of them must match a device.
 config Settings for drivers; they do not decide which device is taken.
DeviceClassConfiguration Settings for one driver.
DeviceSelector What a device must be like.
 cel An expression in CEL.
CELDeviceSelector An expression about a device.
 expression True for the devices that are meant; device has driver, attributes and capacity.
OpaqueDeviceConfiguration Settings that only a driver understands.
 driver The driver.
 parameters The settings; at most 10 Ki.
ResourceClaim Asks for devices.
ResourceClaimSpec What is asked for.
 devices The devices.
ResourceClaimStatus What was got.
 allocation The devices that were set aside.
 reservedFor The consumers that may use them.
 devices The state of the devices, as drivers tell it.
ResourceClaimTemplate Claims that are made for pods.
ResourceClaimTemplateSpec A claim to be made.
 metadata Labels and annotations of the claim.
 spec What is asked for.
ResourceClaimConsumerReference The consumer of a claim.
 apiGroup The group of the object.
 resource Its resource.
 uid Its uid.
DeviceClaim Devices that are asked for.
 requests The single requests.
 constraints What must hold of them together.
 config Settings for drivers.
DeviceRequest,ExactDeviceRequest,DeviceSubRequest A request for devices.
 exactly What is asked for.
 firstAvailable Alternatives; the first that can be satisfied counts.
 selectors Every one of them must match a device.
 allocationMode ExactCount or All.
 count How many.
 adminAccess For administrators: the device may be in use.
 tolerations Taints of devices that are tolerated.
DeviceConstraint What must hold of several devices together.
 requests The requests that it is about.
 matchAttribute An attribute that must be the same.
AllocationResult What was set aside.
 devices The devices.
 nodeSelector Nodes from which they can be used.
DeviceAllocationResult Devices that were set aside.
 results The devices, by request.
 config Settings for drivers.
DeviceRequestAllocationResult A device that was set aside.
 adminAccess It may be in use by others.
 tolerations Taints that are tolerated.
DeviceAllocationConfiguration,DeviceClaimConfiguration Settings for one driver.
 source Where they come from: FromClass or FromClaim.
 requests The requests that they are for; empty is all.
AllocatedDeviceStatus The state of a device in use.
 data Whatever the driver says.
 networkData Information about a network device.
NetworkDeviceData A network device.
 interfaceName The name of the interface.
 ips Its addresses.
 hardwareAddress Its hardware address.
ResourceSlice Devices that a driver offers.
ResourceSliceSpec The devices and where they are.
 devices The devices.
 perDeviceNodeSelection Every device states its own nodes.
 sharedCounters What devices have in common and use up.
ResourcePool A pool of devices.
 generation Counts the changes of the pool.
 resourceSliceCount How many slices it has.
Device,BasicDevice A device.
 basic The properties of the device.
 attributes Its attributes.
 capacity Its capacities.
 consumesCounters What it uses up.
 taints Taints that keep claims away that do not tolerate them.
DeviceAttribute An attribute; one field is set.
 int A number.
 bool A truth value.
 string A text.
 version A version.
Counter,DeviceCapacity An amount.
CounterSet Things that devices use up.
 counters The counters, by name.
DeviceCounterConsumption What a device uses up.
 counterSet The set of counters.
 counters How much, by name.
DeviceTaint Keeps claims away that do not tolerate it.
 timeAdded When it was added.
DeviceTaintRule Adds a taint to devices.
DeviceTaintRuleSpec The taint and the devices.
 deviceSelector The devices.
 taint The taint.
DeviceTaintSelector Selects devices.
 selectors Every one of them must match a device.
DeviceToleration Taints of devices that are tolerated.
 operator Equal or Exists.
 tolerationSeconds How long a NoExecute taint is tolerated.
*
 name The name.
 opaque Settings that only the driver understands.
 deviceClassName The class of the devices.
 driver The driver.
 pool The pool.
 device The device.
 request The request.
 allNodes All nodes can use it.
 nodeName The one node that can use it.
 nodeSelector Nodes that can use it.
 value The value.
 key The key.
 effect NoSchedule or NoExecute.
`,
  scheduling: `
PriorityClass A priority for pods, by name.
 value The priority; higher goes first.
 globalDefault Pods without a class get this one; the smallest, if several say so.
 description What the class is for.
 preemptionPolicy Whether pods may preempt others: PreemptLowerPriority or Never.
`,
};
