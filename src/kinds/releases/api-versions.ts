/**
 * The versions of the built-in kinds of releases 1.16 to 1.33, with the releases that introduce, deprecate and remove
 * them: also of versions that this library does not serve. Facts:
 * upstream: api/apps/v1beta1/zz_generated.prerelease-lifecycle.go (one for each version), and the release notes for what its sources no longer contain.
 */

import { dialects, serviceGroup } from '../../meta/dialect.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { once } from '../../util/once.js';
import { compareReleases, type Lifecycle, parseRelease, REFERENCE_RELEASE, type Release } from '../lifecycle.js';

/** The oldest release that the table covers: older versions of kinds that it removed are included. */
export const OLDEST_KNOWN_RELEASE: Release = '1.16';

/**
 * apiVersion, introduced, deprecated, removed, replacement, kinds. `~` ends the name of a group of the service. The
 * replacement has the same kind unless it names another one.
 */
const TABLE = `
admissionregistration~/v1 1.16 - - - MutatingWebhookConfiguration,ValidatingWebhookConfiguration
admissionregistration~/v1 1.30 - - - ValidatingAdmissionPolicy,ValidatingAdmissionPolicyBinding
admissionregistration~/v1alpha1 1.26 1.29 1.32 admissionregistration~/v1 ValidatingAdmissionPolicy,ValidatingAdmissionPolicyBinding
admissionregistration~/v1alpha1 1.32 1.35 1.38 - MutatingAdmissionPolicy,MutatingAdmissionPolicyBinding
admissionregistration~/v1beta1 1.28 1.31 1.34 admissionregistration~/v1 ValidatingAdmissionPolicy,ValidatingAdmissionPolicyBinding
admissionregistration~/v1beta1 1.9 1.16 1.22 admissionregistration~/v1 MutatingWebhookConfiguration,ValidatingWebhookConfiguration
apiextensions~/v1 1.16 - - - CustomResourceDefinition
apiextensions~/v1beta1 1.7 1.16 1.22 apiextensions~/v1 CustomResourceDefinition
apiregistration~/v1 1.10 - - - APIService
apiregistration~/v1beta1 1.7 1.19 1.22 apiregistration~/v1 APIService
apps/v1 1.9 - - - ControllerRevision,DaemonSet,Deployment,ReplicaSet,StatefulSet
apps/v1beta1 1.5 1.8 1.16 apps/v1 StatefulSet
apps/v1beta1 1.6 1.8 1.16 apps/v1 Deployment
apps/v1beta1 1.7 1.8 1.16 apps/v1 ControllerRevision
apps/v1beta2 1.8 1.9 1.16 apps/v1 ControllerRevision,DaemonSet,Deployment,ReplicaSet,StatefulSet
authentication~/v1 1.10 - - - TokenRequest
authentication~/v1 1.28 - - - SelfSubjectReview
authentication~/v1 1.6 - - - TokenReview
authentication~/v1alpha1 1.26 1.29 1.32 authentication~/v1 SelfSubjectReview
authentication~/v1beta1 1.27 1.30 1.33 authentication~/v1 SelfSubjectReview
authentication~/v1beta1 1.4 1.19 1.22 authentication~/v1 TokenReview
authorization~/v1 1.19 - - - LocalSubjectAccessReview,SelfSubjectAccessReview,SelfSubjectRulesReview
authorization~/v1 1.6 - - - SubjectAccessReview
authorization~/v1beta1 1.2 1.19 1.22 authorization~/v1 LocalSubjectAccessReview,SelfSubjectAccessReview,SubjectAccessReview
authorization~/v1beta1 1.8 1.19 1.22 authorization~/v1 SelfSubjectRulesReview
autoscaling/v1 1.2 - - - HorizontalPodAutoscaler
autoscaling/v2 1.23 - - - HorizontalPodAutoscaler
autoscaling/v2beta1 1.8 1.22 1.25 autoscaling/v2 HorizontalPodAutoscaler
autoscaling/v2beta2 1.12 1.23 1.26 autoscaling/v2 HorizontalPodAutoscaler
batch/v1 1.2 - - - Job
batch/v1 1.21 - - - CronJob
batch/v1beta1 1.8 1.21 1.25 batch/v1 CronJob
batch/v2alpha1 1.5 - 1.21 batch/v1 CronJob
certificates~/v1 1.19 - - - CertificateSigningRequest
certificates~/v1alpha1 1.27 1.34 1.37 - ClusterTrustBundle
certificates~/v1beta1 1.12 1.19 1.22 certificates~/v1 CertificateSigningRequest
certificates~/v1beta1 1.33 1.36 1.39 - ClusterTrustBundle
coordination~/v1 1.14 - - - Lease
coordination~/v1alpha1 1.31 - 1.32 coordination~/v1beta1 LeaseCandidate
coordination~/v1alpha2 1.32 1.35 1.38 - LeaseCandidate
coordination~/v1beta1 1.12 1.19 1.22 coordination~/v1 Lease
coordination~/v1beta1 1.33 1.36 1.39 - LeaseCandidate
discovery~/v1 1.21 - - - EndpointSlice
discovery~/v1beta1 1.16 1.21 1.25 discovery~/v1 EndpointSlice
events~/v1 1.19 - - - Event
events~/v1beta1 1.8 1.22 1.25 events~/v1 Event
extensions/v1beta1 1.1 1.14 1.22 networking~/v1 Ingress
extensions/v1beta1 1.1 1.8 1.16 apps/v1 DaemonSet,Deployment
extensions/v1beta1 1.2 - 1.16 - PodSecurityPolicy
extensions/v1beta1 1.2 1.8 1.16 apps/v1 ReplicaSet
extensions/v1beta1 1.3 1.9 1.16 networking~/v1 NetworkPolicy
flowcontrol.apiserver~/v1 1.29 - - - FlowSchema,PriorityLevelConfiguration
flowcontrol.apiserver~/v1alpha1 1.18 1.20 1.21 flowcontrol.apiserver~/v1 FlowSchema,PriorityLevelConfiguration
flowcontrol.apiserver~/v1beta1 1.20 1.23 1.26 flowcontrol.apiserver~/v1 FlowSchema,PriorityLevelConfiguration
flowcontrol.apiserver~/v1beta2 1.23 1.26 1.29 flowcontrol.apiserver~/v1 FlowSchema,PriorityLevelConfiguration
flowcontrol.apiserver~/v1beta3 1.26 1.29 1.32 flowcontrol.apiserver~/v1 FlowSchema,PriorityLevelConfiguration
internal.apiserver~/v1alpha1 1.20 - - - StorageVersion
networking~/v1 1.19 - - - Ingress,IngressClass
networking~/v1 1.33 - - - IPAddress,ServiceCIDR
networking~/v1 1.7 - - - NetworkPolicy
networking~/v1alpha1 1.25 1.28 1.29 - ClusterCIDR
networking~/v1alpha1 1.27 1.30 1.33 networking~/v1 IPAddress,ServiceCIDR
networking~/v1beta1 1.14 1.19 1.22 networking~/v1 Ingress
networking~/v1beta1 1.18 1.19 1.22 networking~/v1 IngressClass
networking~/v1beta1 1.31 1.34 1.37 networking~/v1 IPAddress,ServiceCIDR
node~/v1 1.20 - - - RuntimeClass
node~/v1alpha1 1.14 - 1.24 node~/v1 RuntimeClass
node~/v1beta1 1.13 1.22 1.25 node~/v1 RuntimeClass
policy/v1 1.21 - - - PodDisruptionBudget
policy/v1 1.22 - - - Eviction
policy/v1beta1 1.10 1.21 1.25 - PodSecurityPolicy
policy/v1beta1 1.5 1.21 1.25 policy/v1 PodDisruptionBudget
policy/v1beta1 1.5 1.22 1.25 policy/v1 Eviction
rbac.authorization~/v1 1.8 - - - ClusterRole,ClusterRoleBinding,Role,RoleBinding
rbac.authorization~/v1alpha1 1.5 - 1.23 rbac.authorization~/v1 ClusterRole,ClusterRoleBinding,Role,RoleBinding
rbac.authorization~/v1beta1 1.6 1.17 1.22 rbac.authorization~/v1 ClusterRole,ClusterRoleBinding,Role,RoleBinding
resource~/v1alpha1 1.26 - 1.27 - PodScheduling,ResourceClass
resource~/v1alpha1 1.26 - 1.27 resource~/v1beta1 ResourceClaim,ResourceClaimTemplate
resource~/v1alpha2 1.27 - 1.31 - PodSchedulingContext,ResourceClass
resource~/v1alpha2 1.27 - 1.31 resource~/v1beta1 ResourceClaim,ResourceClaimTemplate
resource~/v1alpha2 1.30 - 1.31 - ResourceClaimParameters,ResourceClassParameters
resource~/v1alpha2 1.30 - 1.31 resource~/v1beta1 ResourceSlice
resource~/v1alpha3 1.31 - 1.32 - PodSchedulingContext
resource~/v1alpha3 1.31 1.34 1.37 resource~/v1beta1 DeviceClass,ResourceClaim,ResourceClaimTemplate,ResourceSlice
resource~/v1alpha3 1.33 1.36 1.39 - DeviceTaintRule
resource~/v1beta1 1.32 1.35 1.38 - DeviceClass,ResourceClaim,ResourceClaimTemplate,ResourceSlice
resource~/v1beta2 1.33 1.36 1.39 - DeviceClass,ResourceClaim,ResourceClaimTemplate,ResourceSlice
scheduling~/v1 1.14 - - - PriorityClass
scheduling~/v1alpha1 1.8 - 1.23 scheduling~/v1 PriorityClass
scheduling~/v1beta1 1.11 1.14 1.22 scheduling~/v1 PriorityClass
settings~/v1alpha1 1.6 - 1.20 - PodPreset
storagemigration~/v1alpha1 1.30 1.33 1.36 - StorageVersionMigration
storage~/v1 1.13 - - - VolumeAttachment
storage~/v1 1.17 - - - CSINode
storage~/v1 1.18 - - - CSIDriver
storage~/v1 1.24 - - - CSIStorageCapacity
storage~/v1 1.6 - - - StorageClass
storage~/v1alpha1 1.19 1.21 1.24 storage~/v1beta1 CSIStorageCapacity
storage~/v1alpha1 1.29 1.32 1.35 - VolumeAttributesClass
storage~/v1alpha1 1.9 1.21 1.24 storage~/v1 VolumeAttachment
storage~/v1beta1 1.10 1.19 1.22 storage~/v1 VolumeAttachment
storage~/v1beta1 1.14 1.17 1.22 storage~/v1 CSINode
storage~/v1beta1 1.14 1.19 1.22 storage~/v1 CSIDriver
storage~/v1beta1 1.21 1.24 1.27 storage~/v1 CSIStorageCapacity
storage~/v1beta1 1.31 1.34 1.37 - VolumeAttributesClass
storage~/v1beta1 1.4 1.19 1.22 storage~/v1 StorageClass
v1 1.0 - - - Binding,Event,LimitRange,Namespace,Node,PersistentVolume,PersistentVolumeClaim,Pod,PodTemplate,ReplicationController,ResourceQuota,Secret,Service,ServiceAccount
v1 1.0 1.19 - - ComponentStatus
v1 1.0 1.33 - discovery~/v1:EndpointSlice Endpoints
v1 1.2 - - - ConfigMap
`;

