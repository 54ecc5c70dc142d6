/**
 * The MutatingAdmissionPolicyBinding kind: where a MutatingAdmissionPolicy applies, and with which parameters.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import type { ClusterObject, InputBase } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type MutatingAdmissionPolicyBindingBody,
  type MutatingAdmissionPolicyBindingBodyDraft,
  type MutatingAdmissionPolicyBindingBodyInput,
  mutatingAdmissionPolicyBindingBody,
} from '../../generated/admissionregistration-v1alpha1.js';
import type { Kind } from '../../kind.js';
import { specGeneration } from '../../shared/strategies.js';
import { authorizeParamRef, MUTATING_BINDINGS } from '../v1/param-access.js';
import { bindingColumns, bindingSpecErrors, OWN_POLICY_TYPES, operationErrors } from '../v1/policy-parts.js';

export interface MutatingAdmissionPolicyBinding
  extends ClusterObject<'MutatingAdmissionPolicyBinding'>,
    MutatingAdmissionPolicyBindingBody {}
export interface MutatingAdmissionPolicyBindingDraft
  extends ClusterObject<'MutatingAdmissionPolicyBinding'>,
    MutatingAdmissionPolicyBindingBodyDraft {}
export interface MutatingAdmissionPolicyBindingInput extends InputBase, MutatingAdmissionPolicyBindingBodyInput {}

export const MutatingAdmissionPolicyBinding: Kind<
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingInput,
  'Cluster',
  never,
  MutatingAdmissionPolicyBindingDraft
> = defineBuiltIn({
  apiVersion: `${serviceGroup('admissionregistration')}/v1alpha1`,
  kind: 'MutatingAdmissionPolicyBinding',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.32' },
  names: { categories: ['api-extensions'] },
  body: mutatingAdmissionPolicyBindingBody,
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
