/**
 * The ResourceClaimTemplate kind: the template for the claims of pods. Its spec is immutable.
 */
import type { FieldError } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ResourceClaimTemplateKind,
  type ResourceClaimTemplateObject,
  resourceClaimTemplateBase,
} from '../../generated/resource-v1beta2.js';
import type { StrategyContext, StrategyDefinition } from '../../kind.js';
import { templateMetaProblems } from '../../shared/annotations.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { immutableErrors } from '../../shared/field-rules.js';
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
  return immutableErrors('spec', comparable(next), comparable(live), () => dumpTemplateSpec(next.spec));
}