/** The lifecycle of a version of a kind in one dialect. */
export interface VersionFacts {
  readonly apiVersion: string;
  readonly kind: string;
  readonly introducedIn: Release;
  readonly deprecatedIn?: Release;
  readonly removedIn?: Release;
  /** `apps/v1 Deployment`. */
  readonly replacement?: string;
}

/** What the table says about a version of a kind. `unknown version`: of a built-in group, but not in the table. */
export function versionFacts(apiVersion: string, kind: string): VersionFacts | 'unknown version' | undefined {
  const { facts, groups } = known();
  const found = facts.get(`${apiVersion} ${kind}`);
  if (found !== undefined) return found;
  return groups.has(groupOf(apiVersion)) && !NOT_STORED.test(kind) ? 'unknown version' : undefined;
}

/** Kinds of requests and responses; they are not in the table. */
const NOT_STORED = /(List|Options|Review|Status|Scale|Rollback)$/;

/** The state of a version in a release. */
export type VersionState = 'served' | 'deprecated' | 'removed' | 'not introduced';

export function stateIn(release: Release, { introducedIn, deprecatedIn, removedIn }: VersionFacts): VersionState {
  if (removedIn !== undefined && compareReleases(release, removedIn) >= 0) return 'removed';
  if (compareReleases(release, introducedIn) < 0) return 'not introduced';
  return deprecatedIn !== undefined && compareReleases(release, deprecatedIn) >= 0 ? 'deprecated' : 'served';
}

