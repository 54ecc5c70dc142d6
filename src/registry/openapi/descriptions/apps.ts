/** What the types of this package are for; see `meta.ts` for the notation. */
export const appsDescriptions = `
Deployment Keeps equal pods running and replaces them step by step when their template changes.
DeploymentSpec How many pods, which ones, and how they are replaced.
 strategy How old pods give way to new ones.
 paused Changes of the template have no effect for now.
 progressDeadlineSeconds How long a rollout may stand still before it counts as failed.
DeploymentStrategy How old pods give way to new ones.
 type Recreate or RollingUpdate.
DaemonSet Keeps one pod running on every node, or on some of them.
DaemonSetSpec Which pods, and how they are replaced.
StatefulSet Keeps pods with lasting names and storage running.
StatefulSetSpec How many pods, which ones, and how they are replaced.
 serviceName The service that gives the pods their names.
 volumeClaimTemplates Claims that every pod gets for itself.
 podManagementPolicy OrderedReady makes pods one after another; Parallel all at once.
 persistentVolumeClaimRetentionPolicy What becomes of the claims.
 ordinals How the pods are numbered.
StatefulSetOrdinals How pods are numbered.
 start The first number; 0 unless said otherwise.
StatefulSetPersistentVolumeClaimRetentionPolicy What becomes of claims: Retain or Delete.
 whenDeleted When the set is deleted.
 whenScaled When the set becomes smaller.
ReplicaSet Keeps a number of equal pods running.
ReplicaSetSpec How many pods, and which.
DaemonSetUpdateStrategy,StatefulSetUpdateStrategy How old pods give way to new ones.
 type RollingUpdate or OnDelete.
RollingUpdateDeployment,RollingUpdateDaemonSet,RollingUpdateStatefulSetStrategy The steps of a rolling update.
 maxUnavailable How many pods may be missing meanwhile, as a number or a percentage.
 maxSurge How many pods there may be too many meanwhile, as a number or a percentage.
 partition Only pods with this number or a higher one are replaced.
DeploymentStatus,ReplicaSetStatus,StatefulSetStatus,DaemonSetStatus The state of the pods.
 terminatingReplicas How many pods are on their way out.
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
ControllerRevision A state that a controller keeps to go back to. It cannot be changed.
 data The state, as the controller wrote it.
 revision The number of the state.
*
 replicas How many pods.
 selector Selects the pods; it must match the labels of the template and cannot be changed.
 template The pods to make.
 updateStrategy How old pods give way to new ones.
 rollingUpdate The steps of a rolling update.
 minReadySeconds How long a pod must be ready to count as available.
 revisionHistoryLimit How many old revisions are kept.
`;
