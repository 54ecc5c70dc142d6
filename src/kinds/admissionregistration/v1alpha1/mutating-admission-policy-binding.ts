/**
 * MutatingAdmissionPolicyBinding: where a MutatingAdmissionPolicy applies, and with which parameters.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { always, defaultedPointer, optional, pointer } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { specGeneration } from '../../shared/strategies.js';
import { labelSelector } from '../../shared/types.js';
import { OWN_POLICY_TYPES } from '../own-types.js';
import { matchResources } from '../v1/match-resources.js';
import { MUTATING_BINDINGS, permitParamRef } from '../v1/param-access.js';
import { bindingColumns, bindingSpecErrors, parameterNotFoundAction } from '../v1/policy-parts.js';
import { operationErrors } from './operations.js';

/** As in v1, with a default for what happens when there are no parameters. */
const paramRefShape = () => ({
  name: optional(z.string()),
  namespace: optional(z.string()),
  selector: pointer(labelSelector()),
  parameterNotFoundAction: defaultedPointer(parameterNotFoundAction(), 'Deny'),
});
interface ParamRef extends Output<typeof paramRefShape> {}
interface ParamRefInput extends Input<typeof paramRefShape> {}
const paramRef: Type<ParamRef, ParamRefInput> = type('v1alpha1.ParamRef', paramRefShape, { atomic: true });

const specShape = () => ({
  policyName: optional(z.string()),
  paramRef: pointer(paramRef()),
  matchResources: pointer(matchResources()),
});
export interface MutatingAdmissionPolicyBindingSpec extends Output<typeof specShape> {}
export interface MutatingAdmissionPolicyBindingSpecInput extends Input<typeof specShape> {}
const bindingSpec: Type<MutatingAdmissionPolicyBindingSpec, MutatingAdmissionPolicyBindingSpecInput> = type(
  'v1alpha1.MutatingAdmissionPolicyBindingSpec',
  specShape,
);

const shape = () => ({ spec: always(bindingSpec()) });
export interface MutatingAdmissionPolicyBinding extends ObjectBase, Output<typeof shape> {}
export interface MutatingAdmissionPolicyBindingInput extends InputBase, Input<typeof shape> {}

export const MutatingAdmissionPolicyBinding: Kind<
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingInput,
  'Cluster',
  never
> = defineBuiltIn({
  apiVersion: `${serviceGroup('admissionregistration')}/v1alpha1`,
  kind: 'MutatingAdmissionPolicyBinding',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.32' },
  names: { categories: ['api-extensions'] },
  body: shape,
  ownTypes: OWN_POLICY_TYPES,
  strategy: {
    create: { metadata: 'plain', validate },
    update: { unconditional: false, steps: ['whole'] },
    write: { generation: specGeneration, authorizeValidated: permitParamRef(MUTATING_BINDINGS) },
  },
  columns: bindingColumns(specOf),
});

function specOf(object: ApiObject): MutatingAdmissionPolicyBindingSpec {
  return (object as unknown as MutatingAdmissionPolicyBinding).spec;
}

function validate(object: ApiObject): readonly FieldError[] {
  const spec = specOf(object);
  const { matchResources: match } = spec;
  return [...bindingSpecErrors(spec), ...(match === undefined ? [] : operationErrors(match, 'spec.matchResources'))];
}
