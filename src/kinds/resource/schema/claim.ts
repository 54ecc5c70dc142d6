/**
 * What a claim asks for. The older versions put the fields of an exact request into the request itself.
 */
import * as z from 'zod';
import { always, int64, namedString, optional, pointer, enumString } from '../../../schema/hints.js';
import { type Type, type } from '../../../schema/type.js';
import { templateMeta } from '../../shared/object-meta.js';
import { type Version, type VersionedInput, type VersionedOutput, type VersionedType, versioned } from '../versions.js';
import { deviceSelector, deviceToleration, opaqueDeviceConfiguration } from './selection.js';

export type DeviceAllocationMode = 'ExactCount' | 'All';

const allocationMode = (version: Version) => enumString<DeviceAllocationMode>(`${version}.DeviceAllocationMode`);

const exactDeviceRequestShape = () => ({
  deviceClassName: z.string(),
  selectors: optional(z.array(deviceSelector('v1beta2'))),
  allocationMode: optional(allocationMode('v1beta2')),
  count: optional(int64()),
  adminAccess: pointer(z.boolean()),
  tolerations: optional(z.array(deviceToleration('v1beta2'))),
});
export interface ExactDeviceRequest extends VersionedOutput<typeof exactDeviceRequestShape> {}
export interface ExactDeviceRequestInput extends VersionedInput<typeof exactDeviceRequestShape> {}
const exactDeviceRequest: Type<ExactDeviceRequest, ExactDeviceRequestInput> = type(
  'v1beta2.ExactDeviceRequest',
  exactDeviceRequestShape,
);

const deviceSubRequestShape = (version: Version) => ({
  name: z.string(),
  deviceClassName: z.string(),
  selectors: optional(z.array(deviceSelector(version))),
  allocationMode: optional(allocationMode(version)),
  count: optional(int64()),
  tolerations: optional(z.array(deviceToleration(version))),
});
export interface DeviceSubRequest extends VersionedOutput<typeof deviceSubRequestShape> {}
export interface DeviceSubRequestInput extends VersionedInput<typeof deviceSubRequestShape> {}
const deviceSubRequest: VersionedType<DeviceSubRequest, DeviceSubRequestInput> = versioned(
  'DeviceSubRequest',
  deviceSubRequestShape,
);

const deviceRequestShape = () => ({
  name: z.string(),
  exactly: pointer(exactDeviceRequest()),
  firstAvailable: optional(z.array(deviceSubRequest('v1beta2'))),
});
export interface DeviceRequest extends VersionedOutput<typeof deviceRequestShape> {}
export interface DeviceRequestInput extends VersionedInput<typeof deviceRequestShape> {}
const deviceRequest: Type<DeviceRequest, DeviceRequestInput> = type('v1beta2.DeviceRequest', deviceRequestShape);

const flatDeviceRequestShape = (version: Version) => ({
  name: z.string(),
  deviceClassName: optional(z.string()),
  selectors: optional(z.array(deviceSelector(version))),
  allocationMode: optional(allocationMode(version)),
  count: optional(int64()),
  adminAccess: pointer(z.boolean()),
  firstAvailable: optional(z.array(deviceSubRequest(version))),
  tolerations: optional(z.array(deviceToleration(version))),
});
export interface FlatDeviceRequest extends VersionedOutput<typeof flatDeviceRequestShape> {}
export interface FlatDeviceRequestInput extends VersionedInput<typeof flatDeviceRequestShape> {}
const flatDeviceRequest: VersionedType<FlatDeviceRequest, FlatDeviceRequestInput> = versioned(
  'DeviceRequest',
  flatDeviceRequestShape,
);

const deviceConstraintShape = (version: Version) => ({
  requests: optional(z.array(z.string())),
  matchAttribute: pointer(namedString(`${version}.FullyQualifiedName`)),
});
export interface DeviceConstraint extends VersionedOutput<typeof deviceConstraintShape> {}
export interface DeviceConstraintInput extends VersionedInput<typeof deviceConstraintShape> {}
const deviceConstraint: VersionedType<DeviceConstraint, DeviceConstraintInput> = versioned(
  'DeviceConstraint',
  deviceConstraintShape,
);

