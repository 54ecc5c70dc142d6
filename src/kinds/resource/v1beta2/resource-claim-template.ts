/**
 * ResourceClaimTemplate: the claims that pods get for their own. It cannot be changed.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid } from '../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import type { Input, Output } from '../../../schema/type.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, PowerContext, Strategy } from '../../kind.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { adminAccessProblems, checkAdminAccess } from '../admin-access.js';
import { type AnyClaimSpec, defaultRequests, dropDisabledRequestFields } from '../claim-features.js';
import { deviceClaimProblems } from '../rules/claim.js';
import { dumpTemplateSpec } from '../rules/dump.js';
import type { StoredOptions } from '../rules/selection.js';
import { templateMetaProblems } from '../rules/template-meta.js';
import { resourceClaimTemplateSpec } from '../schema/claim.js';
import { comparableSpec, type InStoredForm } from './resource-claim.js';

const shape = () => ({ spec: resourceClaimTemplateSpec() });
export interface ResourceClaimTemplate extends ObjectBase, Output<typeof shape> {}
export interface ResourceClaimTemplateInput extends InputBase, Input<typeof shape> {}

/**
 * The ways of a template, in the form of any version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function templateStrategy(stored: InStoredForm): Partial<Strategy> {
  return {
    deleteReturnsObject: true,
    updateSteps: ['metadata', 'change', 'whole'],
    defaults: (draft) => defaultRequests(claimOf(draft)),
    allocate,
    prepareForCreate: (draft, { features }) => dropDisabledRequestFields(claimOf(draft), features),
    prepareForUpdate: (draft, live, { features }) =>
      dropDisabledRequestFields(claimOf(draft), features, { spec: claimOf(live) }),
    validate: (object) => [...adminAccessProblems(object), ...specProblems(stored(object))],
    // As with claims: what is there was stored before, and the rules of a new one follow.
    validateUpdate: (next, live) => {
      const template = stored(next);
      return [...specProblems(template, { stored: true }), ...changeProblems(template, stored(live))];
    },
  };
}

export const ResourceClaimTemplate: Kind<ResourceClaimTemplate, ResourceClaimTemplateInput, 'Namespaced', never> =
  defineBuiltIn({
    apiVersion: `${serviceGroup('resource')}/v1beta2`,
    kind: 'ResourceClaimTemplate',
    scope: 'Namespaced',
    lifecycle: { introducedIn: '1.33' },
    gate: 'DynamicResourceAllocation',
    columns: [nameColumn, ageColumn],
    body: shape,
    strategy: templateStrategy((object) => object),
  });

function claimOf(object: ApiObject | DraftObject): AnyClaimSpec {
  return (object as unknown as { readonly spec: { readonly spec: AnyClaimSpec } }).spec.spec;
}

function allocate(draft: DraftObject, live: ApiObject | undefined, context: PowerContext): undefined {
  if (live === undefined) checkAdminAccess(draft, claimOf(draft), context);
}

function specProblems(object: ApiObject, options: StoredOptions = {}): FieldError[] {
  const { metadata, spec } = (object as unknown as ResourceClaimTemplate).spec;
  return [
    ...templateMetaProblems('spec.metadata', metadata),
    ...deviceClaimProblems('spec.spec.devices', spec.devices, options),
  ];
}

function changeProblems(next: ApiObject, live: ApiObject): FieldError[] {
  const { spec } = next as unknown as ResourceClaimTemplate;
  const { spec: before } = live as unknown as ResourceClaimTemplate;
  if (deepEqual({ ...spec, spec: comparableSpec(spec.spec) }, { ...before, spec: comparableSpec(before.spec) }))
    return [];
  return [invalid('spec', dumpTemplateSpec(spec), 'field is immutable')];
}
