/**
 * orchplane/admission: every built-in plugin by name, those that are off by default included, for clusters that choose
 * their own: `createCluster({ admission: inReferenceOrder([...defaultAdmission, serviceAccount]) })`.
 */
export { mutatingAdmissionPolicy } from './mutating-policy/index.js';
export { alwaysAdmit, alwaysDeny } from './plugins/always.js';
export { alwaysPullImages } from './plugins/always-pull-images.js';
export { limitPodHardAntiAffinityTopology } from './plugins/anti-affinity-topology.js';
export {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.js';
export { defaultIngressClass, defaultStorageClass } from './plugins/default-class.js';
export { defaultTolerationSeconds } from './plugins/default-toleration-seconds.js';
export { denyServiceExternalIPs } from './plugins/deny-service-external-ips.js';
export { type EventLimit, type EventRateLimitOptions, eventRateLimit } from './plugins/event-rate-limit.js';
export { extendedResourceToleration } from './plugins/extended-resource-toleration.js';
export { defaultAdmission } from './plugins/index.js';
export { limitRanger } from './plugins/limit-ranger.js';
export { namespaceAutoProvision, namespaceExists } from './plugins/namespace-exists.js';
export { namespaceLifecycle } from './plugins/namespace-lifecycle.js';
export { nodeRestriction } from './plugins/node-restriction/node-restriction.js';
export { inReferenceOrder } from './plugins/order.js';
export { ownerReferencesPermissionEnforcement } from './plugins/owner-references.js';
export { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.js';
export { type PodNodeSelectorOptions, podNodeSelector, podNodeSelectorWith } from './plugins/pod-node-selector.js';
export {
  type PodTolerationRestrictionOptions,
  podTolerationRestriction,
  podTolerationRestrictionWith,
} from './plugins/pod-toleration-restriction.js';
export { podTopologyLabels } from './plugins/pod-topology-labels.js';
export { priority } from './plugins/priority.js';
export { runtimeClass } from './plugins/runtime-class.js';
export { serviceAccount } from './plugins/service-account.js';
export { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.js';
export { taintNodesByCondition } from './plugins/taint-nodes-by-condition.js';
export type { PodSecurityOptions } from './pod-security/options.js';
export { podSecurity, podSecurityWith } from './pod-security/pod-security.js';
export { validatingAdmissionPolicy } from './policy/validating-admission-policy.js';
export { resourceQuota } from './quota/resource-quota.js';
export type { AdmissionPlugin, AdmissionRequest, ClusterView, Operation, Rounds } from './types.js';
export { mutatingAdmissionWebhook, validatingAdmissionWebhook } from './webhook/index.js';
