/**
 * MutatingAdmissionPolicy: changes to requests, written in CEL. What stands here are the policy's own rules.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { forbidden, keyPath, notSupported, required } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { always, mapList, optional, pointer, words } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { specGeneration } from '../../shared/strategies.js';
import {
  failurePolicy,
  matchCondition,
  matchResources,
  REINVOCATION_POLICIES,
  reinvocationPolicyWord,
} from '../v1/match-resources.js';
import { paramKind, policySpecErrors } from '../v1/policy-parts.js';

const expressionShape = () => ({ expression: optional(z.string()) });
interface PatchExpression extends Output<typeof expressionShape> {}
interface PatchExpressionInput extends Input<typeof expressionShape> {}
const applyConfiguration: Type<PatchExpression, PatchExpressionInput> = type(
  'v1alpha1.ApplyConfiguration',
  expressionShape,
);
const jsonPatch: Type<PatchExpression, PatchExpressionInput> = type('v1alpha1.JSONPatch', expressionShape);

const mutationShape = () => ({
  patchType: words<'ApplyConfiguration' | 'JSONPatch'>('v1alpha1.PatchType'),
  applyConfiguration: pointer(applyConfiguration()),
  jsonPatch: pointer(jsonPatch()),
});
export interface PolicyMutation extends Output<typeof mutationShape> {}
export interface PolicyMutationInput extends Input<typeof mutationShape> {}
const mutation: Type<PolicyMutation, PolicyMutationInput> = type('v1alpha1.Mutation', mutationShape);

/** Not merged by name, other than in the validating policies. */
const variableShape = () => ({ name: z.string(), expression: z.string() });
interface Variable extends Output<typeof variableShape> {}
interface VariableInput extends Input<typeof variableShape> {}
const variable: Type<Variable, VariableInput> = type('v1alpha1.Variable', variableShape);

const specShape = () => ({
  paramKind: pointer(paramKind()),
  matchConstraints: pointer(matchResources()),
  variables: optional(z.array(variable())),
  mutations: optional(z.array(mutation())),
  failurePolicy: failurePolicy(),
  matchConditions: optional(mapList(matchCondition(), 'name')),
  reinvocationPolicy: optional(reinvocationPolicyWord()),
});
export interface MutatingAdmissionPolicySpec extends Output<typeof specShape> {}
export interface MutatingAdmissionPolicySpecInput extends Input<typeof specShape> {}
const policySpec: Type<MutatingAdmissionPolicySpec, MutatingAdmissionPolicySpecInput> = type(
  'v1alpha1.MutatingAdmissionPolicySpec',
  specShape,
);

const shape = () => ({ spec: always(policySpec()) });
export interface MutatingAdmissionPolicy extends ObjectBase, Output<typeof shape> {}
export interface MutatingAdmissionPolicyInput extends InputBase, Input<typeof shape> {}

export const MutatingAdmissionPolicy: Kind<MutatingAdmissionPolicy, MutatingAdmissionPolicyInput, 'Cluster', never> =
  defineBuiltIn({
    apiVersion: `${serviceGroup('admissionregistration')}/v1alpha1`,
    kind: 'MutatingAdmissionPolicy',
    scope: 'Cluster',
    names: { plural: 'mutatingadmissionpolicies', categories: ['api-extensions'] },
    body: shape,
    strategy: { unconditionalUpdate: false, revalidatesOnUpdate: true, generation: specGeneration, validate },
    columns: [
      nameColumn,
      {
        name: 'Mutations',
        type: 'integer',
        description: 'How many changes it makes.',
        cell: (object) => (object as unknown as MutatingAdmissionPolicy).spec.mutations?.length ?? 0,
      },
      {
        name: 'ParamKind',
        type: 'string',
        description: 'The kind that its parameters have.',
        cell: (object) => paramKindCell((object as unknown as MutatingAdmissionPolicy).spec),
      },
      ageColumn,
    ],
  });

function paramKindCell({ paramKind: kind }: MutatingAdmissionPolicySpec): string {
  return kind === undefined ? '<unset>' : [kind.apiVersion ?? '', kind.kind ?? ''].filter(Boolean).join('/');
}

function validate(object: ApiObject): readonly FieldError[] {
  const { spec } = object as unknown as MutatingAdmissionPolicy;
  const { mutations = [], reinvocationPolicy } = spec;
  const found = policySpecErrors(spec);
  if (mutations.length === 0) found.push(required('spec.mutations', 'mutations must contain at least one item'));
  found.push(...mutations.flatMap((one, index) => mutationErrors(one, keyPath('spec.mutations', index))));
  if (reinvocationPolicy === undefined) found.push(required('spec.reinvocationPolicy'));
  else if (!REINVOCATION_POLICIES.includes(reinvocationPolicy)) {
    found.push(notSupported('spec.reinvocationPolicy', reinvocationPolicy, REINVOCATION_POLICIES));
  }
  return found;
}

const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'];

function mutationErrors(mutation: PolicyMutation, path: string): FieldError[] {
  const { applyConfiguration: apply, jsonPatch: patch } = mutation;
  const patchType: string = mutation.patchType;
  if (patchType === '') return [required(`${path}.patchType`)];
  if (!PATCH_TYPES.includes(patchType)) return [notSupported(`${path}.patchType`, patchType, PATCH_TYPES)];
  const [wanted, other] =
    patchType === 'JSONPatch' ? ['jsonPatch', 'applyConfiguration'] : ['applyConfiguration', 'jsonPatch'];
  const [given, stranger] = patchType === 'JSONPatch' ? [patch, apply] : [apply, patch];
  const found: FieldError[] = [];
  if (given === undefined)
    found.push(required(`${path}.${wanted}`, `must be specified when patchType is ${patchType}`));
  else if ((given.expression ?? '').trim() === '') {
    found.push(required(`${path}.${wanted}.expression`, 'expression is not specified'));
  }
  if (stranger !== undefined) {
    found.push(forbidden(`${path}.${other}`, `must not be specified when patchType is ${patchType}`));
  }
  return found;
}
