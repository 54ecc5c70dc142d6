/**
 * Schemas of containers.
 */
import * as z from 'zod';
import {
  always,
  applyMapList,
  defaulted,
  enumString,
  int32,
  mapList,
  namedString,
  optional,
  pointer,
  resourceList,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { envFromSource, envVar } from './env.js';
import { lifecycle, probe } from './handlers.js';
import { securityContext } from './security-context.js';

const containerPortShape = () => ({
  name: optional(z.string()),
  hostPort: optional(int32()),
  containerPort: int32(),
  protocol: defaulted(enumString<'TCP' | 'UDP' | 'SCTP'>('v1.Protocol'), 'TCP'),
  hostIP: optional(z.string()),
});
export interface ContainerPort extends Output<typeof containerPortShape> {}
export interface ContainerPortInput extends Input<typeof containerPortShape> {}
export const containerPort: Type<ContainerPort, ContainerPortInput> = type('ContainerPort', containerPortShape);

const containerClaimShape = () => ({
  name: z.string(),
  request: optional(z.string()),
});
export interface ContainerClaim extends Output<typeof containerClaimShape> {}
export interface ContainerClaimInput extends Input<typeof containerClaimShape> {}
export const containerClaim: Type<ContainerClaim, ContainerClaimInput> = type('ResourceClaim', containerClaimShape);

const resourceRequirementsShape = () => ({
  limits: optional(resourceList()),
  requests: optional(resourceList()),
  claims: optional(applyMapList(containerClaim(), 'name')),
});
export interface ResourceRequirements extends Output<typeof resourceRequirementsShape> {}
export interface ResourceRequirementsInput extends Input<typeof resourceRequirementsShape> {}
export const resourceRequirements: Type<ResourceRequirements, ResourceRequirementsInput> = type(
  'ResourceRequirements',
  resourceRequirementsShape,
);

const containerResizePolicyShape = () => ({
  resourceName: namedString('v1.ResourceName'),
  restartPolicy: enumString<'NotRequired' | 'RestartContainer'>('v1.ResourceResizeRestartPolicy'),
});
export interface ContainerResizePolicy extends Output<typeof containerResizePolicyShape> {}
export interface ContainerResizePolicyInput extends Input<typeof containerResizePolicyShape> {}
export const containerResizePolicy: Type<ContainerResizePolicy, ContainerResizePolicyInput> = type(
  'ContainerResizePolicy',
  containerResizePolicyShape,
);

const volumeMountShape = () => ({
  name: z.string(),
  readOnly: optional(z.boolean()),
  recursiveReadOnly: pointer(enumString<'Disabled' | 'IfPossible' | 'Enabled'>('v1.RecursiveReadOnlyMode')),
  mountPath: z.string(),
  subPath: optional(z.string()),
  mountPropagation: pointer(enumString<'None' | 'HostToContainer' | 'Bidirectional'>('v1.MountPropagationMode')),
  subPathExpr: optional(z.string()),
});
export interface VolumeMount extends Output<typeof volumeMountShape> {}
export interface VolumeMountInput extends Input<typeof volumeMountShape> {}
export const volumeMount: Type<VolumeMount, VolumeMountInput> = type('VolumeMount', volumeMountShape);

const volumeDeviceShape = () => ({
  name: z.string(),
  devicePath: z.string(),
});
export interface VolumeDevice extends Output<typeof volumeDeviceShape> {}
export interface VolumeDeviceInput extends Input<typeof volumeDeviceShape> {}
export const volumeDevice: Type<VolumeDevice, VolumeDeviceInput> = type('VolumeDevice', volumeDeviceShape);

const containerShape = () => ({
  name: z.string(),
  image: optional(z.string()),
  command: optional(z.array(z.string())),
  args: optional(z.array(z.string())),
  workingDir: optional(z.string()),
  ports: optional(mapList(containerPort(), ['containerPort', 'protocol'])),
  envFrom: optional(z.array(envFromSource())),
  env: optional(mapList(envVar(), 'name')),
  resources: always(resourceRequirements()),
  resizePolicy: optional(z.array(containerResizePolicy())),
  restartPolicy: pointer(enumString<'Always'>('v1.ContainerRestartPolicy')),
  volumeMounts: optional(mapList(volumeMount(), 'mountPath')),
  volumeDevices: optional(mapList(volumeDevice(), 'devicePath')),
  livenessProbe: pointer(probe()),
  readinessProbe: pointer(probe()),
  startupProbe: pointer(probe()),
  lifecycle: pointer(lifecycle()),
  terminationMessagePath: defaulted(z.string(), '/dev/termination-log'),
  terminationMessagePolicy: defaulted(
    enumString<'File' | 'FallbackToLogsOnError'>('v1.TerminationMessagePolicy'),
    'File',
  ),
  imagePullPolicy: optional(enumString<'Always' | 'Never' | 'IfNotPresent'>('v1.PullPolicy')),
  securityContext: pointer(securityContext()),
  stdin: optional(z.boolean()),
  stdinOnce: optional(z.boolean()),
  tty: optional(z.boolean()),
});
export interface Container extends Output<typeof containerShape> {}
export interface ContainerInput extends Input<typeof containerShape> {}
export const container: Type<Container, ContainerInput> = type('Container', containerShape);

const ephemeralContainerShape = () => ({ ...containerShape(), targetContainerName: optional(z.string()) });
export interface EphemeralContainer extends Output<typeof ephemeralContainerShape> {}
export interface EphemeralContainerInput extends Input<typeof ephemeralContainerShape> {}
export const ephemeralContainer: Type<EphemeralContainer, EphemeralContainerInput> = type(
  'EphemeralContainer',
  ephemeralContainerShape,
);
