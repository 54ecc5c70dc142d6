/**
 * A policy whose expressions are compiled. That is done when a policy first matches a request, and kept as long as the
 * policy stays as it is: stored objects never change, so that each is known by itself.
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
import type { DeepReadonly } from '../../meta/object.js';
import type { NamedExpression } from '../cel/evaluate.js';
import type { CompiledCondition } from '../cel/match-conditions.js';
import type { CompiledVariables } from '../cel/variables.js';

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
