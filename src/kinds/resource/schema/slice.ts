/**
 * What a driver offers on its nodes. The older versions keep the facts about a device under `basic`, and v1alpha3 its
 * capacities as plain amounts.
 */
import * as z from 'zod';
import { always, hint, int64, optional, pointer, quantity } from '../../../schema/hints.js';
import { type Type, type } from '../../../schema/type.js';
import { nodeSelector } from '../../core/v1/scheduling-types.js';
import { type Version, type VersionedInput, type VersionedOutput, type VersionedType, versioned } from '../versions.js';
import { deviceTaint } from './selection.js';

const resourcePoolShape = () => ({ name: z.string(), generation: int64(), resourceSliceCount: int64() });
export interface ResourcePool extends VersionedOutput<typeof resourcePoolShape> {}
export interface ResourcePoolInput extends VersionedInput<typeof resourcePoolShape> {}
const resourcePool: VersionedType<ResourcePool, ResourcePoolInput> = versioned('ResourcePool', resourcePoolShape);

const deviceAttributeShape = () => ({
  int: pointer(int64()),
  bool: pointer(z.boolean()),
  string: pointer(z.string()),
  version: pointer(z.string()),
});
export interface DeviceAttribute extends VersionedOutput<typeof deviceAttributeShape> {}
export interface DeviceAttributeInput extends VersionedInput<typeof deviceAttributeShape> {}
const deviceAttribute: VersionedType<DeviceAttribute, DeviceAttributeInput> = versioned(
  'DeviceAttribute',
  deviceAttributeShape,
);

const deviceCapacityShape = () => ({ value: quantity() });
export interface DeviceCapacity extends VersionedOutput<typeof deviceCapacityShape> {}
export interface DeviceCapacityInput extends VersionedInput<typeof deviceCapacityShape> {}
const deviceCapacity: VersionedType<DeviceCapacity, DeviceCapacityInput> = versioned(
  'DeviceCapacity',
  deviceCapacityShape,
);

const deviceCounterShape = () => ({ value: quantity() });
export interface DeviceCounter extends VersionedOutput<typeof deviceCounterShape> {}
export interface DeviceCounterInput extends VersionedInput<typeof deviceCounterShape> {}
const deviceCounter: VersionedType<DeviceCounter, DeviceCounterInput> = versioned('Counter', deviceCounterShape);

const deviceCounterConsumptionShape = (version: Version) => ({
  counterSet: z.string(),
  counters: z.record(z.string(), deviceCounter(version)),
});
export interface DeviceCounterConsumption extends VersionedOutput<typeof deviceCounterConsumptionShape> {}
export interface DeviceCounterConsumptionInput extends VersionedInput<typeof deviceCounterConsumptionShape> {}
const deviceCounterConsumption: VersionedType<DeviceCounterConsumption, DeviceCounterConsumptionInput> = versioned(
  'DeviceCounterConsumption',
  deviceCounterConsumptionShape,
);

const attributes = (version: Version) =>
  hint(z.record(z.string(), deviceAttribute(version)), {
    goType: `map[${version}.QualifiedName]${version}.DeviceAttribute`,
  });

const capacities = (version: Version) =>
  hint(z.record(z.string(), deviceCapacity(version)), {
    goType: `map[${version}.QualifiedName]${version}.DeviceCapacity`,
  });

const amounts = (version: Version) =>
  hint(z.record(z.string(), quantity()), { goType: `map[${version}.QualifiedName]resource.Quantity` });

/** What follows the capacities, in a device of any version. */
const restOfDevice = (version: Version) => ({
  consumesCounters: optional(z.array(deviceCounterConsumption(version))),
  nodeName: pointer(z.string()),
  nodeSelector: pointer(nodeSelector()),
  allNodes: pointer(z.boolean()),
  taints: optional(z.array(deviceTaint(version))),
});

const deviceShape = () => ({
  name: z.string(),
  attributes: optional(attributes('v1beta2')),
  capacity: optional(capacities('v1beta2')),
  ...restOfDevice('v1beta2'),
});
export interface Device extends VersionedOutput<typeof deviceShape> {}
export interface DeviceInput extends VersionedInput<typeof deviceShape> {}
const device: Type<Device, DeviceInput> = type('v1beta2.Device', deviceShape);

const basicDeviceV1beta1Shape = () => ({
  attributes: optional(attributes('v1beta1')),
  capacity: optional(capacities('v1beta1')),
  ...restOfDevice('v1beta1'),
});
export interface BasicDeviceV1beta1 extends VersionedOutput<typeof basicDeviceV1beta1Shape> {}
export interface BasicDeviceV1beta1Input extends VersionedInput<typeof basicDeviceV1beta1Shape> {}
const basicDeviceV1beta1: Type<BasicDeviceV1beta1, BasicDeviceV1beta1Input> = type(
  'v1beta1.BasicDevice',
  basicDeviceV1beta1Shape,
);