const deviceClaimConfigurationShape = (version: Version) => ({
  requests: optional(z.array(z.string())),
  opaque: pointer(opaqueDeviceConfiguration(version)),
});
export interface DeviceClaimConfiguration extends VersionedOutput<typeof deviceClaimConfigurationShape> {}
export interface DeviceClaimConfigurationInput extends VersionedInput<typeof deviceClaimConfigurationShape> {}
const deviceClaimConfiguration: VersionedType<DeviceClaimConfiguration, DeviceClaimConfigurationInput> = versioned(
  'DeviceClaimConfiguration',
  deviceClaimConfigurationShape,
);

const deviceClaimShape = () => ({
  requests: always(z.array(deviceRequest()).nullable()),
  constraints: optional(z.array(deviceConstraint('v1beta2'))),
  config: optional(z.array(deviceClaimConfiguration('v1beta2'))),
});
export interface DeviceClaim extends VersionedOutput<typeof deviceClaimShape> {}
export interface DeviceClaimInput extends VersionedInput<typeof deviceClaimShape> {}
const deviceClaim: Type<DeviceClaim, DeviceClaimInput> = type('v1beta2.DeviceClaim', deviceClaimShape);

const flatDeviceClaimShape = (version: Version) => ({
  requests: always(z.array(flatDeviceRequest(version)).nullable()),
  constraints: optional(z.array(deviceConstraint(version))),
  config: optional(z.array(deviceClaimConfiguration(version))),
});
export interface FlatDeviceClaim extends VersionedOutput<typeof flatDeviceClaimShape> {}
export interface FlatDeviceClaimInput extends VersionedInput<typeof flatDeviceClaimShape> {}
const flatDeviceClaim: VersionedType<FlatDeviceClaim, FlatDeviceClaimInput> = versioned(
  'DeviceClaim',
  flatDeviceClaimShape,
);

const resourceClaimSpecShape = () => ({ devices: always(deviceClaim()) });
export interface ResourceClaimSpec extends VersionedOutput<typeof resourceClaimSpecShape> {}
export interface ResourceClaimSpecInput extends VersionedInput<typeof resourceClaimSpecShape> {}
export const resourceClaimSpec: Type<ResourceClaimSpec, ResourceClaimSpecInput> = type(
  'v1beta2.ResourceClaimSpec',
  resourceClaimSpecShape,
);

const flatClaimSpecShape = (version: Version) => ({ devices: always(flatDeviceClaim(version)) });
export interface FlatClaimSpec extends VersionedOutput<typeof flatClaimSpecShape> {}
export interface FlatClaimSpecInput extends VersionedInput<typeof flatClaimSpecShape> {}
export const flatClaimSpec: VersionedType<FlatClaimSpec, FlatClaimSpecInput> = versioned(
  'ResourceClaimSpec',
  flatClaimSpecShape,
);

const resourceClaimTemplateSpecShape = () => ({ metadata: always(templateMeta()), spec: resourceClaimSpec() });
export interface ResourceClaimTemplateSpec extends VersionedOutput<typeof resourceClaimTemplateSpecShape> {}
export interface ResourceClaimTemplateSpecInput extends VersionedInput<typeof resourceClaimTemplateSpecShape> {}
export const resourceClaimTemplateSpec: Type<ResourceClaimTemplateSpec, ResourceClaimTemplateSpecInput> = type(
  'v1beta2.ResourceClaimTemplateSpec',
  resourceClaimTemplateSpecShape,
);

const flatTemplateSpecShape = (version: Version) => ({
  metadata: always(templateMeta()),
  spec: flatClaimSpec(version),
});
export interface FlatTemplateSpec extends VersionedOutput<typeof flatTemplateSpecShape> {}
export interface FlatTemplateSpecInput extends VersionedInput<typeof flatTemplateSpecShape> {}
export const flatTemplateSpec: VersionedType<FlatTemplateSpec, FlatTemplateSpecInput> = versioned(
  'ResourceClaimTemplateSpec',
  flatTemplateSpecShape,
);
