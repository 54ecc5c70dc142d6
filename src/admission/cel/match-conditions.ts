/**
 * Match conditions: expressions that all have to hold, or a webhook or a policy does not look at a request. One that is
 * false decides, whatever is wrong with the others.
 */
import { CONDITION, compileExpression } from '../../kinds/admissionregistration/expressions/compile.js';
import { admissionEnvironment } from '../../kinds/admissionregistration/expressions/environment.js';
import type { MatchCondition } from '../../kinds/admissionregistration/v1/match-resources.js';
import { CONDITIONS_BUDGET, evaluateSet, type NamedExpression, type Scope } from './evaluate.js';
import { type ExpressionInput, variablesOf } from './input.js';

export type ConditionVerdict =
  | { readonly matches: true; readonly error?: undefined }
  /** `failed`: the name of the condition that is false; absent where conditions fail and are let fail. */
  | { readonly matches: false; readonly failed?: string; readonly error?: undefined }
  /** It cannot be told, and whoever asked does not let it go at that. */
  | { readonly matches?: undefined; readonly error: string };

type FailurePolicy = 'Fail' | 'Ignore' | undefined;

/** For webhooks: they have no parameters, no variables and no namespace to look at. */
export function webhookConditions(
  conditions: readonly MatchCondition[] | undefined,
  failurePolicy: FailurePolicy,
  input: ExpressionInput,
): ConditionVerdict {
  if (conditions === undefined || conditions.length === 0) return MATCHES;
  const scope = { given: variablesOf(input, { authorizer: true }) };
  return judgeConditions(compiledConditions(conditions), failurePolicy, scope);
}

export interface CompiledCondition extends NamedExpression {
  readonly name: string;
}

const MATCHES: ConditionVerdict = Object.freeze({ matches: true });

/** Lists of stored objects never change, so that each is compiled once. */
const compiledLists = new WeakMap<readonly MatchCondition[], readonly CompiledCondition[]>();

function compiledConditions(conditions: readonly MatchCondition[]): readonly CompiledCondition[] {
  let compiled = compiledLists.get(conditions);
  if (compiled === undefined) {
    const environment = admissionEnvironment({ authorizer: true, stored: true });
    compiled = conditions.map(({ name, expression }) => ({
      name,
      text: expression,
      compiled: compileExpression(expression, environment, CONDITION),
    }));
    compiledLists.set(conditions, compiled);
  }
  return compiled;
}

export function judgeConditions(
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
