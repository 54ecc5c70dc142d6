/**
 * ResourceClaimTemplate: the claims that pods get for their own. It cannot be changed.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid } from '../../../meta/field-error.js';
import { labelErrors } from '../../../meta/labels.js';
import type { ApiObject, DraftObject, ObjectMetaInput } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import {
  type ResourceClaimTemplateBody,
  type ResourceClaimTemplateBodyInput,
  resourceClaimTemplateBody,
} from '../../generated/resource-v1beta2.js';
import type { Kind, StrategyContext, StrategyDefinition } from '../../kind.js';
import { annotationErrors } from '../../shared/annotations.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { adminAccessProblems, checkAdminAccess } from '../admin-access.js';
import { type AnyClaimSpec, defaultRequests, dropDisabledRequestFields } from '../claim-features.js';
import { deviceClaimProblems } from '../rules/claim.js';
import { dumpTemplateSpec } from '../rules/dump.js';
import type { StoredOptions } from '../rules/selection.js';
import { comparableSpec, type InStoredForm } from './resource-claim.js';

/** Every other field, as messages spell it, in their order. */
const NOT_FOR_TEMPLATES: Readonly<Record<string, string>> = {
  name: 'name',
  generateName: 'generateName',
  namespace: 'namespace',
  selfLink: 'selfLink',
  uid: 'uID',
  resourceVersion: 'resourceVersion',
  generation: 'generation',
  creationTimestamp: 'creationTimestamp',
  deletionTimestamp: 'deletionTimestamp',
  deletionGracePeriodSeconds: 'deletionGracePeriodSeconds',
  ownerReferences: 'ownerReferences',
  finalizers: 'finalizers',
  managedFields: 'managedFields',
};

export interface ResourceClaimTemplate extends ObjectBase, ResourceClaimTemplateBody {}
export interface ResourceClaimTemplateInput extends InputBase, ResourceClaimTemplateBodyInput {}

/**
 * The ways of a template, in the form of any version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function templateStrategy(stored: InStoredForm): StrategyDefinition {
  return {
    delete: { returnsObject: true },
    update: {
      steps: ['metadata', 'change', 'whole'],
      prepare: (draft, live, { features }) =>
        dropDisabledRequestFields(claimOf(draft), features, { spec: claimOf(live) }),
      // As with claims: what is there was stored before, and the rules of a new one follow.
      validate: (next, live) => {
        const template = stored(next);
        return [...specProblems(template, { stored: true }), ...changeProblems(template, stored(live))];
      },
    },
    decode: { defaults: (draft) => defaultRequests(claimOf(draft)) },
    write: { allocate },
    create: {
      prepare: (draft, { features }) => dropDisabledRequestFields(claimOf(draft), features),
      validate: (object) => [...adminAccessProblems(object), ...specProblems(stored(object))],
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
    body: resourceClaimTemplateBody,
    strategy: templateStrategy((object) => object),
  });

function claimOf(object: ApiObject | DraftObject): AnyClaimSpec {
  return (object as unknown as { readonly spec: { readonly spec: AnyClaimSpec } }).spec.spec;
}

function allocate(draft: DraftObject, live: ApiObject | undefined, context: StrategyContext): undefined {
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

function templateMetaProblems(path: string, metadata: ObjectMetaInput): FieldError[] {
  const given = metadata as Readonly<Record<string, unknown>>;
  // An empty creation time is null.
  const refused = Object.entries(NOT_FOR_TEMPLATES).filter(([field]) => (given[field] ?? null) !== null);
  return [
    ...annotationErrors(metadata.annotations ?? {}, childPath(path, 'annotations')),
    ...labelErrors(metadata.labels ?? {}, childPath(path, 'labels')),
    ...refused.map(([, spelling]) => forbidden(childPath(path, spelling), 'cannot be set')),
  ];
}
