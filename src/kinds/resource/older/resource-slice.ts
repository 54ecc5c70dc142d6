/**
 * ResourceSlice in the older versions, whose devices keep their facts under `basic`.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { DraftObject } from '../../../meta/object.js';
import type { Input, Output } from '../../../schema/type.js';
import { mergeStrategies } from '../../build-kind.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, StrategyDefinition } from '../../kind.js';
import { sliceSpecV1alpha3, sliceSpecV1beta1 } from '../schema/slice.js';
import { ResourceSlice, sliceStrategy } from '../v1beta2/resource-slice.js';
import type { Version } from '../versions.js';
import {
  inStoredForm,
  sliceV1alpha3FromStored,
  sliceV1alpha3ToStored,
  sliceV1beta1FromStored,
  sliceV1beta1ToStored,
} from './conversion.js';

const shapeV1beta1 = () => ({ spec: sliceSpecV1beta1() });
export interface ResourceSliceV1beta1 extends ObjectBase, Output<typeof shapeV1beta1> {}
export interface ResourceSliceV1beta1Input extends InputBase, Input<typeof shapeV1beta1> {}

export const ResourceSliceV1beta1: Kind<ResourceSliceV1beta1, ResourceSliceV1beta1Input, 'Cluster', never> =
  anotherVersion(ResourceSlice, {
    apiVersion: `${serviceGroup('resource')}/v1beta1`,
    lifecycle: { introducedIn: '1.32' },
    body: shapeV1beta1,
    toStored: sliceV1beta1ToStored,
    fromStored: sliceV1beta1FromStored,
    strategy: olderStrategy('v1beta1', sliceV1beta1ToStored),
  });

const shapeV1alpha3 = () => ({ spec: sliceSpecV1alpha3() });
export interface ResourceSliceV1alpha3 extends ObjectBase, Output<typeof shapeV1alpha3> {}
export interface ResourceSliceV1alpha3Input extends InputBase, Input<typeof shapeV1alpha3> {}

export const ResourceSliceV1alpha3: Kind<ResourceSliceV1alpha3, ResourceSliceV1alpha3Input, 'Cluster', never> =
  anotherVersion(ResourceSlice, {
    apiVersion: `${serviceGroup('resource')}/v1alpha3`,
    lifecycle: { introducedIn: '1.31' },
    body: shapeV1alpha3,
    toStored: sliceV1alpha3ToStored,
    fromStored: sliceV1alpha3FromStored,
    strategy: olderStrategy('v1alpha3', sliceV1alpha3ToStored),
  });

/** @__NO_SIDE_EFFECTS__ */
function olderStrategy(version: Version, toStored: (draft: DraftObject) => void): StrategyDefinition {
  const strategy = sliceStrategy(version, inStoredForm(toStored));
  return mergeStrategies(strategy, {
    decode: {
      defaults: (draft, context) => {
        // A device about which nothing is said comes back as one whose facts are empty.
        const { devices } = (draft as unknown as ResourceSliceV1beta1).spec;
        for (const device of devices ?? []) device.basic ??= {};
        strategy.decode?.defaults?.(draft, context);
      },
    },
  });
}
