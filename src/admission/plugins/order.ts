/**
 * The order in which the reference server asks its plugins, those that are off by default included.
 */
import type { AdmissionPlugin } from '../types.js';

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

/**
 * The same plugins, ours each in its place; those of users come last, in the order given.
 *
 * @example
 * createCluster({ admission: inReferenceOrder([...defaultAdmission, serviceAccount]) });
 */
export function inReferenceOrder(plugins: readonly AdmissionPlugin[]): readonly AdmissionPlugin[] {
  const placeOf = ({ name, isBuiltIn, mayWait }: AdmissionPlugin): number => {
    // A user's plugin may have the name of one of ours; ours say that they do not wait, or when.
    const place = isBuiltIn === true || mayWait !== undefined ? ORDER.indexOf(name) : -1;
    return place < 0 ? ORDER.length : place;
  };
  return Object.freeze([...plugins].sort((left, right) => placeOf(left) - placeOf(right)));
}
