/**
 * The MutatingAdmissionPolicy kind: changes to requests, written in CEL. This file validates the policy; `admission/`
 * evaluates it.
 */

import { listOf } from '../../../cel/index.js';
import { type FieldError, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { append } from '../../../util/arrays.js';
import { own } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type MutatingAdmissionPolicyKind,
  type MutatingAdmissionPolicyObject,
  type MutatingAdmissionPolicySpec,
  type Mutation,
  mutatingAdmissionPolicyBase,
} from '../../generated/admissionregistration-v1alpha1.js';
import type { HookContext } from '../../kind.js';
import { valueErrors } from '../../shared/field-rules.js';
import { specGeneration } from '../../shared/strategies.js';
import type { Results } from '../expressions/compile.js';
import { type Accepted, DefinedExpressions, NONE_ACCEPTED } from '../expressions/definition.js';
import { JSON_PATCH_TYPE, OBJECT_TYPE } from '../expressions/patch-types.js';
import { REINVOCATION_POLICIES } from '../v1/match-resources.js';
import { authorizeParamKind } from '../v1/param-access.js';
import {
  acceptedTexts,
  conditionsAreUntouched,
  OWN_POLICY_TYPES,
  operationErrors,
  type PolicyValidationOptions,
  policyColumns,
  policySpecErrors,
} from '../v1/policy-parts.js';

export interface MutatingAdmissionPolicy extends MutatingAdmissionPolicyObject {}

export const MutatingAdmissionPolicy: MutatingAdmissionPolicyKind<MutatingAdmissionPolicy> = defineBuiltIn({
  ...mutatingAdmissionPolicyBase,
  lifecycle: { introducedIn: '1.32' },
  names: { plural: 'mutatingadmissionpolicies', categories: ['api-extensions'] },
  ownTypes: OWN_POLICY_TYPES,
  strategy: {
    create: { metadataValidation: 'repeated', validate },
    update: { allowUnconditionalUpdate: false, validationOrder: ['create'] },
    write: { generation: specGeneration, authorizeValidated: authorizeParamKind },
  },
  columns: policyColumns<MutatingAdmissionPolicy>(
    'Mutations',
    'The number of mutations.',
    (object) => object.spec.mutations?.length,
  ),
});

/** Options for the validation of one policy, with the live policy's patch expressions. */
interface ValidationOptions extends PolicyValidationOptions {
  readonly patches: Accepted;
}

function validationOptions(spec: MutatingAdmissionPolicySpec, live?: MutatingAdmissionPolicySpec): ValidationOptions {
  return {
    expressions: new DefinedExpressions({ params: spec.paramKind !== undefined, composes: true }),
    accepted: {
      conditions: acceptedTexts(live?.matchConditions?.map(({ expression }) => expression)),
      variables: NONE_ACCEPTED,
    },
    // As in the reference server, JSON patch expressions are compared with these too.
    patches: acceptedTexts(live?.mutations?.map(({ applyConfiguration: apply }) => apply?.expression)),
    ignoresConditions: conditionsAreUntouched(spec, live),
  };
}

function validate(
  object: MutatingAdmissionPolicy,
  _context: HookContext,
  live?: MutatingAdmissionPolicy,
): readonly FieldError[] {
  const { spec } = object;
  const { mutations = [], reinvocationPolicy } = spec;
  const judged = validationOptions(spec, live?.spec);
  const found = policySpecErrors(spec, judged, (match) => operationErrors(match, 'spec.matchConstraints'));
  if (mutations.length === 0) found.push(required('spec.mutations', 'mutations must contain at least one item'));
  append(
    found,
    mutations.flatMap((one, index) => mutationErrors(one, keyPath('spec.mutations', index), judged)),
  );
  // An empty value counts as absent.
  if (!reinvocationPolicy) found.push(required('spec.reinvocationPolicy'));
  else append(found, valueErrors('spec.reinvocationPolicy', reinvocationPolicy, REINVOCATION_POLICIES));
  return found;
}

/** The field and the result type of each patch type. */
const PATCHES: Readonly<Record<string, { readonly field: PatchField; readonly results: Results }>> = {
  ApplyConfiguration: { field: 'applyConfiguration', results: [OBJECT_TYPE] },
  JSONPatch: { field: 'jsonPatch', results: [listOf(JSON_PATCH_TYPE)] },
};

type PatchField = 'applyConfiguration' | 'jsonPatch';

function mutationErrors(mutation: Mutation, path: string, { expressions, patches }: ValidationOptions): FieldError[] {
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
    append(found, text === '' ? [required(at)] : expressions.check(text, { path: at, results, scope }));
  }
  const stranger = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  if (mutation[stranger] !== undefined) {
    const detail = `must not be specified when patchType is ${patchType}`;
    found.push(invalid(`${path}.${stranger}`, `{${stranger}}`, detail));
  }
  return found;
}
