/**
 * Reads and compiles the ValidatingAdmissionPolicies and MutatingAdmissionPolicies that have a binding. The result is
 * cached until a policy or binding changes, so that a request without policies costs two lookups.
 */

import { listOf } from '../../cel/index.js';
import {
  ANNOTATION,
  ANYTHING,
  CONDITION,
  type CompiledExpression,
  compileExpression,
  MESSAGE,
} from '../../kinds/admissionregistration/expressions/compile.js';
import { admissionEnvironment, VariableTypes } from '../../kinds/admissionregistration/expressions/environment.js';
import { JSON_PATCH_TYPE, OBJECT_TYPE } from '../../kinds/admissionregistration/expressions/patch-types.js';
import type {
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../kinds/generated/admissionregistration-v1.js';
import type {
  MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicySpec,
} from '../../kinds/generated/admissionregistration-v1alpha1.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { DeepReadonly } from '../../meta/object.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { CompiledVariables, NamedExpression } from '../cel/evaluate.js';
import { type CompiledCondition, compileConditions } from '../cel/match-conditions.js';
import { cacheUntilChanged } from '../idle.js';
import type { ClusterView } from '../types.js';

interface BoundPolicy<Spec extends object, BindingSpec, Compiled> {
  readonly name: string;
  readonly spec: Spec;
  /** At least one, sorted by name. */
  readonly bindings: readonly { readonly name: string; readonly spec: BindingSpec }[];
  /** Compiles on the first call. */
  readonly compiled: () => Compiled;
}

export type PolicySpec = DeepReadonly<ValidatingAdmissionPolicySpec>;
export type ValidatingPolicy = BoundPolicy<
  PolicySpec,
  DeepReadonly<ValidatingAdmissionPolicyBindingSpec>,
  CompiledPolicy
>;
export type MutatingPolicy = BoundPolicy<
  DeepReadonly<MutatingAdmissionPolicySpec>,
  DeepReadonly<MutatingAdmissionPolicyBindingSpec>,
  CompiledMutatingPolicy
>;

const GROUP = serviceGroup('admissionregistration');
export const POLICIES = { group: GROUP, resource: 'validatingadmissionpolicies' };
export const BINDINGS = { group: GROUP, resource: 'validatingadmissionpolicybindings' };
const MUTATING_POLICIES = { group: GROUP, resource: 'mutatingadmissionpolicies' };
export const MUTATING_BINDINGS = { group: GROUP, resource: 'mutatingadmissionpolicybindings' };

type PolicyReader<Policy> = (view: ClusterView) => readonly Policy[];

/** Sorted by name. */
export const validatingPolicies: PolicyReader<ValidatingPolicy> = /* @__PURE__ */ policyReader(
  POLICIES,
  BINDINGS,
  compilePolicy,
);

const storedMutatingPolicies: PolicyReader<MutatingPolicy> = /* @__PURE__ */ policyReader(
  MUTATING_POLICIES,
  MUTATING_BINDINGS,
  compileMutatingPolicy,
);

/** Sorted by name; empty if the feature gate is disabled. */
export function mutatingPolicies(view: ClusterView): readonly MutatingPolicy[] {
  return view.features.enabled('MutatingAdmissionPolicy') ? storedMutatingPolicies(view) : [];
}

function policyReader<Spec extends object, BindingSpec extends { readonly policyName?: string | undefined }, Compiled>(
  policies: GroupResource,
  bindings: GroupResource,
  compile: (spec: Spec) => Compiled,
): PolicyReader<BoundPolicy<Spec, BindingSpec, Compiled>> {
  const compiledSpecs = new WeakMap<Spec, Compiled>();
  return cacheUntilChanged([policies, bindings], (view: ClusterView) => {
    const bindingsOf = new Map<string, { readonly name: string; readonly spec: BindingSpec }[]>();
    for (const binding of view.list(bindings)) {
      const spec = binding['spec'] as BindingSpec;
      const bound = getOrInsertComputed(bindingsOf, spec.policyName ?? '', () => []);
      bound.push({ name: binding.metadata.name, spec });
    }
    if (bindingsOf.size === 0) return [];
    return view.list(policies).flatMap((policy) => {
      const { name } = policy.metadata;
      const spec = policy['spec'] as Spec;
      const compiled = () => getOrInsertComputed(compiledSpecs, spec, compile);
      const bound = bindingsOf.get(name);
      return bound === undefined ? [] : [{ name, spec, bindings: bound, compiled }];
    });
  });
}

interface CompiledParts {
  readonly conditions: readonly CompiledCondition[];
  readonly variables: CompiledVariables;
}

export interface CompiledPolicy extends CompiledParts {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CompiledAnnotation[];
}

export interface CompiledValidation extends NamedExpression {
  /** As written in the spec; empty if absent. */
  readonly message: string;
  readonly reason: string | undefined;
  readonly messageExpression: NamedExpression | undefined;
}

export interface CompiledAnnotation extends NamedExpression {
  readonly key: string;
}

interface CompiledMutatingPolicy extends CompiledParts {
  readonly mutations: readonly CompiledMutation[];
}

/** The expression yields an object to merge, or the operations of a JSON patch. */
export interface CompiledMutation extends NamedExpression {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
}

/** The parts that both kinds of policies have, and the environments for their other expressions. */
function compileParts(spec: PolicySpec | MutatingPolicy['spec']) {
  const types = new VariableTypes();
  const environment = (options: { readonly authorizer?: boolean; readonly patches?: boolean }) =>
    admissionEnvironment({ params: spec.paramKind !== undefined, stored: true, ...options }, types);
  const inPolicy = environment({ authorizer: true });
  const variables = new Map<string, CompiledExpression>();
  for (const { name, expression } of spec.variables ?? []) {
    const variable = compileExpression(expression, inPolicy, ANYTHING);
    types.add(name, variable.type);
    variables.set(name, variable);
  }
  return { environment, inPolicy, parts: { conditions: compileConditions(spec.matchConditions, inPolicy), variables } };
}

export function compilePolicy(spec: PolicySpec): CompiledPolicy {
  const { validations = [], auditAnnotations = [], failurePolicy = 'Fail' } = spec;
  const { environment, inPolicy, parts } = compileParts(spec);
  // Message expressions have no authorizer.
  const inMessages = environment({});
  return {
    ...parts,
    failurePolicy,
    validations: validations.map(({ expression: text, message = '', reason, messageExpression = '' }) => ({
      text,
      compiled: compileExpression(text, inPolicy, CONDITION),
      message,
      reason,
      messageExpression:
        messageExpression === ''
          ? undefined
          : { text: messageExpression, compiled: compileExpression(messageExpression, inMessages, MESSAGE) },
    })),
    annotations: auditAnnotations.map(({ key, valueExpression: text }) => ({
      key,
      text,
      compiled: compileExpression(text, inPolicy, ANNOTATION),
    })),
  };
}

function compileMutatingPolicy(spec: MutatingPolicy['spec']): CompiledMutatingPolicy {
  const { environment, parts } = compileParts(spec);
  const inPatches = environment({ authorizer: true, patches: true });
  return {
    ...parts,
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
      const isApplied = patchType === 'ApplyConfiguration';
      const { expression: text = '' } = (isApplied ? applyConfiguration : jsonPatch) ?? {};
      const results = [isApplied ? OBJECT_TYPE : listOf(JSON_PATCH_TYPE)];
      return { type: patchType, text, compiled: compileExpression(text, inPatches, results) };
    }),
  };
}
