/**
 * ResourceSlice in v1beta1 and v1alpha3, where the fields of a device are in `basic`.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { DraftObject } from '../../../meta/object.js';
import { mergeStrategies } from '../../build-kind.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import {
  type ResourceSliceV1alpha3Body,
  type ResourceSliceV1alpha3BodyInput,
  resourceSliceV1alpha3Body,
} from '../../generated/resource-v1alpha3.js';
import {
  type ResourceSliceV1beta1Body,
  type ResourceSliceV1beta1BodyInput,
  resourceSliceV1beta1Body,
} from '../../generated/resource-v1beta1.js';
import type { Kind, StrategyDefinition } from '../../kind.js';
import { ResourceSlice, sliceStrategy } from '../v1beta2/resource-slice.js';
import type { Version } from '../versions.js';
import {
  sliceV1alpha3FromStored,
  sliceV1alpha3ToStored,
  sliceV1beta1FromStored,
  sliceV1beta1ToStored,
  storedCopy,
} from './conversion.js';

export interface ResourceSliceV1beta1 extends ObjectBase, ResourceSliceV1beta1Body {}
export interface ResourceSliceV1beta1Input extends InputBase, ResourceSliceV1beta1BodyInput {}

export const ResourceSliceV1beta1: Kind<ResourceSliceV1beta1, ResourceSliceV1beta1Input, 'Cluster', never> =
  anotherVersion(ResourceSlice, {
    apiVersion: `${serviceGroup('resource')}/v1beta1`,
    lifecycle: { introducedIn: '1.32' },
    body: resourceSliceV1beta1Body,
    toStored: sliceV1beta1ToStored,
    fromStored: sliceV1beta1FromStored,
    strategy: olderStrategy<ResourceSliceV1beta1>('v1beta1', sliceV1beta1ToStored),
  });

export interface ResourceSliceV1alpha3 extends ObjectBase, ResourceSliceV1alpha3Body {}
export interface ResourceSliceV1alpha3Input extends InputBase, ResourceSliceV1alpha3BodyInput {}

export const ResourceSliceV1alpha3: Kind<ResourceSliceV1alpha3, ResourceSliceV1alpha3Input, 'Cluster', never> =
  anotherVersion(ResourceSlice, {
    apiVersion: `${serviceGroup('resource')}/v1alpha3`,
    lifecycle: { introducedIn: '1.31' },
    body: resourceSliceV1alpha3Body,
    toStored: sliceV1alpha3ToStored,
    fromStored: sliceV1alpha3FromStored,
    strategy: olderStrategy<ResourceSliceV1alpha3>('v1alpha3', sliceV1alpha3ToStored),
  });

/** @__NO_SIDE_EFFECTS__ */
function olderStrategy<Slice extends ResourceSliceV1beta1 | ResourceSliceV1alpha3>(
  version: Version,
  toStored: (draft: DraftObject) => void,
): StrategyDefinition<Slice> {
  const strategy = sliceStrategy<Slice>(version, storedCopy<ResourceSlice>(toStored));
  return mergeStrategies<Slice>(strategy, {
    decode: {
      defaults: (draft, context) => {
        // The server returns an empty `basic` for a device without one.
        for (const device of draft.spec.devices ?? []) device.basic ??= {};
        strategy.decode?.defaults?.(draft, context);
      },
    },
  });
}
