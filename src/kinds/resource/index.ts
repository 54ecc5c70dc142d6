/**
 * The resource group (dynamic resource allocation): devices that pods claim.
 */
import type { Kind } from '../kind.js';
import {
  DeviceClassV1alpha3,
  DeviceClassV1beta1,
  ResourceClaimTemplateV1alpha3,
  ResourceClaimTemplateV1beta1,
  ResourceClaimV1alpha3,
  ResourceClaimV1beta1,
  ResourceSliceV1alpha3,
  ResourceSliceV1beta1,
} from './older-versions.js';
import { DeviceTaintRule } from './v1alpha3/device-taint-rule.js';
import { DeviceClass } from './v1beta2/device-class.js';
import { ResourceClaim } from './v1beta2/resource-claim.js';
import { ResourceClaimTemplate } from './v1beta2/resource-claim-template.js';
import { ResourceSlice } from './v1beta2/resource-slice.js';

export * from './older-versions.js';
export { DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice };

/** The kinds of the group, in the order of discovery. */
export const resourceKinds: readonly Kind[] = [
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
  DeviceClassV1beta1,
  ResourceClaimV1beta1,
  ResourceClaimTemplateV1beta1,
  ResourceSliceV1beta1,
  DeviceClassV1alpha3,
  DeviceTaintRule,
  ResourceClaimV1alpha3,
  ResourceClaimTemplateV1alpha3,
  ResourceSliceV1alpha3,
];
