/**
 * The kinds of the resource group in v1beta1 and v1alpha3. In ResourceClaims and templates exact requests have no
 * `exactly` field, in ResourceSlices the fields of a device are in `basic`; DeviceClass differs only in its Go type
 * names.
 */

import { serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { forgetSentEmpty, sentEmptyFields } from '../../schema/empty-values.js';
import { mergeStrategies } from '../build-kind.js';
import { anotherVersion } from '../define-kind.js';
import {
  deviceClassBody as deviceClassBodyV1alpha3,
  type ResourceSliceV1alpha3Kind,
  type ResourceSliceV1alpha3Object,
  resourceClaimBody,
  resourceClaimTemplateBody,
  resourceSliceV1alpha3Base,
} from '../generated/resource-v1alpha3.js';
import {
  deviceClassBody as deviceClassBodyV1beta1,
  type ResourceClaimTemplateV1beta1Input,
  type ResourceClaimTemplateV1beta1Kind,
  type ResourceClaimTemplateV1beta1Object,
  type ResourceClaimV1beta1Input,
  type ResourceClaimV1beta1Kind,
  type ResourceClaimV1beta1Object,
  type ResourceSliceV1beta1Kind,
  type ResourceSliceV1beta1Object,
  resourceClaimTemplateV1beta1Base,
  resourceClaimV1beta1Base,
  resourceSliceV1beta1Base,
} from '../generated/resource-v1beta1.js';
import type { DeviceClassKind } from '../generated/resource-v1beta2.js';
import type { Kind, StrategyDefinition } from '../kind.js';
import {
  claimFromStored,
  claimToStored,
  sliceV1alpha3FromStored,
  sliceV1alpha3ToStored,
  sliceV1beta1FromStored,
  sliceV1beta1ToStored,
  storageConverter,
  templateFromStored,
  templateToStored,
} from './older-conversion.js';
import { DeviceClass } from './v1beta2/device-class.js';
import { claimStatus, claimStrategy, ResourceClaim } from './v1beta2/resource-claim.js';
import { ResourceClaimTemplate, templateStrategy } from './v1beta2/resource-claim-template.js';
import { ResourceSlice, sliceStrategy } from './v1beta2/resource-slice.js';
import type { Version } from './versions.js';

export const ResourceSliceV1beta1: ResourceSliceV1beta1Kind<ResourceSliceV1beta1> = anotherVersion(ResourceSlice, {
  ...resourceSliceV1beta1Base,
  lifecycle: { introducedIn: '1.32' },
  toStored: sliceV1beta1ToStored,
  fromStored: sliceV1beta1FromStored,
  strategy: olderStrategy<ResourceSliceV1beta1>('v1beta1', sliceV1beta1ToStored),
});

export const ResourceSliceV1alpha3: ResourceSliceV1alpha3Kind<ResourceSliceV1alpha3> = anotherVersion(ResourceSlice, {
  ...resourceSliceV1alpha3Base,
  lifecycle: { introducedIn: '1.31' },
  toStored: sliceV1alpha3ToStored,
  fromStored: sliceV1alpha3FromStored,
  strategy: olderStrategy<ResourceSliceV1alpha3>('v1alpha3', sliceV1alpha3ToStored),
});

const templates = {
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy<ResourceClaimTemplateV1beta1>(storageConverter<ResourceClaimTemplate>(templateToStored)),
};

export const ResourceClaimTemplateV1beta1: ResourceClaimTemplateV1beta1Kind<ResourceClaimTemplateV1beta1> =
  anotherVersion(ResourceClaimTemplate, {
    ...templates,
    ...resourceClaimTemplateV1beta1Base,
    lifecycle: { introducedIn: '1.32' },
  });

export const ResourceClaimTemplateV1alpha3: Kind<
  ResourceClaimTemplateV1alpha3,
  ResourceClaimTemplateV1alpha3Input,
  'Namespaced',
  never
> = anotherVersion(ResourceClaimTemplate, {
  ...templates,
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: resourceClaimTemplateBody,
});

export const DeviceClassV1beta1: DeviceClassKind<DeviceClass> = anotherVersion(DeviceClass, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: deviceClassBodyV1beta1,
});

export const DeviceClassV1alpha3: DeviceClassKind<DeviceClass> = anotherVersion(DeviceClass, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: deviceClassBodyV1alpha3,
});

const storedClaim = storageConverter<ResourceClaim>(claimToStored);
const claims = {
  toStored: claimToStored,
  fromStored: claimFromStored,
  strategy: claimStrategy<ResourceClaimV1beta1>(storedClaim),
  subresources: { status: claimStatus<ResourceClaimV1beta1>(storedClaim) },
};

export const ResourceClaimV1beta1: ResourceClaimV1beta1Kind<ResourceClaimV1beta1> = anotherVersion(ResourceClaim, {
  ...claims,
  ...resourceClaimV1beta1Base,
  lifecycle: { introducedIn: '1.32' },
});

export const ResourceClaimV1alpha3: Kind<ResourceClaimV1alpha3, ResourceClaimV1alpha3Input, 'Namespaced', 'status'> =
  anotherVersion(ResourceClaim, {
    ...claims,
    apiVersion: `${serviceGroup('resource')}/v1alpha3`,
    lifecycle: { introducedIn: '1.31' },
    body: resourceClaimBody,
  });

export interface ResourceClaimV1beta1 extends ResourceClaimV1beta1Object {}
export interface ResourceClaimV1alpha3 extends ResourceClaimV1beta1 {}
export interface ResourceClaimV1alpha3Input extends ResourceClaimV1beta1Input {}
export interface ResourceClaimTemplateV1beta1 extends ResourceClaimTemplateV1beta1Object {}
export interface ResourceClaimTemplateV1alpha3 extends ResourceClaimTemplateV1beta1 {}
export interface ResourceClaimTemplateV1alpha3Input extends ResourceClaimTemplateV1beta1Input {}
export interface ResourceSliceV1beta1 extends ResourceSliceV1beta1Object {}
export interface ResourceSliceV1alpha3 extends ResourceSliceV1alpha3Object {}

/** @__NO_SIDE_EFFECTS__ */
function olderStrategy<Slice extends ResourceSliceV1beta1 | ResourceSliceV1alpha3>(
  version: Version,
  toStored: (draft: DraftObject) => void,
): StrategyDefinition<Slice> {
  const strategy = sliceStrategy<Slice>(version, storageConverter<ResourceSlice>(toStored));
  return mergeStrategies<Slice>(strategy, {
    decode: {
      defaults: (draft, context) => {
        for (const device of draft.spec.devices ?? []) {
          // The server returns an empty `basic` for a device without one, and drops its empty lists and maps.
          device.basic ??= {};
          for (const name of sentEmptyFields(device.basic)) forgetSentEmpty(device.basic, name);
        }
        strategy.decode?.defaults?.(draft, context);
      },
    },
  });
}
