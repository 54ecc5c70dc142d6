/**
 * Schemas of the pod status: phase, conditions, addresses and container statuses.
 */
import * as z from 'zod';
import {
  always,
  applyMapList,
  enumString,
  hint,
  int32,
  int64,
  mapList,
  namedString,
  optional,
  pointer,
  resourceList,
  time,
  timeOrNull,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { resourceRequirements } from '../pod-spec/container.js';

const podConditionShape = () => ({
  type: namedString('v1.PodConditionType'),
  observedGeneration: optional(int64()),
  status: enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'),
  lastProbeTime: timeOrNull(),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});
export interface PodCondition extends Output<typeof podConditionShape> {}
export interface PodConditionInput extends Input<typeof podConditionShape> {}
export const podCondition: Type<PodCondition, PodConditionInput> = type('PodCondition', podConditionShape);

const hostIPShape = () => ({
  ip: z.string(),
});
export interface HostIP extends Output<typeof hostIPShape> {}
export interface HostIPInput extends Input<typeof hostIPShape> {}
export const hostIP: Type<HostIP, HostIPInput> = type('HostIP', hostIPShape);

const podIPShape = () => ({
  ip: z.string(),
});
export interface PodIP extends Output<typeof podIPShape> {}
export interface PodIPInput extends Input<typeof podIPShape> {}
export const podIP: Type<PodIP, PodIPInput> = type('PodIP', podIPShape);

const containerStateWaitingShape = () => ({
  reason: optional(z.string()),
  message: optional(z.string()),
});
export interface ContainerStateWaiting extends Output<typeof containerStateWaitingShape> {}
export interface ContainerStateWaitingInput extends Input<typeof containerStateWaitingShape> {}
export const containerStateWaiting: Type<ContainerStateWaiting, ContainerStateWaitingInput> = type(
  'ContainerStateWaiting',
  containerStateWaitingShape,
);

const containerStateRunningShape = () => ({
  startedAt: timeOrNull(),
});
export interface ContainerStateRunning extends Output<typeof containerStateRunningShape> {}
export interface ContainerStateRunningInput extends Input<typeof containerStateRunningShape> {}
export const containerStateRunning: Type<ContainerStateRunning, ContainerStateRunningInput> = type(
  'ContainerStateRunning',
  containerStateRunningShape,
);

const containerStateTerminatedShape = () => ({
  exitCode: int32(),
  signal: optional(int32()),
  reason: optional(z.string()),
  message: optional(z.string()),
  startedAt: timeOrNull(),
  finishedAt: timeOrNull(),
  containerID: optional(z.string()),
});
export interface ContainerStateTerminated extends Output<typeof containerStateTerminatedShape> {}
export interface ContainerStateTerminatedInput extends Input<typeof containerStateTerminatedShape> {}
export const containerStateTerminated: Type<ContainerStateTerminated, ContainerStateTerminatedInput> = type(
  'ContainerStateTerminated',
  containerStateTerminatedShape,
);

const containerStateShape = () => ({
  waiting: pointer(containerStateWaiting()),
  running: pointer(containerStateRunning()),
  terminated: pointer(containerStateTerminated()),
});
export interface ContainerState extends Output<typeof containerStateShape> {}
export interface ContainerStateInput extends Input<typeof containerStateShape> {}
export const containerState: Type<ContainerState, ContainerStateInput> = type('ContainerState', containerStateShape);

const volumeMountStatusShape = () => ({
  name: z.string(),
  mountPath: z.string(),
  readOnly: optional(z.boolean()),
  recursiveReadOnly: pointer(enumString<'Disabled' | 'IfPossible' | 'Enabled'>('v1.RecursiveReadOnlyMode')),
});
export interface VolumeMountStatus extends Output<typeof volumeMountStatusShape> {}
export interface VolumeMountStatusInput extends Input<typeof volumeMountStatusShape> {}
export const volumeMountStatus: Type<VolumeMountStatus, VolumeMountStatusInput> = type(
  'VolumeMountStatus',
  volumeMountStatusShape,
);

const linuxContainerUserShape = () => ({
  uid: int64(),
  gid: int64(),
  supplementalGroups: optional(z.array(int64())),
});
export interface LinuxContainerUser extends Output<typeof linuxContainerUserShape> {}
export interface LinuxContainerUserInput extends Input<typeof linuxContainerUserShape> {}
export const linuxContainerUser: Type<LinuxContainerUser, LinuxContainerUserInput> = type(
  'LinuxContainerUser',
  linuxContainerUserShape,
);

const containerUserShape = () => ({
  linux: pointer(linuxContainerUser()),
});
export interface ContainerUser extends Output<typeof containerUserShape> {}
export interface ContainerUserInput extends Input<typeof containerUserShape> {}
export const containerUser: Type<ContainerUser, ContainerUserInput> = type('ContainerUser', containerUserShape);

const resourceHealthShape = () => ({
  resourceID: z.string(),
  health: optional(enumString<'Healthy' | 'Unhealthy' | 'Unknown'>('v1.ResourceHealthStatus')),
});
export interface ResourceHealth extends Output<typeof resourceHealthShape> {}
export interface ResourceHealthInput extends Input<typeof resourceHealthShape> {}
export const resourceHealth: Type<ResourceHealth, ResourceHealthInput> = type('ResourceHealth', resourceHealthShape);

const resourceStatusShape = () => ({
  name: z.string(),
  resources: optional(applyMapList(resourceHealth(), 'resourceID')),
});
export interface ResourceStatus extends Output<typeof resourceStatusShape> {}
export interface ResourceStatusInput extends Input<typeof resourceStatusShape> {}
export const resourceStatus: Type<ResourceStatus, ResourceStatusInput> = type('ResourceStatus', resourceStatusShape);

const containerStatusShape = () => ({
  name: z.string(),
  state: always(containerState()),
  lastState: always(containerState()),
  ready: z.boolean(),
  restartCount: int32(),
  image: z.string(),
  imageID: z.string(),
  containerID: optional(z.string()),
  started: pointer(z.boolean()),
  allocatedResources: optional(resourceList()),
  resources: pointer(resourceRequirements()),
  volumeMounts: optional(mapList(volumeMountStatus(), 'mountPath')),
  user: pointer(containerUser()),
  allocatedResourcesStatus: optional(mapList(resourceStatus(), 'name')),
  stopSignal: pointer(namedString('v1.Signal')),
});
export interface ContainerStatus extends Output<typeof containerStatusShape> {}
export interface ContainerStatusInput extends Input<typeof containerStatusShape> {}
export const containerStatus: Type<ContainerStatus, ContainerStatusInput> = type(
  'ContainerStatus',
  containerStatusShape,
);

const podResourceClaimStatusShape = () => ({
  name: z.string(),
  resourceClaimName: pointer(z.string()),
});
export interface PodResourceClaimStatus extends Output<typeof podResourceClaimStatusShape> {}
export interface PodResourceClaimStatusInput extends Input<typeof podResourceClaimStatusShape> {}
export const podResourceClaimStatus: Type<PodResourceClaimStatus, PodResourceClaimStatusInput> = type(
  'PodResourceClaimStatus',
  podResourceClaimStatusShape,
);

const podStatusShape = () => ({
  observedGeneration: optional(int64()),
  phase: optional(enumString<'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'>('v1.PodPhase')),
  conditions: optional(mapList(podCondition(), 'type')),
  message: optional(z.string()),
  reason: optional(z.string()),
  nominatedNodeName: optional(z.string()),
  hostIP: optional(z.string()),
  hostIPs: optional(hint(z.array(hostIP()), { patchMergeKey: 'ip', patchStrategy: 'merge' })),
  podIP: optional(z.string()),
  podIPs: optional(mapList(podIP(), 'ip')),
  startTime: pointer(time()),
  initContainerStatuses: optional(z.array(containerStatus())),
  containerStatuses: optional(z.array(containerStatus())),
  qosClass: optional(enumString<'Guaranteed' | 'Burstable' | 'BestEffort'>('v1.PodQOSClass')),
  ephemeralContainerStatuses: optional(z.array(containerStatus())),
  resize: optional(enumString<'Proposed' | 'InProgress' | 'Deferred' | 'Infeasible'>('v1.PodResizeStatus')),
  resourceClaimStatuses: optional(
    hint(mapList(podResourceClaimStatus(), 'name'), { patchStrategy: 'merge,retainKeys' }),
  ),
});
export interface PodStatus extends Output<typeof podStatusShape> {}
export interface PodStatusInput extends Input<typeof podStatusShape> {}
export const podStatus: Type<PodStatus, PodStatusInput> = type('PodStatus', podStatusShape);
