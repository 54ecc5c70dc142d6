/**
 * The ResourceSlice kind: a part of a driver's pool of devices.
 */

import { type Dialect, orchDialect, serviceGroup } from '../../../meta/dialect.js';
import type { ApiObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { FeatureGates } from '../../feature-gates.js';
import {
  type Device,
  type ResourceSliceKind,
  type ResourceSliceObject,
  type ResourceSliceSpec,
  resourceSliceBase,
} from '../../generated/resource-v1beta2.js';
import type { HookContext, StrategyDefinition } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { sliceSpecProblems } from '../rules/slice.js';
import type { Version } from '../versions.js';

export interface ResourceSlice extends ResourceSliceObject {}

/** The fields of a device that the hooks use. Older versions have them in `basic`. */
type DeviceFacts = Partial<Omit<Device, 'name' | 'capacity'>>;
type AnyDevice = DeviceFacts & { readonly basic?: DeviceFacts };

/** A slice of any version. */
export interface AnySlice {
  readonly spec: Omit<ResourceSliceSpec, 'devices'> & { readonly devices?: readonly AnyDevice[] | null };
}

/**
 * The strategy of slices of any version; `stored` converts an object to v1beta2.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function sliceStrategy<Slice extends AnySlice>(
  version: Version,
  stored: (object: ApiObject & Slice) => ResourceSlice,
): StrategyDefinition<Slice> {
  return {
    delete: { returnDeletedObject: true },
    write: {
      // `update.prepare` increases the generation before it drops fields.
      generation: () => false,
    },
    decode: { defaults: (draft, context) => defaultTaints(factsOf(draft), context) },
    create: {
      prepare: (draft, { features }) => dropDisabledFields(draft, features),
      validate: (object) => sliceSpecProblems('spec', stored(object).spec),
    },
    update: {
      prepare: (draft, live, { features }) => {
        if (specChanges(draft, live)) draft.metadata.generation = (live.metadata.generation ?? 0) + 1;
        dropDisabledFields(draft, features, live);
      },
      validate: (next, live) => sliceSpecProblems('spec', stored(next).spec, stored(live).spec),
    },
    read: {
      selectableFields: {
        'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
        'spec.driver': ({ spec }) => spec.driver,
      },
      unknownFieldLabel: (field: string, dialect: Dialect = orchDialect) =>
        `field label not supported for ${dialect.group(serviceGroup('resource'))}/${version}, Kind=ResourceSlice: ${field}`,
    },
  };
}

export const ResourceSlice: ResourceSliceKind<ResourceSlice> = defineBuiltIn({
  ...resourceSliceBase,
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [
    nameColumn,
    textColumn('Node', 'The node of the devices, if they are local to one.', (object) => object.spec.nodeName ?? ''),
    textColumn('Driver', 'The driver that publishes the devices.', (object) => object.spec.driver),
    textColumn('Pool', 'The pool that the devices belong to.', (object) => object.spec.pool.name),
    ageColumn,
  ],
  strategy: sliceStrategy('v1beta2', (object) => object),
});

/** An absent list of devices equals an empty one. */
function specChanges(draft: AnySlice, live: AnySlice): boolean {
  const comparable = ({ spec }: AnySlice) => ({ ...spec, devices: spec.devices ?? [] });
  return !deepEqual(comparable(draft), comparable(live));
}

function factsOf({ spec }: AnySlice): DeviceFacts[] {
  return (spec.devices ?? []).map((device) => device.basic ?? device);
}

function defaultTaints(devices: readonly DeviceFacts[], { now }: HookContext): void {
  for (const { taints = [] } of devices) {
    for (const taint of taints) taint.timeAdded ??= now;
  }
}

const PARTITIONING = ['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'] as const;

/** Drops fields whose gate is disabled, unless the live slice uses them. */
function dropDisabledFields(draft: AnySlice, features: FeatureGates, live?: AnySlice): void {
  const before = live === undefined ? [] : factsOf(live);
  if (!features.enabled('DRADeviceTaints') && !before.some(({ taints = [] }) => taints.length > 0)) {
    for (const device of factsOf(draft)) delete device.taints;
  }
  if (features.enabled('DRAPartitionableDevices') || (live !== undefined && isPartitioned(live))) return;
  const { spec } = draft;
  delete spec.sharedCounters;
  delete spec.perDeviceNodeSelection;
  for (const device of factsOf(draft)) {
    for (const field of PARTITIONING) delete device[field];
  }
}

function isPartitioned(slice: AnySlice): boolean {
  const { sharedCounters, perDeviceNodeSelection } = slice.spec;
  if (sharedCounters !== undefined || perDeviceNodeSelection !== undefined) return true;
  return factsOf(slice).some((device) => PARTITIONING.some((field) => device[field] !== undefined));
}
