/** Message types of the group `apps`, in the notation of `../notation.ts`. */
import type { GroupTypes } from '../notation.js';

export const apps: GroupTypes = {
  name: 'apps',
  group: 'apps',
  versions: [
    {
      version: 'v1',
      kinds: 'ControllerRevision+ DaemonSet+ Deployment+ ReplicaSet+ StatefulSet+',
      types: `
ControllerRevision metadata:ObjectMeta data:RawExtension revision:int64
DaemonSet metadata:ObjectMeta spec:DaemonSetSpec status:DaemonSetStatus
DaemonSetCondition type status lastTransitionTime:Time reason message
DaemonSetSpec selector*:LabelSelector template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy
  minReadySeconds:int32 revisionHistoryLimit=6*:int32
DaemonSetStatus currentNumberScheduled:int32 numberMisscheduled:int32 desiredNumberScheduled:int32 numberReady:int32
  observedGeneration:int64 updatedNumberScheduled:int32 numberAvailable:int32 numberUnavailable:int32
  collisionCount*:int32 conditions[]:DaemonSetCondition
DaemonSetUpdateStrategy type rollingUpdate*:RollingUpdateDaemonSet
Deployment metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus
DeploymentCondition type status reason=4 message lastUpdateTime:Time lastTransitionTime:Time
DeploymentSpec replicas*:int32 selector*:LabelSelector template:PodTemplateSpec strategy:DeploymentStrategy
  minReadySeconds:int32 revisionHistoryLimit*:int32 paused:bool progressDeadlineSeconds=9*:int32
DeploymentStatus observedGeneration:int64 replicas:int32 updatedReplicas:int32 availableReplicas:int32
  unavailableReplicas:int32 conditions[]:DeploymentCondition readyReplicas:int32 collisionCount*:int32
  terminatingReplicas*:int32
DeploymentStrategy type rollingUpdate*:RollingUpdateDeployment
ReplicaSet metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus
ReplicaSetCondition type status lastTransitionTime:Time reason message
ReplicaSetSpec replicas*:int32 selector*:LabelSelector template:PodTemplateSpec minReadySeconds:int32
ReplicaSetStatus replicas:int32 fullyLabeledReplicas:int32 observedGeneration:int64 readyReplicas:int32
  availableReplicas:int32 conditions[]:ReplicaSetCondition terminatingReplicas*:int32
RollingUpdateDaemonSet maxUnavailable*:IntOrString maxSurge*:IntOrString
RollingUpdateDeployment maxUnavailable*:IntOrString maxSurge*:IntOrString
RollingUpdateStatefulSetStrategy partition*:int32 maxUnavailable*:IntOrString
StatefulSet metadata:ObjectMeta spec:StatefulSetSpec status:StatefulSetStatus
StatefulSetCondition type status lastTransitionTime:Time reason message
StatefulSetOrdinals start:int32
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted whenScaled
StatefulSetSpec replicas*:int32 selector*:LabelSelector template:PodTemplateSpec
  volumeClaimTemplates[]:PersistentVolumeClaim serviceName podManagementPolicy
  updateStrategy:StatefulSetUpdateStrategy revisionHistoryLimit*:int32 minReadySeconds:int32
  persistentVolumeClaimRetentionPolicy*:StatefulSetPersistentVolumeClaimRetentionPolicy
  ordinals*:StatefulSetOrdinals
StatefulSetStatus observedGeneration:int64 replicas:int32 readyReplicas:int32 currentReplicas:int32
  updatedReplicas:int32 currentRevision updateRevision collisionCount=9*:int32 conditions[]:StatefulSetCondition
  availableReplicas:int32
StatefulSetUpdateStrategy type rollingUpdate*:RollingUpdateStatefulSetStrategy
      `,
    },
    {
      version: 'v1beta2',
      like: 'v1',
      kinds: 'ControllerRevision+ DaemonSet+ Deployment+ ReplicaSet+ Scale StatefulSet+',
      types: `
Scale metadata:ObjectMeta spec:ScaleSpec status:ScaleStatus
ScaleSpec replicas:int32
ScaleStatus replicas:int32 selector{} targetSelector
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'ControllerRevision+ Deployment+ DeploymentRollback Scale StatefulSet+',
      types: `
DeploymentRollback name updatedAnnotations{} rollbackTo:RollbackConfig
DeploymentSpec replicas*:int32 selector*:LabelSelector template:PodTemplateSpec strategy:DeploymentStrategy
  minReadySeconds:int32 revisionHistoryLimit*:int32 paused:bool rollbackTo*:RollbackConfig
  progressDeadlineSeconds*:int32
RollbackConfig revision:int64
Scale metadata:ObjectMeta spec:ScaleSpec status:ScaleStatus
ScaleSpec replicas:int32
ScaleStatus replicas:int32 selector{} targetSelector
StatefulSetStatus observedGeneration*:int64 replicas:int32 readyReplicas:int32 currentReplicas:int32
  updatedReplicas:int32 currentRevision updateRevision collisionCount=9*:int32 conditions[]:StatefulSetCondition
  availableReplicas:int32
      `,
    },
  ],
};
