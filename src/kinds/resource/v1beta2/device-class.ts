/**
 * DeviceClass: what an administrator says about a sort of devices, for claims to ask for by name.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { optional, pointer } from '../../../schema/hints.js';
import type { Input, Output } from '../../../schema/type.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { specGeneration } from '../../shared/strategies.js';
import { MAX_CONFIGURATIONS } from '../rules/claim.js';
import { listProblems } from '../rules/collections.js';
import { configurationProblems, selectorsProblems } from '../rules/selection.js';
import { deviceSelector, opaqueDeviceConfiguration } from '../schema/selection.js';
import { type Version, type VersionedInput, type VersionedOutput, type VersionedType, versioned } from '../versions.js';

const deviceClassConfigurationShape = (version: Version) => ({ opaque: pointer(opaqueDeviceConfiguration(version)) });
export interface DeviceClassConfiguration extends VersionedOutput<typeof deviceClassConfigurationShape> {}
export interface DeviceClassConfigurationInput extends VersionedInput<typeof deviceClassConfigurationShape> {}
const deviceClassConfiguration: VersionedType<DeviceClassConfiguration, DeviceClassConfigurationInput> = versioned(
  'DeviceClassConfiguration',
  deviceClassConfigurationShape,
);

const deviceClassSpecShape = (version: Version) => ({
  selectors: optional(z.array(deviceSelector(version))),
  config: optional(z.array(deviceClassConfiguration(version))),
});
export interface DeviceClassSpec extends VersionedOutput<typeof deviceClassSpecShape> {}
export interface DeviceClassSpecInput extends VersionedInput<typeof deviceClassSpecShape> {}
export const deviceClassSpec: VersionedType<DeviceClassSpec, DeviceClassSpecInput> = versioned(
  'DeviceClassSpec',
  deviceClassSpecShape,
);

const shape = () => ({ spec: deviceClassSpec('v1beta2') });
export interface DeviceClass extends ObjectBase, Output<typeof shape> {}
export interface DeviceClassInput extends InputBase, Input<typeof shape> {}

export const DeviceClass: Kind<DeviceClass, DeviceClassInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('resource')}/v1beta2`,
  kind: 'DeviceClass',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [nameColumn, ageColumn],
  body: shape,
  strategy: {
    delete: { returnsObject: true },
    update: {
      steps: ['whole', 'metadata', 'change'],
      validate: (next, live) => specProblems(specOf(next), specOf(live)),
    },
    write: { generation: specGeneration },
    create: { validate: (object) => specProblems(specOf(object)) },
  },
});

function specOf(object: ApiObject): DeviceClassSpec {
  return (object as unknown as DeviceClass).spec;
}

function specProblems({ selectors, config = [] }: DeviceClassSpec, before?: DeviceClassSpec): FieldError[] {
  const stored = before !== undefined && deepEqual(config, before.config ?? []);
  // Any change of the list, be it of the order only, makes all of them new.
  const storedSelectors = before !== undefined && deepEqual(selectors ?? [], before.selectors ?? []);
  return [
    ...selectorsProblems('spec.selectors', selectors, { stored: storedSelectors }),
    ...listProblems('spec.config', config, {
      max: MAX_CONFIGURATIONS,
      item: (at, one) => configurationProblems(at, one, { stored }),
    }),
  ];
}
