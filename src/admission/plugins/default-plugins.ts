/**
 * The plugins that are on by default, and the reference server's order of all plugins.
 */
import { mutatingAdmissionPolicy } from '../mutating-policy/plugin.js';
import { podSecurity } from '../pod-security/pod-security.js';
import { validatingAdmissionPolicy } from '../policy/validating-admission-policy.js';
import { resourceQuota } from '../quota/resource-quota.js';
import type { AdmissionPlugin } from '../types.js';
import { mutatingAdmissionWebhook } from '../webhook/mutating.js';
import { validatingAdmissionWebhook } from '../webhook/validating.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.js';
import { defaultIngressClass, defaultStorageClass } from './default-class.js';
import { limitRanger } from './limit-ranger.js';
import { namespaceLifecycle } from './namespaces.js';
import { podTopologyLabels } from './pod-placement.js';
import { priority } from './priority.js';
import { runtimeClass } from './runtime-class.js';
import { defaultTolerationSeconds, taintNodesByCondition } from './tolerations.js';
import { persistentVolumeClaimResize, storageObjectInUseProtection } from './volume-claims.js';

/** In the order in which they run. */
export const defaultAdmission: readonly AdmissionPlugin[] = Object.freeze([
  namespaceLifecycle,
  limitRanger,
  taintNodesByCondition,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  clusterTrustBundleAttest,
  certificateSubjectRestriction,
  defaultIngressClass,
  podTopologyLabels,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
  resourceQuota,
]);

/**
 * Sorts built-in plugins into the reference server's order; user-defined plugins follow in the given order.
 *
 * @example
 * createCluster({ admission: inReferenceOrder([...defaultAdmission, serviceAccount]) });
 */
export function inReferenceOrder(plugins: readonly AdmissionPlugin[]): readonly AdmissionPlugin[] {
  const positionOf = ({ name, isBuiltIn, mayBeAsynchronous }: AdmissionPlugin): number => {
    // A user-defined plugin may share a name; only built-in plugins set one of these members.
    const position = isBuiltIn === true || mayBeAsynchronous !== undefined ? ORDER.indexOf(name) : -1;
    return position < 0 ? ORDER.length : position;
  };
  return Object.freeze([...plugins].sort((left, right) => positionOf(left) - positionOf(right)));
}

/** upstream: pkg/kubeapiserver/options/plugins.go AllOrderedPlugins */
const ORDER: readonly string[] = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
];
