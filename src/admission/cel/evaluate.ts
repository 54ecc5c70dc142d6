/**
 * Evaluates the CEL expressions of policies and match conditions one after the other against a shared cost budget. A
 * failing expression yields an error result; an exhausted budget stops the whole set.
 */
import { CelError, CelObject, type CelValue, type Variables } from '../../cel/index.js';
import { unescapeName } from '../../crd/rules/escape.js';
import type { CompiledExpression } from '../../kinds/admissionregistration/expressions/compile.js';
import { VARIABLES_TYPE } from '../../kinds/admissionregistration/expressions/environment.js';
import { quote } from '../../text/go/go-text.js';
import { getOrInsertComputed } from '../../util/once.js';

export type CompiledVariables = ReadonlyMap<string, CompiledExpression>;

/** The cost limit of a single evaluation. */
export const EXPRESSION_BUDGET = 1_000_000;

/** The cost limit of all match conditions of a webhook, or of a policy with one binding and one parameter. */
export const CONDITIONS_BUDGET = 2_500_000;

/** The cost limit of all other expressions of a policy, per binding and parameter. */
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
  /** Why the evaluation stopped; the results so far are discarded. */
  | { readonly stop: string };

export interface Scope {
  readonly given: Variables;
  /** Absent where expressions have no `variables`. */
  readonly variables?: VariableValues;
}

/** Each set of expressions evaluates its own variables. */
export function scopeOf(variables: CompiledVariables, given: Variables): Scope {
  return variables.size === 0 ? { given } : { given, variables: new VariableValues(variables, given) };
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

class VariableValues extends CelObject {
  readonly typeName = VARIABLES_TYPE.name;
  readonly #compiled: CompiledVariables;
  readonly #values = new Map<string, CelValue | CelError>();
  /** For expressions that may use `variables`: the policy's variables, and this object as `variables`. */
  readonly scope: Variables;
  #cost = 0;

  constructor(compiled: CompiledVariables, given: Variables) {
    super();
    this.#compiled = compiled;
    this.scope = new Map(given).set('variables', this);
  }

  /** Returns and resets the cost spent on variables since the last call. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  get(field: string): CelValue | undefined {
    const name = unescapeName(field);
    const compiled = name === undefined ? undefined : this.#compiled.get(name);
    if (name === undefined || compiled === undefined) return undefined;
    const value = getOrInsertComputed(this.#values, name, () => this.#evaluate(name, compiled));
    if (value instanceof CelError) throw value;
    return value;
  }

  has(field: string): boolean {
    return this.get(field) !== undefined;
  }

  fieldNames(): readonly string[] {
    return [...this.#compiled.keys()];
  }

  override equals(other: CelValue): boolean {
    if (other instanceof VariableValues) return other === this;
    throw new CelError('no such overload');
  }

  #evaluate(name: string, { program, error }: CompiledExpression): CelValue | CelError {
    if (error !== undefined)
      return new CelError(`composited variable ${quote(name)} fails to compile: ${error.detail}`);
    const outcome = program.evaluate(this.scope, { costLimit: EXPRESSION_BUDGET });
    this.#cost += outcome.cost;
    if (outcome.error === undefined) return outcome.value;
    return new CelError(`composited variable ${quote(name)} fails to evaluate: ${outcome.error.message}`);
  }
}
