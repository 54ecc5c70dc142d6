/**
 * Types that are registered in the reference server's scheme but not served: lists, options, and removed versions. A body
 * of such a type is recognized and rejected with a specific message.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import { API_SERVICE_SCHEME, COMMON_SCHEME, DEFINITION_SCHEME, type Dialect, serviceGroup } from '../meta/dialect.js';
import { apiVersionOf, type GroupVersionKind } from '../meta/gvk.js';
import type { Registry } from '../registry/registry.js';
import { getOrInsertComputed } from '../util/once.js';

export interface RegisteredType {
  /** `v1.ConfigMapList`. */
  readonly goType: string;
  /** The group and kind of its objects, if it is an object itself. */
  readonly groupKind?: ServedKind['groupKind'];
}

/**
 * The scheme that decodes objects of a group. CRDs and API services have separate servers in the reference server, whose
 * schemes contain only their own types and the common ones.
 */
export function schemeOf(group: string, dialect: Dialect): string {
  if (group === dialect.group(serviceGroup('apiextensions'))) return DEFINITION_SCHEME;
  return group === dialect.group(serviceGroup('apiregistration')) ? API_SERVICE_SCHEME : COMMON_SCHEME;
}

interface RequestReader {
  readonly registry: Registry;
  readonly served: ServedKind;
}

/** The registered type of a gvk; undefined if there is none. */
export function registeredType(gvk: GroupVersionKind, { registry, served }: RequestReader): RegisteredType | undefined {
  const { group, version, kind } = gvk;
  const { dialect } = served;
  if (!areInSameScheme(gvk, served)) return undefined;
  const goType = `${version}.${kind}`;
  const unserved = getOrInsertComputed(tables, dialect, unservedTypes).get(apiVersionOf(gvk));
  const at = unserved?.get(kind);
  if (at !== undefined) return { goType, groupKind: { group: at, kind } };
  if (registry.isDisabled(gvk)) return { goType, groupKind: { group, kind } };
  if (unserved === undefined && !hasRegisteredVersion(registry, gvk)) return undefined;
  if (IN_EVERY_VERSION.has(kind)) return { goType: `v1.${kind}` };
  if (group === '' && version === 'v1' && IN_CORE.has(kind)) return { goType };
  if (!kind.endsWith('List')) return undefined;
  const item = { ...gvk, kind: kind.slice(0, -'List'.length) };
  const isList = registry.byKind(item)?.verbs.includes('list') || unserved?.has(item.kind) || registry.isDisabled(item);
  return isList ? { goType } : undefined;
}

/** Whether one scheme contains both types. */
export function areInSameScheme({ group, version, kind }: GroupVersionKind, { gvk, dialect }: ServedKind): boolean {
  if (schemeOf(group, dialect) === schemeOf(gvk.group, dialect)) return true;
  return group === '' && version === 'v1' && (IN_EVERY_VERSION.has(kind) || UNVERSIONED.has(kind));
}

function hasRegisteredVersion(registry: Registry, { group, version }: GroupVersionKind): boolean {
  return registry.all().some(({ gvk, kind }) => {
    return kind.representation === 'struct' && gvk.group === group && gvk.version === version;
  });
}

const IN_EVERY_VERSION = new Set([
  'WatchEvent',
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
]);

const UNVERSIONED = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']);

const IN_CORE = new Set([
  ...UNVERSIONED,
  'List',
  'NodeProxyOptions',
  'PodAttachOptions',
  'PodExecOptions',
  'PodLogOptions',
  'PodPortForwardOptions',
  'PodProxyOptions',
  'PodStatusResult',
  'RangeAllocation',
  'SerializedReference',
  'ServiceProxyOptions',
]);

const APPS = ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'];
const RBAC = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];
const FLOWS = ['FlowSchema', 'PriorityLevelConfiguration'];
const HOOKS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const REVIEWS = [
  'LocalSubjectAccessReview',
  'SelfSubjectAccessReview',
  'SelfSubjectRulesReview',
  'SubjectAccessReview',
];
const STORAGE = ['CSIDriver', 'CSINode', 'CSIStorageCapacity', 'StorageClass', 'VolumeAttachment'];

