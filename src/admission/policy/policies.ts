/**
 * The policies of a cluster that are put to use by a binding. Worked out again when one of them has changed; where there
 * are none, asking costs two look-ups.
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
import { admissionEnvironment } from '../../kinds/admissionregistration/expressions/environment.js';
import { VariableTypes } from '../../kinds/admissionregistration/expressions/variable-types.js';
import type { ValidatingAdmissionPolicySpec } from '../../kinds/admissionregistration/v1/validating-admission-policy.js';
import type { ValidatingAdmissionPolicyBindingSpec } from '../../kinds/admissionregistration/v1/validating-admission-policy-binding.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { DeepReadonly } from '../../meta/object.js';
import type { CompiledVariables, NamedExpression } from '../cel/evaluate.js';
import type { CompiledCondition } from '../cel/match-conditions.js';
import type { ClusterView } from '../types.js';

const compiledSpecs = new WeakMap<PolicySpec, CompiledPolicy>();

export interface BoundPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  /** At least one, by their names. */
  readonly bindings: readonly Binding[];
}

export interface Binding {
  readonly name: string;
  readonly spec: DeepReadonly<ValidatingAdmissionPolicyBindingSpec>;
}

const GROUP = serviceGroup('admissionregistration');
const POLICIES = { group: GROUP, resource: 'validatingadmissionpolicies' };
export const BINDINGS = { group: GROUP, resource: 'validatingadmissionpolicybindings' };

type PolicyView = Pick<ClusterView, 'changes' | 'list'>;

/** By their names. */
export function boundPolicies(view: PolicyView): readonly BoundPolicy[] {
  return knownPolicies(view);
}

function readPolicies(view: PolicyView): readonly BoundPolicy[] {
  const bindingsOf = new Map<string, Binding[]>();
  for (const binding of view.list(BINDINGS) as readonly unknown[] as readonly StoredBinding[]) {
    const { policyName = '' } = binding.spec;
    const bindings = bindingsOf.get(policyName) ?? [];
    bindings.push({ name: binding.metadata.name, spec: binding.spec });
    bindingsOf.set(policyName, bindings);
  }
  if (bindingsOf.size === 0) return [];
  return (view.list(POLICIES) as readonly unknown[] as readonly StoredPolicy[]).flatMap(({ metadata, spec }) => {
    const bindings = bindingsOf.get(metadata.name);
    return bindings === undefined ? [] : [{ name: metadata.name, spec, bindings }];
  });
}

interface StoredPolicy {
  readonly metadata: { readonly name: string };
  readonly spec: PolicySpec;
}

interface StoredBinding {
  readonly metadata: { readonly name: string };
  readonly spec: Binding['spec'];
}

const knownPolicies = readOncePerChange({ policies: POLICIES, bindings: BINDINGS }, readPolicies);

type Changes = Pick<ClusterView, 'changes'>;

/** A reader of policies that reads again only when one of the two resources has changed. */
export function readOncePerChange<View extends Changes, Policy>(
  resources: { readonly policies: GroupResource; readonly bindings: GroupResource },
  read: (view: View) => readonly Policy[],
): (view: View) => readonly Policy[] {
  const known = new WeakMap<View, { policies: number; bindings: number; read: readonly Policy[] }>();
  return (view) => {
    const policies = view.changes(resources.policies);
    const bindings = view.changes(resources.bindings);
    let last = known.get(view);
    if (last === undefined || last.policies !== policies || last.bindings !== bindings) {
      last = { policies, bindings, read: read(view) };
      known.set(view, last);
    }
    return last.read;
  };
}

export type PolicySpec = DeepReadonly<ValidatingAdmissionPolicySpec>;

export interface CompiledPolicy {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly conditions: readonly CompiledCondition[];
  readonly variables: CompiledVariables;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CompiledAnnotation[];
}

export interface CompiledValidation extends NamedExpression {
  /** Both as they were written; empty: there is none. */
  readonly message: string;
  readonly reason: string | undefined;
  readonly messageExpression: NamedExpression | undefined;
}

export interface CompiledAnnotation extends NamedExpression {
  readonly key: string;
}

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
  // Messages are given no say in who may do what.
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
