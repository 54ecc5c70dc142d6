/**
 * ResourceClaim in the older versions, whose requests are flat.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { always } from '../../../schema/hints.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { flatClaimSpec } from '../schema/claim.js';
import { resourceClaimStatus } from '../schema/claim-status.js';
import { claimStatus, claimStrategy, ResourceClaim } from '../v1beta2/resource-claim.js';
import type { Version, VersionedInput, VersionedOutput } from '../versions.js';
import { claimFromStored, claimToStored, inStoredForm } from './conversion.js';

const shape = (version: Version) => ({
  spec: flatClaimSpec(version),
  status: always(resourceClaimStatus(version)),
});
export interface ResourceClaimV1beta1 extends ObjectBase, VersionedOutput<typeof shape> {}
export interface ResourceClaimV1beta1Input extends InputBase, VersionedInput<typeof shape> {}
export interface ResourceClaimV1alpha3 extends ResourceClaimV1beta1 {}
export interface ResourceClaimV1alpha3Input extends ResourceClaimV1beta1Input {}

export const ResourceClaimV1beta1: Kind<ResourceClaimV1beta1, ResourceClaimV1beta1Input, 'Namespaced', 'status'> =
  anotherVersion(ResourceClaim, {
    apiVersion: `${serviceGroup('resource')}/v1beta1`,
    lifecycle: { introducedIn: '1.32' },
    body: () => shape('v1beta1'),
    toStored: claimToStored,
    fromStored: claimFromStored,
    strategy: claimStrategy(inStoredForm(claimToStored)),
    subresources: { status: claimStatus(inStoredForm(claimToStored)) },
  });

export const ResourceClaimV1alpha3: Kind<ResourceClaimV1alpha3, ResourceClaimV1alpha3Input, 'Namespaced', 'status'> =
  anotherVersion(ResourceClaim, {
    apiVersion: `${serviceGroup('resource')}/v1alpha3`,
    lifecycle: { introducedIn: '1.31' },
    body: () => shape('v1alpha3'),
    toStored: claimToStored,
    fromStored: claimFromStored,
    strategy: claimStrategy(inStoredForm(claimToStored)),
    subresources: { status: claimStatus(inStoredForm(claimToStored)) },
  });
