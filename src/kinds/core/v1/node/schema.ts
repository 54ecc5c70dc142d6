/**
 * Schemas of the Node kind, with fields in wire order.
 */
import * as z from 'zod';
import {
  always,
  enumString,
  hint,
  int32,
  int64,
  mapList,
  namedString,
  optional,
  pointer,
  resourceList,
  setList,
  time,
  timeOrNull,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

const taintShape = () => ({
  key: z.string(),
  value: optional(z.string()),
  effect: enumString<'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'>('v1.TaintEffect'),
  timeAdded: pointer(time()),
});
export interface NodeTaint extends Output<typeof taintShape> {}
export interface NodeTaintInput extends Input<typeof taintShape> {}
const taint: Type<NodeTaint, NodeTaintInput> = type('Taint', taintShape);

const configMapNodeConfigSourceShape = () => ({
  namespace: z.string(),
  name: z.string(),
  uid: optional(namedString('types.UID')),
  resourceVersion: optional(z.string()),
  kubeletConfigKey: z.string(),
});
export interface ConfigMapNodeConfigSource extends Output<typeof configMapNodeConfigSourceShape> {}
export interface ConfigMapNodeConfigSourceInput extends Input<typeof configMapNodeConfigSourceShape> {}
const configMapNodeConfigSource: Type<ConfigMapNodeConfigSource, ConfigMapNodeConfigSourceInput> = type(
  'ConfigMapNodeConfigSource',
  configMapNodeConfigSourceShape,
);

const nodeConfigSourceShape = () => ({ configMap: pointer(configMapNodeConfigSource()) });
export interface NodeConfigSource extends Output<typeof nodeConfigSourceShape> {}
export interface NodeConfigSourceInput extends Input<typeof nodeConfigSourceShape> {}
const nodeConfigSource: Type<NodeConfigSource, NodeConfigSourceInput> = type('NodeConfigSource', nodeConfigSourceShape);

const nodeSpecShape = () => ({
  podCIDR: optional(z.string()),
  podCIDRs: optional(hint(setList(z.string()), { patchStrategy: 'merge' })),
  providerID: optional(z.string()),
  unschedulable: optional(z.boolean()),
  taints: optional(z.array(taint())),
  configSource: pointer(nodeConfigSource()),
  externalID: optional(z.string()),
});
export interface NodeSpec extends Output<typeof nodeSpecShape> {}
export interface NodeSpecInput extends Input<typeof nodeSpecShape> {}
const nodeSpec: Type<NodeSpec, NodeSpecInput> = type('NodeSpec', nodeSpecShape);

const nodeConditionShape = () => ({
  type: enumString<'Ready' | 'MemoryPressure' | 'DiskPressure' | 'PIDPressure' | 'NetworkUnavailable' | (string & {})>(
    'v1.NodeConditionType',
  ),
  status: enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'),
  lastHeartbeatTime: timeOrNull(),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});
export interface NodeCondition extends Output<typeof nodeConditionShape> {}
export interface NodeConditionInput extends Input<typeof nodeConditionShape> {}
const nodeCondition: Type<NodeCondition, NodeConditionInput> = type('NodeCondition', nodeConditionShape);

const nodeAddressShape = () => ({
  type: enumString<'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS' | (string & {})>(
    'v1.NodeAddressType',
  ),
  address: z.string(),
});
export interface NodeAddress extends Output<typeof nodeAddressShape> {}
export interface NodeAddressInput extends Input<typeof nodeAddressShape> {}
const nodeAddress: Type<NodeAddress, NodeAddressInput> = type('NodeAddress', nodeAddressShape);

const daemonEndpointShape = () => ({ Port: int32() });
export interface DaemonEndpoint extends Output<typeof daemonEndpointShape> {}
export interface DaemonEndpointInput extends Input<typeof daemonEndpointShape> {}
const daemonEndpoint: Type<DaemonEndpoint, DaemonEndpointInput> = type('DaemonEndpoint', daemonEndpointShape);

const nodeDaemonEndpointsShape = () => ({ kubeletEndpoint: always(daemonEndpoint()) });
export interface NodeDaemonEndpoints extends Output<typeof nodeDaemonEndpointsShape> {}
export interface NodeDaemonEndpointsInput extends Input<typeof nodeDaemonEndpointsShape> {}
const nodeDaemonEndpoints: Type<NodeDaemonEndpoints, NodeDaemonEndpointsInput> = type(
  'NodeDaemonEndpoints',
  nodeDaemonEndpointsShape,
);

const nodeSwapStatusShape = () => ({ capacity: pointer(int64()) });
export interface NodeSwapStatus extends Output<typeof nodeSwapStatusShape> {}
export interface NodeSwapStatusInput extends Input<typeof nodeSwapStatusShape> {}
const nodeSwapStatus: Type<NodeSwapStatus, NodeSwapStatusInput> = type('NodeSwapStatus', nodeSwapStatusShape);

const nodeSystemInfoShape = () => ({
  machineID: z.string(),
  systemUUID: z.string(),
  bootID: z.string(),
  kernelVersion: z.string(),
  osImage: z.string(),
  containerRuntimeVersion: z.string(),
  kubeletVersion: z.string(),
  kubeProxyVersion: z.string(),
  operatingSystem: z.string(),
  architecture: z.string(),
  swap: pointer(nodeSwapStatus()),
});
export interface NodeSystemInfo extends Output<typeof nodeSystemInfoShape> {}
export interface NodeSystemInfoInput extends Input<typeof nodeSystemInfoShape> {}
const nodeSystemInfo: Type<NodeSystemInfo, NodeSystemInfoInput> = type('NodeSystemInfo', nodeSystemInfoShape);

const containerImageShape = () => ({
  names: optional(z.array(z.string())),
  sizeBytes: optional(int64()),
});
export interface ContainerImage extends Output<typeof containerImageShape> {}
export interface ContainerImageInput extends Input<typeof containerImageShape> {}
const containerImage: Type<ContainerImage, ContainerImageInput> = type('ContainerImage', containerImageShape);

const attachedVolumeShape = () => ({
  name: namedString('v1.UniqueVolumeName'),
  devicePath: z.string(),
});
export interface AttachedVolume extends Output<typeof attachedVolumeShape> {}
export interface AttachedVolumeInput extends Input<typeof attachedVolumeShape> {}
const attachedVolume: Type<AttachedVolume, AttachedVolumeInput> = type('AttachedVolume', attachedVolumeShape);

const nodeConfigStatusShape = () => ({
  assigned: pointer(nodeConfigSource()),
  active: pointer(nodeConfigSource()),
  lastKnownGood: pointer(nodeConfigSource()),
  error: optional(z.string()),
});
export interface NodeConfigStatus extends Output<typeof nodeConfigStatusShape> {}
export interface NodeConfigStatusInput extends Input<typeof nodeConfigStatusShape> {}
const nodeConfigStatus: Type<NodeConfigStatus, NodeConfigStatusInput> = type('NodeConfigStatus', nodeConfigStatusShape);

const nodeRuntimeHandlerFeaturesShape = () => ({
  recursiveReadOnlyMounts: pointer(z.boolean()),
  userNamespaces: pointer(z.boolean()),
});
export interface NodeRuntimeHandlerFeatures extends Output<typeof nodeRuntimeHandlerFeaturesShape> {}
export interface NodeRuntimeHandlerFeaturesInput extends Input<typeof nodeRuntimeHandlerFeaturesShape> {}
const nodeRuntimeHandlerFeatures: Type<NodeRuntimeHandlerFeatures, NodeRuntimeHandlerFeaturesInput> = type(
  'NodeRuntimeHandlerFeatures',
  nodeRuntimeHandlerFeaturesShape,
);

const nodeRuntimeHandlerShape = () => ({
  name: always(z.string()),
  features: pointer(nodeRuntimeHandlerFeatures()),
});
export interface NodeRuntimeHandler extends Output<typeof nodeRuntimeHandlerShape> {}
export interface NodeRuntimeHandlerInput extends Input<typeof nodeRuntimeHandlerShape> {}
const nodeRuntimeHandler: Type<NodeRuntimeHandler, NodeRuntimeHandlerInput> = type(
  'NodeRuntimeHandler',
  nodeRuntimeHandlerShape,
);

const nodeFeaturesShape = () => ({ supplementalGroupsPolicy: pointer(z.boolean()) });
export interface NodeFeatures extends Output<typeof nodeFeaturesShape> {}
export interface NodeFeaturesInput extends Input<typeof nodeFeaturesShape> {}
const nodeFeatures: Type<NodeFeatures, NodeFeaturesInput> = type('NodeFeatures', nodeFeaturesShape);

const nodeStatusShape = () => ({
  capacity: optional(resourceList()),
  allocatable: optional(resourceList()),
  phase: optional(enumString<'Pending' | 'Running' | 'Terminated'>('v1.NodePhase')),
  conditions: optional(mapList(nodeCondition(), 'type')),
  addresses: optional(mapList(nodeAddress(), 'type')),
  daemonEndpoints: always(nodeDaemonEndpoints()),
  nodeInfo: always(nodeSystemInfo()),
  images: optional(z.array(containerImage())),
  volumesInUse: optional(z.array(namedString('v1.UniqueVolumeName'))),
  volumesAttached: optional(z.array(attachedVolume())),
  config: pointer(nodeConfigStatus()),
  runtimeHandlers: optional(z.array(nodeRuntimeHandler())),
  features: pointer(nodeFeatures()),
});
export interface NodeStatus extends Output<typeof nodeStatusShape> {}
export interface NodeStatusInput extends Input<typeof nodeStatusShape> {}
const nodeStatus: Type<NodeStatus, NodeStatusInput> = type('NodeStatus', nodeStatusShape);

export const nodeShape = () => ({ spec: always(nodeSpec()), status: always(nodeStatus()) });
