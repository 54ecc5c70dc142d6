/**
 * orchplane/admission: all built-in plugins by name, including those that are off by default, for clusters with their own
 * list: `createCluster({ admission: inReferenceOrder([...defaultAdmission, serviceAccount]) })`.
 */
export { mutatingAdmissionPolicy } from './mutating-policy/plugin.js';
export { alwaysAdmit, alwaysDeny } from './plugins/always.js';
export { alwaysPullImages } from './plugins/always-pull-images.js';
export {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.js';
export { defaultIngressClass, defaultStorageClass } from './plugins/default-class.js';
export { defaultAdmission, inReferenceOrder } from './plugins/default-plugins.js';
export { denyServiceExternalIPs } from './plugins/deny-service-external-ips.js';
export { type EventLimit, type EventRateLimitOptions, eventRateLimit } from './plugins/event-rate-limit.js';
export { limitRanger } from './plugins/limit-ranger.js';
export { type AdmissionPluginOptions, admissionPlugins } from './plugins/named-plugins.js';
export { namespaceAutoProvision, namespaceExists, namespaceLifecycle } from './plugins/namespaces.js';
export { nodeRestriction } from './plugins/node-restriction/node-restriction.js';
export { ownerReferencesPermissionEnforcement } from './plugins/owner-references.js';
export {
  limitPodHardAntiAffinityTopology,
  type PodNodeSelectorOptions,
  podNodeSelector,
  podNodeSelectorWith,
  podTopologyLabels,
} from './plugins/pod-placement.js';
export { priority } from './plugins/priority.js';
export { runtimeClass } from './plugins/runtime-class.js';
export { serviceAccount } from './plugins/service-account.js';
export {
  defaultTolerationSeconds,
  extendedResourceToleration,
  type PodTolerationRestrictionOptions,
  podTolerationRestriction,
  podTolerationRestrictionWith,
  taintNodesByCondition,
} from './plugins/tolerations.js';
export { persistentVolumeClaimResize, storageObjectInUseProtection } from './plugins/volume-claims.js';
export { podSecurity, podSecurityWith } from './pod-security/pod-security.js';
export type { PodSecurityOptions } from './pod-security/policy.js';
export { validatingAdmissionPolicy } from './policy/validating-admission-policy.js';
export { resourceQuota } from './quota/resource-quota.js';
export type { AdmissionPlugin, AdmissionRequest, ClusterView, Operation, Rounds } from './types.js';
export { mutatingAdmissionWebhook } from './webhook/mutating.js';
export { validatingAdmissionWebhook } from './webhook/validating.js';
