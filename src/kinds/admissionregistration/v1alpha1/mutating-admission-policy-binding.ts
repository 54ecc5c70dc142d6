/**
 * The MutatingAdmissionPolicyBinding kind: where a MutatingAdmissionPolicy applies, and with which parameters.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type MutatingAdmissionPolicyBindingKind,
  type MutatingAdmissionPolicyBindingObject,
  mutatingAdmissionPolicyBindingBase,
} from '../../generated/admissionregistration-v1alpha1.js';
import { specGeneration } from '../../shared/strategies.js';
import { authorizeParamRef, MUTATING_BINDINGS } from '../v1/param-access.js';
import { bindingColumns, bindingSpecErrors, OWN_POLICY_TYPES, operationErrors } from '../v1/policy-parts.js';

export interface MutatingAdmissionPolicyBinding extends MutatingAdmissionPolicyBindingObject {}

export const MutatingAdmissionPolicyBinding: MutatingAdmissionPolicyBindingKind<MutatingAdmissionPolicyBinding> =
  defineBuiltIn({
    ...mutatingAdmissionPolicyBindingBase,
    lifecycle: { introducedIn: '1.32' },
    names: { categories: ['api-extensions'] },
    ownTypes: OWN_POLICY_TYPES,
    strategy: {
      create: { metadataValidation: 'repeated', validate },
      update: { allowUnconditionalUpdate: false, validationOrder: ['create'] },
      write: { generation: specGeneration, authorizeValidated: authorizeParamRef(MUTATING_BINDINGS) },
    },
    columns: bindingColumns,
  });

function validate({ spec }: MutatingAdmissionPolicyBinding): readonly FieldError[] {
  const { matchResources: match } = spec;
  return [...bindingSpecErrors(spec), ...(match === undefined ? [] : operationErrors(match, 'spec.matchResources'))];
}