const basicDeviceV1alpha3Shape = () => ({
  attributes: optional(attributes('v1alpha3')),
  capacity: optional(amounts('v1alpha3')),
  ...restOfDevice('v1alpha3'),
});
export interface BasicDeviceV1alpha3 extends VersionedOutput<typeof basicDeviceV1alpha3Shape> {}
export interface BasicDeviceV1alpha3Input extends VersionedInput<typeof basicDeviceV1alpha3Shape> {}
const basicDeviceV1alpha3: Type<BasicDeviceV1alpha3, BasicDeviceV1alpha3Input> = type(
  'v1alpha3.BasicDevice',
  basicDeviceV1alpha3Shape,
);

const deviceV1beta1Shape = () => ({ name: z.string(), basic: pointer(basicDeviceV1beta1()) });
export interface DeviceV1beta1 extends VersionedOutput<typeof deviceV1beta1Shape> {}
export interface DeviceV1beta1Input extends VersionedInput<typeof deviceV1beta1Shape> {}
const deviceV1beta1: Type<DeviceV1beta1, DeviceV1beta1Input> = type('v1beta1.Device', deviceV1beta1Shape);

const deviceV1alpha3Shape = () => ({ name: z.string(), basic: pointer(basicDeviceV1alpha3()) });
export interface DeviceV1alpha3 extends VersionedOutput<typeof deviceV1alpha3Shape> {}
export interface DeviceV1alpha3Input extends VersionedInput<typeof deviceV1alpha3Shape> {}
const deviceV1alpha3: Type<DeviceV1alpha3, DeviceV1alpha3Input> = type('v1alpha3.Device', deviceV1alpha3Shape);

const counterSetShape = (version: Version) => ({
  name: z.string(),
  counters: z.record(z.string(), deviceCounter(version)),
});
export interface CounterSet extends VersionedOutput<typeof counterSetShape> {}
export interface CounterSetInput extends VersionedInput<typeof counterSetShape> {}
const counterSet: VersionedType<CounterSet, CounterSetInput> = versioned('CounterSet', counterSetShape);

const resourceSliceSpecShape = () => ({
  driver: z.string(),
  pool: resourcePool('v1beta2'),
  nodeName: pointer(z.string()),
  nodeSelector: pointer(nodeSelector()),
  allNodes: pointer(z.boolean()),
  devices: always(z.array(device()).nullable()),
  perDeviceNodeSelection: pointer(z.boolean()),
  sharedCounters: optional(z.array(counterSet('v1beta2'))),
});
export interface ResourceSliceSpec extends VersionedOutput<typeof resourceSliceSpecShape> {}
export interface ResourceSliceSpecInput extends VersionedInput<typeof resourceSliceSpecShape> {}
export const resourceSliceSpec: Type<ResourceSliceSpec, ResourceSliceSpecInput> = type(
  'v1beta2.ResourceSliceSpec',
  resourceSliceSpecShape,
);

/** Before the devices, and after them, in the older versions: there an empty node name is none. */
const olderStart = (version: Version) => ({
  driver: z.string(),
  pool: resourcePool(version),
  nodeName: optional(z.string()),
  nodeSelector: pointer(nodeSelector()),
  allNodes: optional(z.boolean()),
});
const olderEnd = (version: Version) => ({
  perDeviceNodeSelection: pointer(z.boolean()),
  sharedCounters: optional(z.array(counterSet(version))),
});

const sliceSpecV1beta1Shape = () => ({
  ...olderStart('v1beta1'),
  devices: always(z.array(deviceV1beta1()).nullable()),
  ...olderEnd('v1beta1'),
});
export interface ResourceSliceSpecV1beta1 extends VersionedOutput<typeof sliceSpecV1beta1Shape> {}
export interface ResourceSliceSpecV1beta1Input extends VersionedInput<typeof sliceSpecV1beta1Shape> {}
export const sliceSpecV1beta1: Type<ResourceSliceSpecV1beta1, ResourceSliceSpecV1beta1Input> = type(
  'v1beta1.ResourceSliceSpec',
  sliceSpecV1beta1Shape,
);

const sliceSpecV1alpha3Shape = () => ({
  ...olderStart('v1alpha3'),
  devices: always(z.array(deviceV1alpha3()).nullable()),
  ...olderEnd('v1alpha3'),
});
export interface ResourceSliceSpecV1alpha3 extends VersionedOutput<typeof sliceSpecV1alpha3Shape> {}
export interface ResourceSliceSpecV1alpha3Input extends VersionedInput<typeof sliceSpecV1alpha3Shape> {}
export const sliceSpecV1alpha3: Type<ResourceSliceSpecV1alpha3, ResourceSliceSpecV1alpha3Input> = type(
  'v1alpha3.ResourceSliceSpec',
  sliceSpecV1alpha3Shape,
);
