/**
 * Reads and compiles the MutatingAdmissionPolicies that have a binding, sorted by name. The result is cached until a policy
 * or binding changes, so that a request without policies costs two lookups.
 */

import { listOf } from '../../cel/index.js';
import {
  ANYTHING,
  CONDITION,
  type CompiledExpression,
  compileExpression,
} from '../../kinds/admissionregistration/expressions/compile.js';
import { admissionEnvironment, VariableTypes } from '../../kinds/admissionregistration/expressions/environment.js';
import { JSON_PATCH_TYPE, OBJECT_TYPE } from '../../kinds/admissionregistration/expressions/patch-types.js';
import type {
  MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicySpec,
} from '../../kinds/generated/admissionregistration-v1alpha1.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { DeepReadonly } from '../../meta/object.js';
import { once } from '../../util/once.js';
import type { CompiledVariables, NamedExpression } from '../cel/evaluate.js';
import type { CompiledCondition } from '../cel/match-conditions.js';
import { cacheUntilChanged } from '../policy/policies.js';
import type { ClusterView } from '../types.js';

export type PolicySpec = DeepReadonly<MutatingAdmissionPolicySpec>;

export interface BoundPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  /** At least one, sorted by name. */
  readonly bindings: readonly Binding[];
  /** Compiles on the first call. */
  readonly compiled: () => CompiledPolicy;
}

export interface Binding {
  readonly name: string;
  readonly spec: DeepReadonly<MutatingAdmissionPolicyBindingSpec>;
}

export interface CompiledPolicy {
  readonly conditions: readonly CompiledCondition[];
  readonly variables: CompiledVariables;
  readonly mutations: readonly CompiledMutation[];
}

/** The expression yields an object to merge, or the operations of a JSON patch. */
export interface CompiledMutation extends NamedExpression {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
}

const GROUP = serviceGroup('admissionregistration');
const POLICIES = { group: GROUP, resource: 'mutatingadmissionpolicies' };
export const BINDINGS = { group: GROUP, resource: 'mutatingadmissionpolicybindings' };

type PolicyView = Pick<ClusterView, 'lastChange' | 'list' | 'features'>;

/** Empty if the feature gate is disabled. */
export function boundPolicies(view: PolicyView): readonly BoundPolicy[] {
  if (!view.features.enabled('MutatingAdmissionPolicy')) return NONE;
  return cachedPolicies(view);
}

const NONE: readonly BoundPolicy[] = Object.freeze([]);

function readPolicies(view: PolicyView): readonly BoundPolicy[] {
  const bindingsOf = new Map<string, Binding[]>();
  for (const binding of view.list(BINDINGS)) {
    const spec = binding['spec'] as Binding['spec'];
    const { policyName = '' } = spec;
    const bindings = bindingsOf.get(policyName) ?? [];
    bindings.push({ name: binding.metadata.name, spec });
    bindingsOf.set(policyName, bindings);
  }
  if (bindingsOf.size === 0) return NONE;
  return view.list(POLICIES).flatMap((policy) => {
    const { name } = policy.metadata;
    const spec = policy['spec'] as PolicySpec;
    const bindings = bindingsOf.get(name);
    return bindings === undefined ? [] : [{ name, spec, bindings, compiled: once(() => compilePolicy(spec)) }];
  });
}

function compilePolicy(spec: PolicySpec): CompiledPolicy {
  const params = spec.paramKind !== undefined;
  const types = new VariableTypes();
  const inPolicy = admissionEnvironment({ params, authorizer: true, stored: true }, types);
  const inPatches = admissionEnvironment({ params, authorizer: true, stored: true, patches: true }, types);
  const variables = new Map<string, CompiledExpression>();
  for (const { name, expression } of spec.variables ?? []) {
    const variable = compileExpression(expression, inPolicy, ANYTHING);
    types.add(name, variable.type);
    variables.set(name, variable);
  }
  return {
    conditions: (spec.matchConditions ?? []).map(({ name, expression }) => ({
      name,
      text: expression,
      compiled: compileExpression(expression, inPolicy, CONDITION),
    })),
    variables,
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
      const isApplied = patchType === 'ApplyConfiguration';
      const { expression: text = '' } = (isApplied ? applyConfiguration : jsonPatch) ?? {};
      const results = [isApplied ? OBJECT_TYPE : listOf(JSON_PATCH_TYPE)];
      return { type: patchType, text, compiled: compileExpression(text, inPatches, results) };
    }),
  };
}

const cachedPolicies = cacheUntilChanged({ policies: POLICIES, bindings: BINDINGS }, readPolicies);
