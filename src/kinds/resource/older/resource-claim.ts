/**
 * ResourceClaim in v1beta1 and v1alpha3, where exact requests have no `exactly` field.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import { resourceClaimBody } from '../../generated/resource-v1alpha3.js';
import {
  type ResourceClaimV1beta1Body,
  type ResourceClaimV1beta1BodyInput,
  resourceClaimV1beta1Body,
} from '../../generated/resource-v1beta1.js';
import type { Kind } from '../../kind.js';
import { claimStatus, claimStrategy, ResourceClaim } from '../v1beta2/resource-claim.js';
import { claimFromStored, claimToStored, storedCopy } from './conversion.js';

export interface ResourceClaimV1beta1 extends ObjectBase, ResourceClaimV1beta1Body {}
export interface ResourceClaimV1beta1Input extends InputBase, ResourceClaimV1beta1BodyInput {}
export interface ResourceClaimV1alpha3 extends ResourceClaimV1beta1 {}
export interface ResourceClaimV1alpha3Input extends ResourceClaimV1beta1Input {}

export const ResourceClaimV1beta1: Kind<ResourceClaimV1beta1, ResourceClaimV1beta1Input, 'Namespaced', 'status'> =
  anotherVersion(ResourceClaim, {
    apiVersion: `${serviceGroup('resource')}/v1beta1`,
    lifecycle: { introducedIn: '1.32' },
    body: resourceClaimV1beta1Body,
    toStored: claimToStored,
    fromStored: claimFromStored,
    strategy: claimStrategy(storedCopy<ResourceClaim>(claimToStored)),
    subresources: { status: claimStatus(storedCopy<ResourceClaim>(claimToStored)) },
  });

export const ResourceClaimV1alpha3: Kind<ResourceClaimV1alpha3, ResourceClaimV1alpha3Input, 'Namespaced', 'status'> =
  anotherVersion(ResourceClaim, {
    apiVersion: `${serviceGroup('resource')}/v1alpha3`,
    lifecycle: { introducedIn: '1.31' },
    body: resourceClaimBody,
    toStored: claimToStored,
    fromStored: claimFromStored,
    strategy: claimStrategy(storedCopy<ResourceClaim>(claimToStored)),
    subresources: { status: claimStatus(storedCopy<ResourceClaim>(claimToStored)) },
  });
