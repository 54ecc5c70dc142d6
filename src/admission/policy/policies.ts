/**
 * Reads and compiles the ValidatingAdmissionPolicies that have a binding. The result is cached until a policy or binding
 * changes, so that a request without policies costs two lookups.
 */

import {
  ANNOTATION,
  ANYTHING,
  CONDITION,
  type CompiledExpression,
  compileExpression,
  MESSAGE,
  type Results,
} from '../../kinds/admissionregistration/expressions/compile.js';
import { admissionEnvironment, VariableTypes } from '../../kinds/admissionregistration/expressions/environment.js';
import type {
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../kinds/generated/admissionregistration-v1.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { DeepReadonly } from '../../meta/object.js';
import type { CompiledVariables, NamedExpression } from '../cel/evaluate.js';
import type { CompiledCondition } from '../cel/match-conditions.js';
import type { ClusterView } from '../types.js';

export type PolicySpec = DeepReadonly<ValidatingAdmissionPolicySpec>;

export interface BoundPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  /** At least one, sorted by name. */
  readonly bindings: readonly Binding[];
}

export interface Binding {
  readonly name: string;
  readonly spec: DeepReadonly<ValidatingAdmissionPolicyBindingSpec>;
}

const GROUP = serviceGroup('admissionregistration');
const POLICIES = { group: GROUP, resource: 'validatingadmissionpolicies' };
export const BINDINGS = { group: GROUP, resource: 'validatingadmissionpolicybindings' };

type PolicyView = Pick<ClusterView, 'lastChange' | 'list'>;

/** Sorted by name. */
export function boundPolicies(view: PolicyView): readonly BoundPolicy[] {
  return cachedPolicies(view);
}

function readPolicies(view: PolicyView): readonly BoundPolicy[] {
  const bindingsOf = new Map<string, Binding[]>();
  for (const binding of view.list(BINDINGS)) {
    const spec = binding['spec'] as Binding['spec'];
    const { policyName = '' } = spec;
    const bindings = bindingsOf.get(policyName) ?? [];
    bindings.push({ name: binding.metadata.name, spec });
    bindingsOf.set(policyName, bindings);
  }
  if (bindingsOf.size === 0) return [];
  return view.list(POLICIES).flatMap(({ metadata: { name }, spec }) => {
    const bindings = bindingsOf.get(name);
    return bindings === undefined ? [] : [{ name, spec: spec as PolicySpec, bindings }];
  });
}

const cachedPolicies = cacheUntilChanged({ policies: POLICIES, bindings: BINDINGS }, readPolicies);

type WriteCounter = Pick<ClusterView, 'lastChange'>;

/** Wraps a reader of policies: it reads again only after one of the two resources changed. */
export function cacheUntilChanged<View extends WriteCounter, Policy>(
  resources: { readonly policies: GroupResource; readonly bindings: GroupResource },
  read: (view: View) => readonly Policy[],
): (view: View) => readonly Policy[] {
  const cache = new WeakMap<View, { policies: number; bindings: number; read: readonly Policy[] }>();
  return (view) => {
    const policies = view.lastChange(resources.policies);
    const bindings = view.lastChange(resources.bindings);
    let last = cache.get(view);
    if (last === undefined || last.policies !== policies || last.bindings !== bindings) {
      last = { policies, bindings, read: read(view) };
      cache.set(view, last);
    }
    return last.read;
  };
}

export interface CompiledPolicy {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly conditions: readonly CompiledCondition[];
  readonly variables: CompiledVariables;
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

const compiledSpecs = new WeakMap<PolicySpec, CompiledPolicy>();

export function compiledPolicy(spec: PolicySpec): CompiledPolicy {
  let compiled = compiledSpecs.get(spec);
  if (compiled === undefined) {
    compiled = compilePolicy(spec);
    compiledSpecs.set(spec, compiled);
  }
  return compiled;
}

function compilePolicy(spec: PolicySpec): CompiledPolicy {
  const { matchConditions = [], validations = [], auditAnnotations = [], failurePolicy = 'Fail' } = spec;
  const params = spec.paramKind !== undefined;
  const types = new VariableTypes();
  const inPolicy = admissionEnvironment({ params, authorizer: true, stored: true }, types);
  // Message expressions have no authorizer.
  const inMessages = admissionEnvironment({ params, stored: true }, types);
  const variables = new Map<string, CompiledExpression>();
  for (const { name, expression } of spec.variables ?? []) {
    const variable = compileExpression(expression, inPolicy, ANYTHING);
    types.add(name, variable.type);
    variables.set(name, variable);
  }
  const compile = (text: string, results: Results): NamedExpression => ({
    text,
    compiled: compileExpression(text, inPolicy, results),
  });
  return {
    failurePolicy,
    conditions: matchConditions.map(({ name, expression }) => ({ name, ...compile(expression, CONDITION) })),
    variables,
    validations: validations.map(({ expression, message = '', reason, messageExpression = '' }) => ({
      ...compile(expression, CONDITION),
      message,
      reason,
      messageExpression:
        messageExpression === ''
          ? undefined
          : { text: messageExpression, compiled: compileExpression(messageExpression, inMessages, MESSAGE) },
    })),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      ...compile(valueExpression, ANNOTATION),
    })),
  };
}
