/** Message types of the group `extensions`, in the notation of `../notation.ts`. */
import type { GroupTypes } from '../notation.js';

export const extensions: GroupTypes = {
  name: 'extensions',
  group: 'extensions',
  versions: [
    {
      version: 'v1beta1',
      kinds: 'DaemonSet+ Deployment+ DeploymentRollback Ingress+ NetworkPolicy+ ReplicaSet+ Scale',
      types: `
DaemonSet metadata:ObjectMeta spec:DaemonSetSpec status:DaemonSetStatus
DaemonSetCondition type status lastTransitionTime:Time reason message
DaemonSetSpec selector*:LabelSelector template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy
  minReadySeconds:int32 templateGeneration:int64 revisionHistoryLimit*:int32
DaemonSetStatus currentNumberScheduled:int32 numberMisscheduled:int32 desiredNumberScheduled:int32 numberReady:int32
  observedGeneration:int64 updatedNumberScheduled:int32 numberAvailable:int32 numberUnavailable:int32
  collisionCount*:int32 conditions[]:DaemonSetCondition
DaemonSetUpdateStrategy type rollingUpdate*:RollingUpdateDaemonSet
Deployment metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus
DeploymentCondition type status reason=4 message lastUpdateTime:Time lastTransitionTime:Time
DeploymentRollback name updatedAnnotations{} rollbackTo:RollbackConfig
DeploymentSpec replicas*:int32 selector*:LabelSelector template:PodTemplateSpec strategy:DeploymentStrategy
  minReadySeconds:int32 revisionHistoryLimit*:int32 paused:bool rollbackTo*:RollbackConfig
  progressDeadlineSeconds*:int32
DeploymentStatus observedGeneration:int64 replicas:int32 updatedReplicas:int32 availableReplicas:int32
  unavailableReplicas:int32 conditions[]:DeploymentCondition readyReplicas:int32 collisionCount*:int32
  terminatingReplicas*:int32
DeploymentStrategy type rollingUpdate*:RollingUpdateDeployment
HTTPIngressPath path backend:IngressBackend pathType*
HTTPIngressRuleValue paths[]:HTTPIngressPath
IPBlock cidr except[]
Ingress metadata:ObjectMeta spec:IngressSpec status:IngressStatus
IngressBackend serviceName servicePort:IntOrString resource*:TypedLocalObjectReference
IngressLoadBalancerIngress ip hostname ports=4[]:IngressPortStatus
IngressLoadBalancerStatus ingress[]:IngressLoadBalancerIngress
IngressPortStatus port:int32 protocol error*
IngressRule host :IngressRuleValue
IngressRuleValue http*:HTTPIngressRuleValue
IngressSpec backend*:IngressBackend tls[]:IngressTLS rules[]:IngressRule ingressClassName*
IngressStatus loadBalancer:IngressLoadBalancerStatus
IngressTLS hosts[] secretName
NetworkPolicy metadata:ObjectMeta spec:NetworkPolicySpec
NetworkPolicyEgressRule ports[]:NetworkPolicyPort to[]:NetworkPolicyPeer
NetworkPolicyIngressRule ports[]:NetworkPolicyPort from[]:NetworkPolicyPeer
NetworkPolicyPeer podSelector*:LabelSelector namespaceSelector*:LabelSelector ipBlock*:IPBlock
NetworkPolicyPort protocol* port*:IntOrString endPort*:int32
NetworkPolicySpec podSelector:LabelSelector ingress[]:NetworkPolicyIngressRule egress[]:NetworkPolicyEgressRule
  policyTypes[]
ReplicaSet metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus
ReplicaSetCondition type status lastTransitionTime:Time reason message
ReplicaSetSpec replicas*:int32 selector*:LabelSelector template:PodTemplateSpec minReadySeconds:int32
ReplicaSetStatus replicas:int32 fullyLabeledReplicas:int32 observedGeneration:int64 readyReplicas:int32
  availableReplicas:int32 conditions[]:ReplicaSetCondition terminatingReplicas*:int32
RollbackConfig revision:int64
RollingUpdateDaemonSet maxUnavailable*:IntOrString maxSurge*:IntOrString
RollingUpdateDeployment maxUnavailable*:IntOrString maxSurge*:IntOrString
Scale metadata:ObjectMeta spec:ScaleSpec status:ScaleStatus
ScaleSpec replicas:int32
ScaleStatus replicas:int32 selector{} targetSelector
      `,
    },
  ],
};
