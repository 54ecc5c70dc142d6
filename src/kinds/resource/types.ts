/**
 * The types that objects of the group are made of, by the names of the API.
 */

export type {
  DeviceClaimConfiguration,
  DeviceClaimConfigurationInput,
  DeviceConstraint,
  DeviceConstraintInput,
} from './schema/claim.js';
export type {
  AllocatedDeviceStatus,
  AllocatedDeviceStatusInput,
  AllocationResult,
  AllocationResultInput,
  DeviceAllocationConfiguration,
  DeviceAllocationConfigurationInput,
  DeviceAllocationResult,
  DeviceAllocationResultInput,
  DeviceRequestAllocationResult,
  DeviceRequestAllocationResultInput,
  NetworkDeviceData,
  NetworkDeviceDataInput,
  ResourceClaimConsumerReference,
  ResourceClaimConsumerReferenceInput,
} from './schema/claim-status.js';
export type {
  CELDeviceSelector,
  CELDeviceSelectorInput,
  DeviceSelector,
  DeviceSelectorInput,
  DeviceTaint,
  DeviceTaintInput,
  DeviceToleration,
  DeviceTolerationInput,
  OpaqueDeviceConfiguration,
  OpaqueDeviceConfigurationInput,
} from './schema/selection.js';
export type {
  CounterSet,
  CounterSetInput,
  DeviceAttribute,
  DeviceAttributeInput,
  DeviceCapacity,
  DeviceCapacityInput,
  DeviceCounterConsumption,
  DeviceCounterConsumptionInput,
  ResourcePool,
  ResourcePoolInput,
} from './schema/slice.js';
export type { DeviceTaintSelector, DeviceTaintSelectorInput } from './v1alpha3/device-taint-rule.js';
export type { DeviceClassConfiguration, DeviceClassConfigurationInput } from './v1beta2/device-class.js';
