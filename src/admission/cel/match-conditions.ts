/**
 * Match conditions: a webhook or policy applies only if all of its conditions are true. A condition that is false
 * decides, even if others fail.
 */
import { CONDITION, compileExpression } from '../../kinds/admissionregistration/expressions/compile.js';
import { admissionEnvironment } from '../../kinds/admissionregistration/expressions/environment.js';
import type { MatchCondition } from '../../kinds/generated/admissionregistration-v1.js';
import { getOrInsertComputed } from '../../util/once.js';
import {
  CONDITIONS_BUDGET,
  type CompiledVariables,
  evaluateSet,
  type NamedExpression,
  type Scope,
  scopeOf,
} from './evaluate.js';
import { type ExpressionInput, variablesOf } from './input.js';

export type ConditionVerdict =
  | { readonly matches: true; readonly error?: undefined }
  /** `failed` is the name of the false condition; absent if conditions fail and the failure policy is Ignore. */
  | { readonly matches: false; readonly failed?: string; readonly error?: undefined }
  /** The conditions cannot be evaluated, and the failure policy is Fail. */
  | { readonly matches?: undefined; readonly error: string };

type FailurePolicy = 'Fail' | 'Ignore' | undefined;

/** For webhooks: their conditions have no params, variables or namespaceObject. */
export function webhookConditions(
  conditions: readonly MatchCondition[] | undefined,
  failurePolicy: FailurePolicy,
  input: ExpressionInput,
): ConditionVerdict {
  if (conditions === undefined || conditions.length === 0) return MATCHES;
  const scope = { given: variablesOf(input, { authorizer: true }) };
  const compiled = getOrInsertComputed(compiledLists, conditions, () => compileConditions(conditions));
  return evaluateConditions(compiled, failurePolicy, scope);
}

/** For policies: their conditions have no namespaceObject, and see the requested resource instead of the matched one. */
export function policyConditions(
  policy: { readonly conditions: readonly CompiledCondition[]; readonly variables: CompiledVariables },
  failurePolicy: FailurePolicy,
  input: ExpressionInput,
): ConditionVerdict {
  const given = variablesOf({ ...input, resource: input.request.served.gvr }, { authorizer: true });
  return evaluateConditions(policy.conditions, failurePolicy, scopeOf(policy.variables, given));
}

export interface CompiledCondition extends NamedExpression {
  readonly name: string;
}

const MATCHES: ConditionVerdict = Object.freeze({ matches: true });

/** Lists in stored objects never change, so each is compiled once. */
const compiledLists = new WeakMap<readonly MatchCondition[], readonly CompiledCondition[]>();

export function compileConditions(
  conditions: readonly MatchCondition[] = [],
  environment = admissionEnvironment({ authorizer: true, stored: true }),
): readonly CompiledCondition[] {
  return conditions.map(({ name, expression: text }) => ({
    name,
    text,
    compiled: compileExpression(text, environment, CONDITION),
  }));
}

function evaluateConditions(
  conditions: readonly CompiledCondition[],
  failurePolicy: FailurePolicy,
  scope: Scope,
): ConditionVerdict {
  const failing = (error: string): ConditionVerdict => (failurePolicy === 'Ignore' ? { matches: false } : { error });
  const outcome = evaluateSet(conditions, scope, CONDITIONS_BUDGET);
  if (outcome.stop !== undefined) return failing(outcome.stop);
  const { evaluations } = outcome;
  const at = evaluations.findIndex(({ value }) => value === false);
  const failed = conditions[at];
  if (failed !== undefined) return { matches: false, failed: failed.name };
  const errors = new Set(evaluations.flatMap(({ error }) => error ?? []));
  if (errors.size === 0) return MATCHES;
  const [first = '', ...more] = errors;
  return failing(more.length === 0 ? first : `[${[first, ...more].join(', ')}]`);
}
