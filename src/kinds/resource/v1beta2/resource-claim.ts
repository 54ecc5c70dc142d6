/**
 * ResourceClaim: a wish for devices, and what has been found for it. The wish cannot be changed.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid } from '../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import {
  type ResourceClaimBody,
  type ResourceClaimBodyInput,
  type ResourceClaimStatus,
  resourceClaimBody,
} from '../../generated/resource-v1beta2.js';
import type { Kind, StrategyContext, StrategyDefinition, WriteContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { statusSubresource } from '../../shared/strategies.js';
import { adminAccessProblems, checkAdminAccess } from '../admin-access.js';
import {
  type AnyClaimSpec,
  defaultRequests,
  dropDeallocatedDevices,
  dropDisabledRequestFields,
  dropDisabledStatusFields,
} from '../claim-features.js';
import { deviceClaimProblems } from '../rules/claim.js';
import { claimStatusProblems } from '../rules/claim-status.js';
import { dumpClaimSpec } from '../rules/dump.js';
import type { StoredOptions } from '../rules/selection.js';

export interface ResourceClaim extends ObjectBase, ResourceClaimBody {}
export interface ResourceClaimInput extends InputBase, ResourceClaimBodyInput {}

/** A claim of any version, as far as the hooks look at it. */
interface AnyClaim {
  readonly spec: AnyClaimSpec;
  readonly status: ResourceClaimStatus;
}

/** How a version finds out what a claim is in v1beta2, where rules are written. */
export type InStoredForm = (object: ApiObject) => ApiObject;

/**
 * The ways of a claim, in the form of any version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function claimStrategy(stored: InStoredForm): StrategyDefinition {
  return {
    write: { separateStatus: true, allocate },
    delete: { returnsObject: true },
    update: {
      steps: ['metadata', 'change', 'whole'],
      prepare: (draft, live, { features }) =>
        dropDisabledRequestFields(specOf(draft), features, live as unknown as AnyClaim),
      // What cannot be changed was stored before. The rules of a new claim follow these.
      validate: (next, live) => {
        const claim = stored(next);
        return [...specProblems(claim, { stored: true }), ...changeProblems(claim, stored(live))];
      },
    },
    decode: { defaults: (draft) => defaultRequests(specOf(draft)) },
    create: {
      prepare: (draft, { features }) => dropDisabledRequestFields(specOf(draft), features),
      validate: (object) => [...adminAccessProblems(object), ...specProblems(stored(object))],
    },
  };
}

/** @__NO_SIDE_EFFECTS__ */
export function claimStatus(stored: InStoredForm): ReturnType<typeof statusSubresource> {
  return statusSubresource({
    tables: false,
    metadata: 'kept',
    ownableFields: { except: ['spec'] },
    prepare: prepareStatus,
    validate: (next, live) => statusProblems(stored(next), stored(live)),
  });
}

export const ResourceClaim: Kind<ResourceClaim, ResourceClaimInput, 'Namespaced', 'status'> = defineBuiltIn({
  apiVersion: `${serviceGroup('resource')}/v1beta2`,
  kind: 'ResourceClaim',
  scope: 'Namespaced',
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [nameColumn, textColumn('State', 'Whether it is pending, allocated or reserved.', stateOf), ageColumn],
  body: resourceClaimBody,
  strategy: claimStrategy((object) => object),
  subresources: { status: claimStatus((object) => object) },
});

function specOf(object: ApiObject | DraftObject): AnyClaimSpec {
  return (object as unknown as AnyClaim).spec;
}

function allocate(draft: DraftObject, live: ApiObject | undefined, context: StrategyContext): undefined {
  if (live === undefined) checkAdminAccess(draft, specOf(draft), context);
}

function specProblems(object: ApiObject, options: StoredOptions = {}): FieldError[] {
  return deviceClaimProblems('spec.devices', (object as unknown as ResourceClaim).spec.devices, options);
}

function changeProblems(next: ApiObject, live: ApiObject): FieldError[] {
  const { spec } = next as unknown as ResourceClaim;
  return deepEqual(comparableSpec(spec), comparableSpec((live as unknown as ResourceClaim).spec))
    ? []
    : [invalid('spec', dumpClaimSpec(spec), 'field is immutable')];
}

/** No requests and an empty list of them are the same. */
export function comparableSpec({ devices }: ResourceClaim['spec']): ResourceClaim['spec'] {
  return { devices: { ...devices, requests: devices.requests ?? [] } };
}

function prepareStatus(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  const { status } = draft as unknown as AnyClaim;
  const before = live as unknown as AnyClaim;
  dropDeallocatedDevices(status, features, before.status);
  dropDisabledStatusFields(status, features, before);
}

function statusProblems(next: ApiObject, live: ApiObject): FieldError[] {
  const { spec, status, metadata } = next as unknown as ResourceClaim;
  return claimStatusProblems('status', status, {
    before: (live as unknown as ResourceClaim).status,
    claim: spec.devices,
    isDeleted: (metadata.deletionTimestamp ?? null) !== null,
  });
}

function stateOf(object: ApiObject): string {
  const { metadata, status } = object as unknown as ResourceClaim;
  const isDeleted = (metadata.deletionTimestamp ?? null) !== null;
  const states = isDeleted ? ['deleted'] : [];
  if (status.allocation !== undefined) {
    states.push('allocated');
    if ((status.reservedFor ?? []).length > 0) states.push('reserved');
  } else if (!isDeleted) states.push('pending');
  return states.join(',');
}
