/**
 * Evaluates a set of expressions one after the other, against one budget. An expression that fails is a result like any
 * other; a budget that is spent ends the whole set.
 */
import type { Variables } from '../../cel/engine.js';
import type { CelValue } from '../../cel/values.js';
import type { CompiledExpression } from '../../kinds/admissionregistration/expressions/compile.js';
import type { VariableValues } from './variables.js';

/** What one evaluation may cost. */
export const EXPRESSION_BUDGET = 1_000_000;

/** What the match conditions of a webhook, or of a policy with one binding and one parameter, may cost together. */
export const CONDITIONS_BUDGET = 2_500_000;

/** The same for everything else in a policy. */
export const POLICY_BUDGET = 10_000_000;

export interface NamedExpression {
  readonly text: string;
  readonly compiled: CompiledExpression;
}

export type Evaluation =
  | { readonly value: CelValue; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: string };

export type SetOutcome =
  | { readonly evaluations: readonly Evaluation[]; readonly budgetLeft: number; readonly stop?: undefined }
  /** Why nothing more was evaluated; what was, counts for nothing. */
  | { readonly stop: string };

export interface Scope {
  readonly given: Variables;
  /** Absent where expressions cannot look at any. */
  readonly variables?: VariableValues;
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

export function evaluateSet(expressions: readonly NamedExpression[], scope: Scope, budget: number): SetOutcome {
  const evaluations: Evaluation[] = [];
  let left = budget;
  for (const { text, compiled } of expressions) {
    if (compiled.error !== undefined) {
      evaluations.push({ error: `compilation error: ${compiled.error.detail}` });
      continue;
    }
    const seen = scope.variables?.scope ?? scope.given;
    const outcome = compiled.program.evaluate(seen, { costLimit: EXPRESSION_BUDGET });
    left -= (scope.variables?.takeCost() ?? 0) + outcome.cost;
    if (left < 0) return { stop: OUT_OF_BUDGET };
    evaluations.push(
      outcome.error === undefined
        ? { value: outcome.value }
        : { error: `expression '${text}' resulted in error: ${outcome.error.message}` },
    );
  }
  return { evaluations, budgetLeft: left };
}
