/**
 * MutatingAdmissionPolicy: changes to requests, written in CEL. What stands here are the policy's own rules.
 */
import * as z from 'zod';
import { listOf } from '../../../cel/index.js';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { always, mapList, optional, pointer, enumString } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { own } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, WriteContext } from '../../kind.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { specGeneration } from '../../shared/strategies.js';
import type { Results } from '../expressions/compile.js';
import { type Accepted, DefinedExpressions, NOTHING_ACCEPTED } from '../expressions/definition.js';
import { JSON_PATCH_TYPE, OBJECT_TYPE } from '../expressions/patch-types.js';
import { OWN_POLICY_TYPES } from '../own-types.js';
import {
  failurePolicy,
  matchCondition,
  matchResources,
  REINVOCATION_POLICIES,
  reinvocationPolicyWord,
} from '../v1/match-resources.js';
import { permitParamKind } from '../v1/param-access.js';
import {
  acceptedTexts,
  conditionsAreUntouched,
  type PolicyJudgement,
  paramKind,
  policySpecErrors,
} from '../v1/policy-parts.js';
import { operationErrors } from './operations.js';

const expressionShape = () => ({ expression: optional(z.string()) });
interface PatchExpression extends Output<typeof expressionShape> {}
interface PatchExpressionInput extends Input<typeof expressionShape> {}
const applyConfiguration: Type<PatchExpression, PatchExpressionInput> = type(
  'v1alpha1.ApplyConfiguration',
  expressionShape,
);
const jsonPatch: Type<PatchExpression, PatchExpressionInput> = type('v1alpha1.JSONPatch', expressionShape);

const mutationShape = () => ({
  patchType: enumString<'ApplyConfiguration' | 'JSONPatch'>('v1alpha1.PatchType'),
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
    lifecycle: { introducedIn: '1.32' },
    names: { plural: 'mutatingadmissionpolicies', categories: ['api-extensions'] },
    body: shape,
    ownTypes: OWN_POLICY_TYPES,
    strategy: {
      create: { metadata: 'plain', validate },
      update: { unconditional: false, steps: ['whole'] },
      write: { generation: specGeneration, authorizeValidated: permitParamKind },
    },
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

/** Which texts of patches were there before. */
interface Judged extends PolicyJudgement {
  readonly patches: Accepted;
}

function judgementOf(spec: MutatingAdmissionPolicySpec, live?: MutatingAdmissionPolicySpec): Judged {
  return {
    expressions: new DefinedExpressions({ params: spec.paramKind !== undefined, composes: true }),
    accepted: {
      conditions: acceptedTexts(live?.matchConditions?.map(({ expression }) => expression)),
      variables: NOTHING_ACCEPTED,
    },
    // Steps of JSON patches are looked for among these too; that is how the reference server sees it.
    patches: acceptedTexts(live?.mutations?.map(({ applyConfiguration: apply }) => apply?.expression)),
    ignoresConditions: conditionsAreUntouched(spec, live),
  };
}

function validate(object: ApiObject, _context: WriteContext, live?: ApiObject): readonly FieldError[] {
  const { spec } = object as unknown as MutatingAdmissionPolicy;
  const { mutations = [], reinvocationPolicy } = spec;
  const judged = judgementOf(spec, (live as unknown as MutatingAdmissionPolicy | undefined)?.spec);
  const found = policySpecErrors(spec, judged, (match) => operationErrors(match, 'spec.matchConstraints'));
  if (mutations.length === 0) found.push(required('spec.mutations', 'mutations must contain at least one item'));
  found.push(...mutations.flatMap((one, index) => mutationErrors(one, keyPath('spec.mutations', index), judged)));
  // An empty word counts as none.
  if (!reinvocationPolicy) found.push(required('spec.reinvocationPolicy'));
  else if (!REINVOCATION_POLICIES.includes(reinvocationPolicy)) {
    found.push(notSupported('spec.reinvocationPolicy', reinvocationPolicy, REINVOCATION_POLICIES));
  }
  return found;
}

/** The field in which each type of patch stands, and what its expression gives. */
const PATCHES: Readonly<Record<string, { readonly field: PatchField; readonly results: Results }>> = {
  ApplyConfiguration: { field: 'applyConfiguration', results: [OBJECT_TYPE] },
  JSONPatch: { field: 'jsonPatch', results: [listOf(JSON_PATCH_TYPE)] },
};

type PatchField = 'applyConfiguration' | 'jsonPatch';

function mutationErrors(mutation: PolicyMutation, path: string, { expressions, patches }: Judged): FieldError[] {
  const patchType: string = mutation.patchType;
  if (patchType === '') return [required(`${path}.patchType`)];
  const patch = own(PATCHES, patchType);
  if (patch === undefined) return [notSupported(`${path}.patchType`, patchType, Object.keys(PATCHES))];
  const { field, results } = patch;
  const given = mutation[field];
  const found: FieldError[] = [];
  if (given === undefined) {
    found.push(required(`${path}.${field}`, `must be specified when patchType is ${patchType}`));
  } else {
    const { expression = '' } = given;
    const text = expression.trim();
    const at = `${path}.${field}.expression`;
    const scope = { authorizer: true, patches: true, stored: patches.has(expression) };
    found.push(...(text === '' ? [required(at)] : expressions.check(text, { path: at, results, scope })));
  }
  const stranger = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  if (mutation[stranger] !== undefined) {
    const detail = `must not be specified when patchType is ${patchType}`;
    found.push(invalid(`${path}.${stranger}`, `{${stranger}}`, detail));
  }
  return found;
}
