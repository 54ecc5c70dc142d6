/**
 * The kinds of the resource group in v1beta1 and v1alpha3. In ResourceClaims and templates exact requests have no
 * `exactly` field, in ResourceSlices the fields of a device are in `basic`; DeviceClass differs only in its Go type
 * names.
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { ClusterObject, DraftObject, InputBase, NamespacedObject } from '../../meta/object.js';
import { mergeStrategies } from '../build-kind.js';
import { anotherVersion } from '../define-kind.js';
import {
  deviceClassBody as deviceClassBodyV1alpha3,
  type ResourceSliceV1alpha3Body,
  type ResourceSliceV1alpha3BodyDraft,
  type ResourceSliceV1alpha3BodyInput,
  resourceClaimBody,
  resourceClaimTemplateBody,
  resourceSliceV1alpha3Body,
} from '../generated/resource-v1alpha3.js';
import {
  deviceClassBody as deviceClassBodyV1beta1,
  type ResourceClaimTemplateV1beta1Body,
  type ResourceClaimTemplateV1beta1BodyDraft,
  type ResourceClaimTemplateV1beta1BodyInput,
  type ResourceClaimV1beta1Body,
  type ResourceClaimV1beta1BodyDraft,
  type ResourceClaimV1beta1BodyInput,
  type ResourceSliceV1beta1Body,
  type ResourceSliceV1beta1BodyDraft,
  type ResourceSliceV1beta1BodyInput,
  resourceClaimTemplateV1beta1Body,
  resourceClaimV1beta1Body,
  resourceSliceV1beta1Body,
} from '../generated/resource-v1beta1.js';
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
import { DeviceClass, type DeviceClassInput } from './v1beta2/device-class.js';
import { claimStatus, claimStrategy, ResourceClaim } from './v1beta2/resource-claim.js';
import { ResourceClaimTemplate, templateStrategy } from './v1beta2/resource-claim-template.js';
import { ResourceSlice, sliceStrategy } from './v1beta2/resource-slice.js';
import type { Version } from './versions.js';

export const ResourceSliceV1beta1: Kind<
  ResourceSliceV1beta1,
  ResourceSliceV1beta1Input,
  'Cluster',
  never,
  ResourceSliceV1beta1Draft
> = anotherVersion(ResourceSlice, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: resourceSliceV1beta1Body,
  toStored: sliceV1beta1ToStored,
  fromStored: sliceV1beta1FromStored,
  strategy: olderStrategy<ResourceSliceV1beta1>('v1beta1', sliceV1beta1ToStored),
});

export const ResourceSliceV1alpha3: Kind<
  ResourceSliceV1alpha3,
  ResourceSliceV1alpha3Input,
  'Cluster',
  never,
  ResourceSliceV1alpha3Draft
> = anotherVersion(ResourceSlice, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: resourceSliceV1alpha3Body,
  toStored: sliceV1alpha3ToStored,
  fromStored: sliceV1alpha3FromStored,
  strategy: olderStrategy<ResourceSliceV1alpha3>('v1alpha3', sliceV1alpha3ToStored),
});

export const ResourceClaimTemplateV1beta1: Kind<
  ResourceClaimTemplateV1beta1,
  ResourceClaimTemplateV1beta1Input,
  'Namespaced',
  never,
  ResourceClaimTemplateV1beta1Draft
> = anotherVersion(ResourceClaimTemplate, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: resourceClaimTemplateV1beta1Body,
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy(storageConverter<ResourceClaimTemplate>(templateToStored)),
});

export const ResourceClaimTemplateV1alpha3: Kind<
  ResourceClaimTemplateV1alpha3,
  ResourceClaimTemplateV1alpha3Input,
  'Namespaced',
  never
> = anotherVersion(ResourceClaimTemplate, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: resourceClaimTemplateBody,
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy(storageConverter<ResourceClaimTemplate>(templateToStored)),
});

export const DeviceClassV1beta1: Kind<DeviceClass, DeviceClassInput, 'Cluster', never> = anotherVersion(DeviceClass, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: deviceClassBodyV1beta1,
});

export const DeviceClassV1alpha3: Kind<DeviceClass, DeviceClassInput, 'Cluster', never> = anotherVersion(DeviceClass, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: deviceClassBodyV1alpha3,
});

export interface ResourceClaimV1beta1 extends NamespacedObject<'ResourceClaim'>, ResourceClaimV1beta1Body {}
export interface ResourceClaimV1beta1Draft extends NamespacedObject<'ResourceClaim'>, ResourceClaimV1beta1BodyDraft {}
export interface ResourceClaimV1beta1Input extends InputBase, ResourceClaimV1beta1BodyInput {}
export interface ResourceClaimV1alpha3 extends ResourceClaimV1beta1 {}
export interface ResourceClaimV1alpha3Input extends ResourceClaimV1beta1Input {}

export const ResourceClaimV1beta1: Kind<
  ResourceClaimV1beta1,
  ResourceClaimV1beta1Input,
  'Namespaced',
  'status',
  ResourceClaimV1beta1Draft
> = anotherVersion(ResourceClaim, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: resourceClaimV1beta1Body,
  toStored: claimToStored,
  fromStored: claimFromStored,
  strategy: claimStrategy(storageConverter<ResourceClaim>(claimToStored)),
  subresources: { status: claimStatus(storageConverter<ResourceClaim>(claimToStored)) },
});

export const ResourceClaimV1alpha3: Kind<ResourceClaimV1alpha3, ResourceClaimV1alpha3Input, 'Namespaced', 'status'> =
  anotherVersion(ResourceClaim, {
    apiVersion: `${serviceGroup('resource')}/v1alpha3`,
    lifecycle: { introducedIn: '1.31' },
    body: resourceClaimBody,
    toStored: claimToStored,
    fromStored: claimFromStored,
    strategy: claimStrategy(storageConverter<ResourceClaim>(claimToStored)),
    subresources: { status: claimStatus(storageConverter<ResourceClaim>(claimToStored)) },
  });

export interface ResourceClaimTemplateV1beta1
  extends NamespacedObject<'ResourceClaimTemplate'>,
    ResourceClaimTemplateV1beta1Body {}
export interface ResourceClaimTemplateV1beta1Draft
  extends NamespacedObject<'ResourceClaimTemplate'>,
    ResourceClaimTemplateV1beta1BodyDraft {}

export interface ResourceClaimTemplateV1beta1Input extends InputBase, ResourceClaimTemplateV1beta1BodyInput {}

export interface ResourceClaimTemplateV1alpha3 extends ResourceClaimTemplateV1beta1 {}

export interface ResourceClaimTemplateV1alpha3Input extends ResourceClaimTemplateV1beta1Input {}

export interface ResourceSliceV1beta1 extends ClusterObject<'ResourceSlice'>, ResourceSliceV1beta1Body {}
export interface ResourceSliceV1beta1Draft extends ClusterObject<'ResourceSlice'>, ResourceSliceV1beta1BodyDraft {}

export interface ResourceSliceV1beta1Input extends InputBase, ResourceSliceV1beta1BodyInput {}

export interface ResourceSliceV1alpha3 extends ClusterObject<'ResourceSlice'>, ResourceSliceV1alpha3Body {}
export interface ResourceSliceV1alpha3Draft extends ClusterObject<'ResourceSlice'>, ResourceSliceV1alpha3BodyDraft {}

export interface ResourceSliceV1alpha3Input extends InputBase, ResourceSliceV1alpha3BodyInput {}

/** @__NO_SIDE_EFFECTS__ */
function olderStrategy<Slice extends ResourceSliceV1beta1 | ResourceSliceV1alpha3>(
  version: Version,
  toStored: (draft: DraftObject) => void,
): StrategyDefinition<Slice> {
  const strategy = sliceStrategy<Slice>(version, storageConverter<ResourceSlice>(toStored));
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
