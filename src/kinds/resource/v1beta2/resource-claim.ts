/**
 * The ResourceClaim kind: a request for devices and its allocation. The spec is immutable.
 */
import type { FieldError } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ResourceClaimKind,
  type ResourceClaimObject,
  type ResourceClaimStatus,
  resourceClaimBase,
} from '../../generated/resource-v1beta2.js';
import type { HookContext, StrategyContext, StrategyDefinition } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableErrors } from '../../shared/field-rules.js';
import { statusSubresource } from '../../shared/strategies.js';
import type { SubresourceStrategy } from '../../subresource.js';
import {
  type AnyClaimSpec,
  adminAccessProblems,
  checkAdminAccess,
  checkAllocatedAdminAccess,
  defaultRequests,
  dropDeallocatedDevices,
  dropDisabledRequestFields,
  dropDisabledStatusFields,
} from '../claim-features.js';
import { deviceClaimProblems } from '../rules/claim.js';
import { claimStatusProblems } from '../rules/claim-status.js';
import { dumpClaimSpec } from '../rules/dump.js';
import type { StoredOptions } from '../rules/selection.js';

export interface ResourceClaim extends ResourceClaimObject {}

/** A claim of any version. */
interface AnyClaim {
  readonly spec: AnyClaimSpec;
  readonly status: ResourceClaimStatus;
}

/**
 * The strategy of claims of any version; `stored` converts an object to v1beta2, in which the rules are written.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function claimStrategy<Claim extends AnyClaim>(
  stored: (object: ApiObject & Claim) => ResourceClaim,
): StrategyDefinition<Claim> {
  return {
    write: { separateStatus: true, allocate },
    delete: { returnDeletedObject: true },
    update: {
      validationOrder: ['metadata', 'update', 'create'],
      prepare: (draft, live, { features }) => dropDisabledRequestFields(draft.spec, features, live),
      // The spec is immutable and therefore stored already. The rules of a new claim follow.
      validate: (next, live) => {
        const claim = stored(next);
        return [...specProblems(claim, { stored: true }), ...changeProblems(claim, stored(live))];
      },
    },
    decode: { defaults: (draft) => defaultRequests(draft.spec) },
    create: {
      prepare: (draft, { features }) => dropDisabledRequestFields(draft.spec, features),
      validate: (object) => [...adminAccessProblems(object), ...specProblems(stored(object))],
    },
  };
}

/**
 * The status subresource of claims of any version, see {@link claimStrategy}.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function claimStatus<Claim extends AnyClaim>(
  stored: (object: ApiObject & Claim) => ResourceClaim,
): SubresourceStrategy<Claim> {
  return statusSubresource<Claim>({
    tables: false,
    metadata: 'kept',
    ownableFields: { except: ['spec'] },
    lookUp: checkAllocatedAdminAccess,
    prepare: prepareStatus,
    validate: (next, live) => [...adminAccessProblems(next), ...statusProblems(stored(next), stored(live))],
  });
}

export const ResourceClaim: ResourceClaimKind<ResourceClaim> = defineBuiltIn({
  ...resourceClaimBase,
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [nameColumn, textColumn('State', 'Whether it is pending, allocated or reserved.', stateOf), ageColumn],
  strategy: claimStrategy((object) => object),
  subresources: { status: claimStatus((object) => object) },
});

function allocate(draft: AnyClaim, live: AnyClaim | undefined, context: StrategyContext): undefined {
  if (live === undefined) checkAdminAccess(draft, draft.spec, context);
}

function specProblems(object: ResourceClaim, options: StoredOptions = {}): FieldError[] {
  return deviceClaimProblems('spec.devices', object.spec.devices, options);
}

function changeProblems(next: ResourceClaim, live: ResourceClaim): FieldError[] {
  const { spec } = next;
  return immutableErrors('spec', comparableSpec(spec), comparableSpec(live.spec), () => dumpClaimSpec(spec));
}

/** The spec for comparisons: an absent list of requests equals an empty one. */
export function comparableSpec({ devices }: ResourceClaim['spec']): ResourceClaim['spec'] {
  return { devices: { ...devices, requests: devices.requests ?? [] } };
}

function prepareStatus({ status }: AnyClaim, live: AnyClaim, { features }: HookContext): void {
  dropDeallocatedDevices(status, features, live.status);
  dropDisabledStatusFields(status, features, live);
}

function statusProblems(next: ResourceClaim, live: ResourceClaim): FieldError[] {
  const { spec, status, metadata } = next;
  return claimStatusProblems('status', status, {
    before: live.status,
    claim: spec.devices,
    isDeleted: (metadata.deletionTimestamp ?? null) !== null,
  });
}

function stateOf(object: ResourceClaim): string {
  const { metadata, status } = object;
  const isDeleted = (metadata.deletionTimestamp ?? null) !== null;
  const states = isDeleted ? ['deleted'] : [];
  if (status.allocation !== undefined) {
    states.push('allocated');
    if ((status.reservedFor ?? []).length > 0) states.push('reserved');
  } else if (!isDeleted) states.push('pending');
  return states.join(',');
}
