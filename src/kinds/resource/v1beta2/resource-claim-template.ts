/**
 * The ResourceClaimTemplate kind: the template for the claims of pods. Its spec is immutable.
 */
import { childPath, type FieldError, forbidden, invalid } from '../../../meta/field-error.js';
import { labelErrors } from '../../../meta/labels.js';
import type { ApiObject, ObjectMetaInput } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ResourceClaimTemplateKind,
  type ResourceClaimTemplateObject,
  resourceClaimTemplateBase,
} from '../../generated/resource-v1beta2.js';
import type { StrategyContext, StrategyDefinition } from '../../kind.js';
import { annotationErrors } from '../../shared/annotations.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import {
  type AnyClaimSpec,
  adminAccessProblems,
  checkAdminAccess,
  defaultRequests,
  dropDisabledRequestFields,
} from '../claim-features.js';
import { deviceClaimProblems } from '../rules/claim.js';
import { dumpTemplateSpec } from '../rules/dump.js';
import type { StoredOptions } from '../rules/selection.js';
import { comparableSpec } from './resource-claim.js';

/** The metadata fields that a template must not set, with their spelling in messages, in message order. */
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

export interface ResourceClaimTemplate extends ResourceClaimTemplateObject {}

/** A template of any version. */
interface AnyTemplate {
  readonly spec: { readonly spec: AnyClaimSpec };
}

/**
 * The strategy of templates of any version; `stored` converts an object to v1beta2.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function templateStrategy<Template extends AnyTemplate>(
  stored: (object: ApiObject & Template) => ResourceClaimTemplate,
): StrategyDefinition<Template> {
  return {
    delete: { returnDeletedObject: true },
    update: {
      validationOrder: ['metadata', 'update', 'create'],
      prepare: (draft, live, { features }) =>
        dropDisabledRequestFields(draft.spec.spec, features, { spec: live.spec.spec }),
      // As for claims: the spec is immutable and therefore stored already. The rules of a new object follow.
      validate: (next, live) => {
        const template = stored(next);
        return [...specProblems(template, { stored: true }), ...changeProblems(template, stored(live))];
      },
    },
    decode: { defaults: (draft) => defaultRequests(draft.spec.spec) },
    write: { allocate },
    create: {
      prepare: (draft, { features }) => dropDisabledRequestFields(draft.spec.spec, features),
      validate: (object) => [...adminAccessProblems(object), ...specProblems(stored(object))],
    },
  };
}

export const ResourceClaimTemplate: ResourceClaimTemplateKind<ResourceClaimTemplate> = defineBuiltIn({
  ...resourceClaimTemplateBase,
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [nameColumn, ageColumn],
  strategy: templateStrategy((object) => object),
});

function allocate(draft: AnyTemplate, live: AnyTemplate | undefined, context: StrategyContext): undefined {
  if (live === undefined) checkAdminAccess(draft, draft.spec.spec, context);
}

function specProblems(object: ResourceClaimTemplate, options: StoredOptions = {}): FieldError[] {
  const { metadata, spec } = object.spec;
  return [
    ...templateMetaProblems('spec.metadata', metadata),
    ...deviceClaimProblems('spec.spec.devices', spec.devices, options),
  ];
}

function changeProblems(next: ResourceClaimTemplate, live: ResourceClaimTemplate): FieldError[] {
  const comparable = ({ spec }: ResourceClaimTemplate) => ({ ...spec, spec: comparableSpec(spec.spec) });
  if (deepEqual(comparable(next), comparable(live))) return [];
  return [invalid('spec', dumpTemplateSpec(next.spec), 'field is immutable')];
}

function templateMetaProblems(path: string, metadata: ObjectMetaInput): FieldError[] {
  const given = metadata as Readonly<Record<string, unknown>>;
  // An absent creation time is null.
  const refused = Object.entries(NOT_FOR_TEMPLATES).filter(([field]) => (given[field] ?? null) !== null);
  return [
    ...annotationErrors(metadata.annotations ?? {}, childPath(path, 'annotations')),
    ...labelErrors(metadata.labels ?? {}, childPath(path, 'labels')),
    ...refused.map(([, spelling]) => forbidden(childPath(path, spelling), 'cannot be set')),
  ];
}