/** The replacement if the release serves it, otherwise the newest later version that it serves; undefined if none. */
export function replacementIn(release: Release, { introducedIn, replacement }: VersionFacts): string | undefined {
  const { facts } = known();
  const given = facts.get(replacement ?? '');
  if (given === undefined) return replacement;
  const isServed = (each: VersionFacts) => ['served', 'deprecated'].includes(stateIn(release, each));
  if (isServed(given)) return replacement;
  const [newest] = [...facts]
    .filter(([, each]) => each.kind === given.kind && groupOf(each.apiVersion) === groupOf(given.apiVersion))
    .filter(([, each]) => isServed(each) && compareReleases(each.introducedIn, introducedIn) > 0)
    .sort(([, a], [, b]) => compareReleases(b.introducedIn, a.introducedIn));
  return newest?.[0];
}

/** Returns a release that the table covers. Throws TypeError for any other text. */
export function checkKnownRelease(text: string): Release {
  const release = text.replace(/^v(?=\d)/, '').replace(/^(\d+\.\d+)\.\d+$/, '$1');
  if (parseRelease(release) === undefined) throw new TypeError(`"${text}" is no release; one looks like 1.33`);
  if (compareReleases(release, OLDEST_KNOWN_RELEASE) < 0 || compareReleases(release, REFERENCE_RELEASE) > 0) {
    throw new TypeError(
      `the API versions of release ${release} are not known; known are ${OLDEST_KNOWN_RELEASE} to ${REFERENCE_RELEASE}`,
    );
  }
  return release as Release;
}