/** By group and version: kinds that were served in earlier releases, or occur only as bodies of subresources or responses. */
const UNSERVED: readonly (readonly [group: string, version: string, kinds: readonly string[], groupNow?: string])[] = [
  [serviceGroup('admissionregistration'), 'v1beta1', HOOKS],
  [
    serviceGroup('admissionregistration'),
    'v1alpha1',
    ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  ],
  [serviceGroup('admission'), 'v1', ['AdmissionReview']],
  [serviceGroup('admission'), 'v1beta1', ['AdmissionReview']],
  [serviceGroup('apiextensions'), 'v1beta1', ['CustomResourceDefinition']],
  [serviceGroup('apiregistration'), 'v1beta1', ['APIService']],
  ['apps', 'v1beta1', ['ControllerRevision', 'Deployment', 'DeploymentRollback', 'StatefulSet']],
  ['apps', 'v1beta1', ['Scale'], 'autoscaling'],
  ['apps', 'v1beta2', APPS],
  ['apps', 'v1beta2', ['Scale'], 'autoscaling'],
  [serviceGroup('authentication'), 'v1', ['TokenRequest']],
  [serviceGroup('authentication'), 'v1alpha1', ['SelfSubjectReview']],
  [serviceGroup('authentication'), 'v1beta1', ['SelfSubjectReview', 'TokenReview']],
  [serviceGroup('authorization'), 'v1beta1', REVIEWS],
  ['autoscaling', 'v1', ['Scale']],
  ['autoscaling', 'v2beta1', ['HorizontalPodAutoscaler']],
  ['autoscaling', 'v2beta2', ['HorizontalPodAutoscaler']],
  ['batch', 'v1beta1', ['CronJob']],
  [serviceGroup('certificates'), 'v1beta1', ['CertificateSigningRequest']],
  [serviceGroup('coordination'), 'v1beta1', ['Lease']],
  [serviceGroup('discovery'), 'v1beta1', ['EndpointSlice']],
  [serviceGroup('events'), 'v1beta1', ['Event']],
  ['extensions', 'v1beta1', ['DaemonSet', 'Deployment', 'ReplicaSet'], 'apps'],
  ['extensions', 'v1beta1', ['DeploymentRollback']],
  ['extensions', 'v1beta1', ['Scale'], 'autoscaling'],
  ['extensions', 'v1beta1', ['Ingress', 'NetworkPolicy'], serviceGroup('networking')],
  [serviceGroup('flowcontrol.apiserver'), 'v1beta1', FLOWS],
  [serviceGroup('flowcontrol.apiserver'), 'v1beta2', FLOWS],
  [serviceGroup('flowcontrol.apiserver'), 'v1beta3', FLOWS],
  [serviceGroup('imagepolicy'), 'v1alpha1', ['ImageReview']],
  [serviceGroup('networking'), 'v1beta1', ['Ingress', 'IngressClass']],
  [serviceGroup('node'), 'v1alpha1', ['RuntimeClass']],
  [serviceGroup('node'), 'v1beta1', ['RuntimeClass']],
  ['policy', 'v1', ['Eviction']],
  ['policy', 'v1beta1', ['Eviction', 'PodDisruptionBudget']],
  [serviceGroup('rbac.authorization'), 'v1alpha1', RBAC],
  [serviceGroup('rbac.authorization'), 'v1beta1', RBAC],
  [serviceGroup('scheduling'), 'v1alpha1', ['PriorityClass']],
  [serviceGroup('scheduling'), 'v1beta1', ['PriorityClass']],
  [serviceGroup('storage'), 'v1alpha1', ['CSIStorageCapacity', 'VolumeAttachment']],
  [serviceGroup('storage'), 'v1beta1', STORAGE],
];

const tables = new WeakMap<Dialect, ReadonlyMap<string, ReadonlyMap<string, string>>>();

/** By version and kind: the current group of the kind. */
function unservedTypes(dialect: Dialect): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const table = new Map<string, Map<string, string>>();
  for (const [group, version, kinds, groupNow = group] of UNSERVED) {
    const apiVersion = apiVersionOf({ group: dialect.group(group), version });
    const inVersion = table.get(apiVersion) ?? new Map<string, string>();
    for (const kind of kinds) inVersion.set(kind, dialect.group(groupNow));
    table.set(apiVersion, inVersion);
  }
  return table;
}
