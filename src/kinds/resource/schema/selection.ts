/**
 * How devices are chosen and set up: selectors, opaque parameters for drivers, taints and their tolerations.
 */
import * as z from 'zod';
import { defaulted, int64, optional, pointer, rawExtension, time, enumString } from '../../../schema/hints.js';
import { type Version, type VersionedInput, type VersionedOutput, type VersionedType, versioned } from '../versions.js';

const celDeviceSelectorShape = () => ({ expression: z.string() });
export interface CELDeviceSelector extends VersionedOutput<typeof celDeviceSelectorShape> {}
export interface CELDeviceSelectorInput extends VersionedInput<typeof celDeviceSelectorShape> {}
const celDeviceSelector: VersionedType<CELDeviceSelector, CELDeviceSelectorInput> = versioned(
  'CELDeviceSelector',
  celDeviceSelectorShape,
);

const deviceSelectorShape = (version: Version) => ({ cel: pointer(celDeviceSelector(version)) });
export interface DeviceSelector extends VersionedOutput<typeof deviceSelectorShape> {}
export interface DeviceSelectorInput extends VersionedInput<typeof deviceSelectorShape> {}
export const deviceSelector: VersionedType<DeviceSelector, DeviceSelectorInput> = versioned(
  'DeviceSelector',
  deviceSelectorShape,
);

const opaqueDeviceConfigurationShape = () => ({ driver: z.string(), parameters: rawExtension() });
export interface OpaqueDeviceConfiguration extends VersionedOutput<typeof opaqueDeviceConfigurationShape> {}
export interface OpaqueDeviceConfigurationInput extends VersionedInput<typeof opaqueDeviceConfigurationShape> {}
export const opaqueDeviceConfiguration: VersionedType<OpaqueDeviceConfiguration, OpaqueDeviceConfigurationInput> =
  versioned('OpaqueDeviceConfiguration', opaqueDeviceConfigurationShape);

export type DeviceTaintEffect = 'NoSchedule' | 'NoExecute';

const deviceTaintShape = (version: Version) => ({
  key: z.string(),
  value: optional(z.string()),
  effect: enumString<DeviceTaintEffect>(`${version}.DeviceTaintEffect`),
  timeAdded: pointer(time()),
});
export interface DeviceTaint extends VersionedOutput<typeof deviceTaintShape> {}
export interface DeviceTaintInput extends VersionedInput<typeof deviceTaintShape> {}
export const deviceTaint: VersionedType<DeviceTaint, DeviceTaintInput> = versioned('DeviceTaint', deviceTaintShape);

const deviceTolerationShape = (version: Version) => ({
  key: optional(z.string()),
  operator: defaulted(enumString<'Exists' | 'Equal'>(`${version}.DeviceTolerationOperator`), 'Equal'),
  value: optional(z.string()),
  effect: optional(enumString<DeviceTaintEffect>(`${version}.DeviceTaintEffect`)),
  tolerationSeconds: pointer(int64()),
});
export interface DeviceToleration extends VersionedOutput<typeof deviceTolerationShape> {}
export interface DeviceTolerationInput extends VersionedInput<typeof deviceTolerationShape> {}
export const deviceToleration: VersionedType<DeviceToleration, DeviceTolerationInput> = versioned(
  'DeviceToleration',
  deviceTolerationShape,
);
