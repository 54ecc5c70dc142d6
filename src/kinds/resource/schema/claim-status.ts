/**
 * What was found for a claim, who may use it, and how its devices are doing. The same in every version.
 */
import * as z from 'zod';
import {
  always,
  applyMapList,
  mapList,
  namedString,
  optional,
  pointer,
  rawExtension,
  enumString,
} from '../../../schema/hints.js';
import { nodeSelector } from '../../core/v1/scheduling-types.js';
import { condition } from '../../shared/types.js';
import { type Version, type VersionedInput, type VersionedOutput, type VersionedType, versioned } from '../versions.js';
import { deviceToleration, opaqueDeviceConfiguration } from './selection.js';

const deviceRequestAllocationResultShape = (version: Version) => ({
  request: z.string(),
  driver: z.string(),
  pool: z.string(),
  device: z.string(),
  adminAccess: always(z.boolean().nullable()),
  tolerations: optional(z.array(deviceToleration(version))),
});
export interface DeviceRequestAllocationResult extends VersionedOutput<typeof deviceRequestAllocationResultShape> {}
export interface DeviceRequestAllocationResultInput extends VersionedInput<typeof deviceRequestAllocationResultShape> {}
const deviceRequestAllocationResult: VersionedType<DeviceRequestAllocationResult, DeviceRequestAllocationResultInput> =
  versioned('DeviceRequestAllocationResult', deviceRequestAllocationResultShape);

const deviceAllocationConfigurationShape = (version: Version) => ({
  source: enumString<'FromClass' | 'FromClaim'>(`${version}.AllocationConfigSource`),
  requests: optional(z.array(z.string())),
  opaque: pointer(opaqueDeviceConfiguration(version)),
});
export interface DeviceAllocationConfiguration extends VersionedOutput<typeof deviceAllocationConfigurationShape> {}
export interface DeviceAllocationConfigurationInput extends VersionedInput<typeof deviceAllocationConfigurationShape> {}
const deviceAllocationConfiguration: VersionedType<DeviceAllocationConfiguration, DeviceAllocationConfigurationInput> =
  versioned('DeviceAllocationConfiguration', deviceAllocationConfigurationShape);

const deviceAllocationResultShape = (version: Version) => ({
  results: optional(z.array(deviceRequestAllocationResult(version))),
  config: optional(z.array(deviceAllocationConfiguration(version))),
});
export interface DeviceAllocationResult extends VersionedOutput<typeof deviceAllocationResultShape> {}
export interface DeviceAllocationResultInput extends VersionedInput<typeof deviceAllocationResultShape> {}
const deviceAllocationResult: VersionedType<DeviceAllocationResult, DeviceAllocationResultInput> = versioned(
  'DeviceAllocationResult',
  deviceAllocationResultShape,
);

const allocationResultShape = (version: Version) => ({
  devices: always(deviceAllocationResult(version)),
  nodeSelector: pointer(nodeSelector()),
});
export interface AllocationResult extends VersionedOutput<typeof allocationResultShape> {}
export interface AllocationResultInput extends VersionedInput<typeof allocationResultShape> {}
const allocationResult: VersionedType<AllocationResult, AllocationResultInput> = versioned(
  'AllocationResult',
  allocationResultShape,
);

const resourceClaimConsumerReferenceShape = () => ({
  apiGroup: optional(z.string()),
  resource: z.string(),
  name: z.string(),
  uid: namedString('types.UID'),
});
export interface ResourceClaimConsumerReference extends VersionedOutput<typeof resourceClaimConsumerReferenceShape> {}
export interface ResourceClaimConsumerReferenceInput
  extends VersionedInput<typeof resourceClaimConsumerReferenceShape> {}
const resourceClaimConsumerReference: VersionedType<
  ResourceClaimConsumerReference,
  ResourceClaimConsumerReferenceInput
> = versioned('ResourceClaimConsumerReference', resourceClaimConsumerReferenceShape);

const networkDeviceDataShape = () => ({
  interfaceName: optional(z.string()),
  ips: optional(z.array(z.string())),
  hardwareAddress: optional(z.string()),
});
export interface NetworkDeviceData extends VersionedOutput<typeof networkDeviceDataShape> {}
export interface NetworkDeviceDataInput extends VersionedInput<typeof networkDeviceDataShape> {}
const networkDeviceData: VersionedType<NetworkDeviceData, NetworkDeviceDataInput> = versioned(
  'NetworkDeviceData',
  networkDeviceDataShape,
);

const allocatedDeviceStatusShape = (version: Version) => ({
  driver: z.string(),
  pool: z.string(),
  device: z.string(),
  conditions: always(applyMapList(condition(), 'type').nullable()),
  data: pointer(rawExtension()),
  networkData: pointer(networkDeviceData(version)),
});
export interface AllocatedDeviceStatus extends VersionedOutput<typeof allocatedDeviceStatusShape> {}
export interface AllocatedDeviceStatusInput extends VersionedInput<typeof allocatedDeviceStatusShape> {}
const allocatedDeviceStatus: VersionedType<AllocatedDeviceStatus, AllocatedDeviceStatusInput> = versioned(
  'AllocatedDeviceStatus',
  allocatedDeviceStatusShape,
);

const resourceClaimStatusShape = (version: Version) => ({
  allocation: pointer(allocationResult(version)),
  reservedFor: optional(mapList(resourceClaimConsumerReference(version), 'uid')),
  devices: optional(applyMapList(allocatedDeviceStatus(version), ['driver', 'device', 'pool'])),
});
export interface ResourceClaimStatus extends VersionedOutput<typeof resourceClaimStatusShape> {}
export interface ResourceClaimStatusInput extends VersionedInput<typeof resourceClaimStatusShape> {}
export const resourceClaimStatus: VersionedType<ResourceClaimStatus, ResourceClaimStatusInput> = versioned(
  'ResourceClaimStatus',
  resourceClaimStatusShape,
);