interface KnownVersions {
  readonly facts: ReadonlyMap<string, VersionFacts>;
  readonly groups: ReadonlySet<string>;
}

const known = once((): KnownVersions => {
  const facts = new Map<string, VersionFacts>();
  const groups = new Set<string>();
  for (const line of TABLE.trim().split('\n')) {
    const [apiVersion = '', introduced, deprecated, removed, replacement = '', kinds = ''] = line.split(' ');
    const lifecycle = {
      ...at('introducedIn', introduced),
      ...at('deprecatedIn', deprecated),
      ...at('removedIn', removed),
    };
    for (const kind of kinds.split(',')) {
      for (const name of inEachDialect(apiVersion)) {
        const [instead = '', otherKind = kind] = replacement.split(':');
        const [use] = instead === '-' ? [] : inEachDialect(instead).slice(name.dialect, name.dialect + 1);
        facts.set(`${name.text} ${kind}`, {
          apiVersion: name.text,
          kind,
          ...(lifecycle as Pick<VersionFacts, 'introducedIn'>),
          ...(use === undefined ? {} : { replacement: `${use.text} ${otherKind}` }),
        });
        groups.add(groupOf(name.text));
      }
    }
  }
  return { facts, groups };
});

function at(member: keyof Lifecycle, release: string | undefined): Partial<Record<keyof Lifecycle, string>> {
  return release === undefined || release === '-' ? {} : { [member]: release };
}

/** The apiVersion in each dialect, with the index of the dialect. */
function inEachDialect(apiVersion: string): { readonly text: string; readonly dialect: number }[] {
  const [group = '', version] = apiVersion.split('/');
  return dialects.map((dialect, index) => {
    if (version === undefined) return { text: group, dialect: index };
    const canonical = group.endsWith('~') ? serviceGroup(group.slice(0, -1)) : group;
    return { text: apiVersionOf({ group: dialect.group(canonical), version }), dialect: index };
  });
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}
