/**
 * `variables` of a policy: expressions with names, each evaluated when an expression first looks at it, and not again
 * while the same set of expressions is evaluated. What that costs is counted apart, and paid by whoever looked first.
 */
import type { Variables } from '../../cel/engine.js';
import { CelError, CelObject, type CelValue } from '../../cel/values.js';
import { unescapeName } from '../../crd/rules/escape.js';
import type { CompiledExpression } from '../../kinds/admissionregistration/expressions/compile.js';
import { VARIABLES_TYPE } from '../../kinds/admissionregistration/expressions/variable-types.js';
import { quote } from '../../text/go/go-text.js';
import { EXPRESSION_BUDGET } from './evaluate.js';

export type CompiledVariables = ReadonlyMap<string, CompiledExpression>;

export class VariableValues extends CelObject {
  readonly typeName = VARIABLES_TYPE.name;
  readonly #compiled: CompiledVariables;
  readonly #values = new Map<string, CelValue | CelError>();
  /** What the variables see: everything their policy sees, and one another. */
  readonly #scope: Variables;
  #cost = 0;

  constructor(compiled: CompiledVariables, given: Variables) {
    super();
    this.#compiled = compiled;
    this.#scope = new Map(given).set('variables', this);
  }

  /** For the expressions that may look at them. */
  get scope(): Variables {
    return this.#scope;
  }

  /** What has been spent since this was asked last. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  get(field: string): CelValue | undefined {
    const name = unescapeName(field);
    const compiled = name === undefined ? undefined : this.#compiled.get(name);
    if (name === undefined || compiled === undefined) return undefined;
    let value = this.#values.get(name);
    if (value === undefined) {
      value = this.#evaluate(name, compiled);
      this.#values.set(name, value);
    }
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
    const outcome = program.evaluate(this.#scope, { costLimit: EXPRESSION_BUDGET });
    this.#cost += outcome.cost;
    if (outcome.error === undefined) return outcome.value;
    return new CelError(`composited variable ${quote(name)} fails to evaluate: ${outcome.error.message}`);
  }
}
