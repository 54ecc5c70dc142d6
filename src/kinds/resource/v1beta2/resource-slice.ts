/**
 * ResourceSlice: a part of a driver's pool of devices.
 */
import { type Dialect, orchDialect, serviceGroup } from '../../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { FeatureGates } from '../../feature-gates.js';
import {
  type Device,
  type ResourceSliceBody,
  type ResourceSliceBodyInput,
  type ResourceSliceSpec,
  resourceSliceBody,
} from '../../generated/resource-v1beta2.js';
import type { Kind, StrategyDefinition, WriteContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { sliceSpecProblems } from '../rules/slice.js';
import type { Version } from '../versions.js';
import type { InStoredForm } from './resource-claim.js';

export interface ResourceSlice extends ObjectBase, ResourceSliceBody {}
export interface ResourceSliceInput extends InputBase, ResourceSliceBodyInput {}

/** What the hooks look at: in the older versions, a device keeps it under `basic`. */
type DeviceFacts = Partial<Omit<Device, 'name'>>;
type AnyDevice = DeviceFacts & { readonly basic?: DeviceFacts };

interface AnySlice {
  readonly spec: Omit<ResourceSliceSpec, 'devices'> & { readonly devices?: readonly AnyDevice[] | null };
}

/**
 * The ways of a slice, in the form of a version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function sliceStrategy(version: Version, stored: InStoredForm): StrategyDefinition {
  return {
    delete: { returnsObject: true },
    write: {
      // Counted by `prepareForUpdate`, which must look before it drops anything; here only that there is a generation.
      generation: () => false,
    },
    decode: { defaults: (draft, context) => defaultTaints(factsOf(draft), context) },
    create: {
      prepare: (draft, { features }) => dropDisabledFields(draft, features),
      validate: (object) => sliceSpecProblems('spec', specOf(stored(object))),
    },
    update: {
      prepare: (draft, live, { features }) => {
        if (specChanges(draft, live)) draft.metadata.generation = (live.metadata.generation ?? 0) + 1;
        dropDisabledFields(draft, features, live);
      },
      validate: (next, live) => sliceSpecProblems('spec', specOf(stored(next)), specOf(stored(live))),
    },
    read: {
      selectableFields: {
        'spec.nodeName': (object) => (object as unknown as AnySlice).spec.nodeName ?? '',
        'spec.driver': (object) => (object as unknown as AnySlice).spec.driver,
      },
      unknownFieldLabel: (field: string, dialect: Dialect = orchDialect) =>
        `field label not supported for ${dialect.group(serviceGroup('resource'))}/${version}, Kind=ResourceSlice: ${field}`,
    },
  };
}

export const ResourceSlice: Kind<ResourceSlice, ResourceSliceInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('resource')}/v1beta2`,
  kind: 'ResourceSlice',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [
    nameColumn,
    textColumn('Node', 'The node that has the devices, if only one has.', (object) => specOf(object).nodeName ?? ''),
    textColumn('Driver', 'The driver that offers the devices.', (object) => specOf(object).driver),
    textColumn('Pool', 'The pool that the devices belong to.', (object) => specOf(object).pool.name),
    ageColumn,
  ],
  body: resourceSliceBody,
  strategy: sliceStrategy('v1beta2', (object) => object),
});

function specOf(object: ApiObject): ResourceSliceSpec {
  return (object as unknown as ResourceSlice).spec;
}

/** No devices and an empty list of them are the same. */
function specChanges(draft: DraftObject, live: ApiObject): boolean {
  const comparable = ({ spec }: AnySlice) => ({ ...spec, devices: spec.devices ?? [] });
  return !deepEqual(comparable(draft as unknown as AnySlice), comparable(live as unknown as AnySlice));
}

function factsOf(object: ApiObject | DraftObject): DeviceFacts[] {
  const { devices } = (object as unknown as AnySlice).spec;
  return (devices ?? []).map((device) => device.basic ?? device);
}

function defaultTaints(devices: readonly DeviceFacts[], { now }: WriteContext): void {
  for (const { taints = [] } of devices) {
    for (const taint of taints) taint.timeAdded ??= now;
  }
}

const PARTITIONING = ['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'] as const;

/** Takes away what needs a gate that is off, unless the slice has made use of it before. */
function dropDisabledFields(draft: DraftObject, features: FeatureGates, live?: ApiObject): void {
  const before = live === undefined ? [] : factsOf(live);
  if (!features.enabled('DRADeviceTaints') && !before.some(({ taints = [] }) => taints.length > 0)) {
    for (const device of factsOf(draft)) delete device.taints;
  }
  if (features.enabled('DRAPartitionableDevices') || (live !== undefined && isPartitioned(live))) return;
  const { spec } = draft as unknown as ResourceSlice;
  delete spec.sharedCounters;
  delete spec.perDeviceNodeSelection;
  for (const device of factsOf(draft)) {
    for (const field of PARTITIONING) delete device[field];
  }
}

function isPartitioned(slice: ApiObject): boolean {
  const { sharedCounters, perDeviceNodeSelection } = (slice as unknown as AnySlice).spec;
  if (sharedCounters !== undefined || perDeviceNodeSelection !== undefined) return true;
  return factsOf(slice).some((device) => PARTITIONING.some((field) => device[field] !== undefined));
}
