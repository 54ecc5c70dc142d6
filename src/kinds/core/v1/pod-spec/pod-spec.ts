/**
 * Schemas of the pod spec and the pod template.
 */
import * as z from 'zod';
import {
  always,
  atomic,
  defaulted,
  defaultedPointer,
  enumString,
  hint,
  int32,
  int64,
  mapList,
  namedString,
  optional,
  pointer,
  resourceList,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { templateMeta } from '../../../shared/object-meta.js';
import { localObjectReference } from '../../../shared/types.js';
import { toleration } from '../scheduling-types.js';
import { affinity, topologySpreadConstraint } from './affinity.js';
import { container, ephemeralContainer, resourceRequirements } from './container.js';
import { podSecurityContext } from './security-context.js';
import { volume } from './volume.js';

const hostAliasShape = () => ({
  ip: z.string(),
  hostnames: optional(z.array(z.string())),
});
export interface HostAlias extends Output<typeof hostAliasShape> {}
export interface HostAliasInput extends Input<typeof hostAliasShape> {}
export const hostAlias: Type<HostAlias, HostAliasInput> = type('HostAlias', hostAliasShape);

const podDNSConfigOptionShape = () => ({
  name: optional(z.string()),
  value: pointer(z.string()),
});
export interface PodDNSConfigOption extends Output<typeof podDNSConfigOptionShape> {}
export interface PodDNSConfigOptionInput extends Input<typeof podDNSConfigOptionShape> {}
export const podDNSConfigOption: Type<PodDNSConfigOption, PodDNSConfigOptionInput> = type(
  'PodDNSConfigOption',
  podDNSConfigOptionShape,
);

const podDNSConfigShape = () => ({
  nameservers: optional(z.array(z.string())),
  searches: optional(z.array(z.string())),
  options: optional(z.array(podDNSConfigOption())),
});
export interface PodDNSConfig extends Output<typeof podDNSConfigShape> {}
export interface PodDNSConfigInput extends Input<typeof podDNSConfigShape> {}
export const podDNSConfig: Type<PodDNSConfig, PodDNSConfigInput> = type('PodDNSConfig', podDNSConfigShape);

const podReadinessGateShape = () => ({
  conditionType: namedString('v1.PodConditionType'),
});
export interface PodReadinessGate extends Output<typeof podReadinessGateShape> {}
export interface PodReadinessGateInput extends Input<typeof podReadinessGateShape> {}
export const podReadinessGate: Type<PodReadinessGate, PodReadinessGateInput> = type(
  'PodReadinessGate',
  podReadinessGateShape,
);

const podOSShape = () => ({
  name: enumString<'linux' | 'windows'>('v1.OSName'),
});
export interface PodOS extends Output<typeof podOSShape> {}
export interface PodOSInput extends Input<typeof podOSShape> {}
export const podOS: Type<PodOS, PodOSInput> = type('PodOS', podOSShape);

const podSchedulingGateShape = () => ({
  name: z.string(),
});
export interface PodSchedulingGate extends Output<typeof podSchedulingGateShape> {}
export interface PodSchedulingGateInput extends Input<typeof podSchedulingGateShape> {}
export const podSchedulingGate: Type<PodSchedulingGate, PodSchedulingGateInput> = type(
  'PodSchedulingGate',
  podSchedulingGateShape,
);

const podResourceClaimShape = () => ({
  name: z.string(),
  resourceClaimName: pointer(z.string()),
  resourceClaimTemplateName: pointer(z.string()),
});
export interface PodResourceClaim extends Output<typeof podResourceClaimShape> {}
export interface PodResourceClaimInput extends Input<typeof podResourceClaimShape> {}
export const podResourceClaim: Type<PodResourceClaim, PodResourceClaimInput> = type(
  'PodResourceClaim',
  podResourceClaimShape,
);

const podSpecShape = () => ({
  volumes: optional(hint(mapList(volume(), 'name'), { patchStrategy: 'merge,retainKeys' })),
  initContainers: optional(mapList(container(), 'name')),
  containers: mapList(container(), 'name'),
  ephemeralContainers: optional(mapList(ephemeralContainer(), 'name')),
  restartPolicy: defaulted(enumString<'Always' | 'OnFailure' | 'Never'>('v1.RestartPolicy'), 'Always'),
  terminationGracePeriodSeconds: defaultedPointer(int64(), 30),
  activeDeadlineSeconds: pointer(int64()),
  dnsPolicy: defaulted(
    enumString<'ClusterFirstWithHostNet' | 'ClusterFirst' | 'Default' | 'None'>('v1.DNSPolicy'),
    'ClusterFirst',
  ),
  nodeSelector: optional(atomic(z.record(z.string(), z.string()))),
  serviceAccountName: optional(z.string()),
  serviceAccount: optional(z.string()),
  automountServiceAccountToken: pointer(z.boolean()),
  nodeName: optional(z.string()),
  hostNetwork: optional(z.boolean()),
  hostPID: optional(z.boolean()),
  hostIPC: optional(z.boolean()),
  shareProcessNamespace: pointer(z.boolean()),
  securityContext: defaultedPointer(podSecurityContext(), {}),
  imagePullSecrets: optional(hint(mapList(localObjectReference(), 'name'), { keyFallbacks: { name: '' } })),
  hostname: optional(z.string()),
  subdomain: optional(z.string()),
  affinity: pointer(affinity()),
  schedulerName: defaulted(z.string(), 'default-scheduler'),
  tolerations: optional(z.array(toleration())),
  hostAliases: optional(mapList(hostAlias(), 'ip')),
  priorityClassName: optional(z.string()),
  priority: pointer(int32()),
  dnsConfig: pointer(podDNSConfig()),
  readinessGates: optional(z.array(podReadinessGate())),
  runtimeClassName: pointer(z.string()),
  enableServiceLinks: pointer(z.boolean()),
  preemptionPolicy: pointer(enumString<'PreemptLowerPriority' | 'Never'>('v1.PreemptionPolicy')),
  overhead: optional(resourceList()),
  topologySpreadConstraints: optional(mapList(topologySpreadConstraint(), ['topologyKey', 'whenUnsatisfiable'])),
  setHostnameAsFQDN: pointer(z.boolean()),
  os: pointer(podOS()),
  hostUsers: pointer(z.boolean()),
  schedulingGates: optional(mapList(podSchedulingGate(), 'name')),
  resourceClaims: optional(hint(mapList(podResourceClaim(), 'name'), { patchStrategy: 'merge,retainKeys' })),
  resources: pointer(resourceRequirements()),
});
export interface PodSpec extends Output<typeof podSpecShape> {}
export interface PodSpecInput extends Input<typeof podSpecShape> {}
export const podSpec: Type<PodSpec, PodSpecInput> = type('PodSpec', podSpecShape, { reusable: true });

const podTemplateSpecShape = () => ({
  metadata: always(templateMeta()),
  spec: always(podSpec()),
});
export interface PodTemplateSpec extends Output<typeof podTemplateSpecShape> {}
export interface PodTemplateSpecInput extends Input<typeof podTemplateSpecShape> {}
export const podTemplateSpec: Type<PodTemplateSpec, PodTemplateSpecInput> = type(
  'PodTemplateSpec',
  podTemplateSpecShape,
);
