/**
 * From the text of an expression to a program, with what is wrong with it in the words of the reference server. Whoever
 * defines an expression hears it as an error of a field; whoever meets a stored one that is wrong, when it should run.
 */
import {
  BOOL,
  CelError,
  type CelType,
  type CheckedExpression,
  compile,
  describeType,
  type Environment,
  equivalentType,
  NULL,
  type Program,
  plan,
  STRING,
} from '../../../cel/index.js';

/** What an expression may give; undefined where anything will do. */
export type Results = readonly CelType[] | undefined;

export const CONDITION: Results = [BOOL];
export const MESSAGE: Results = [STRING];
export const ANNOTATION: Results = [STRING, NULL];
export const ANYTHING: Results = undefined;

export type CompiledExpression =
  | { readonly program: Program; readonly type: CelType; readonly error?: undefined }
  | { readonly program?: undefined; readonly type?: undefined; readonly error: ExpressionError };

export interface ExpressionError {
  readonly detail: string;
  /** No fault of the text as such: it has types, but no program can be made of it. */
  readonly isInternal: boolean;
}

export function compileExpression(text: string, environment: Environment, results: Results): CompiledExpression {
  const compiled = compile(text, environment);
  if (compiled.checked === undefined) return wrong(`compilation failed: ${compiled.text}`);
  const { checked } = compiled;
  const { resultType } = checked;
  if (results !== undefined && !results.some((type) => equivalentType(type, resultType))) {
    const [only, ...more] = results.map(describeType);
    const expected = more.length === 0 ? only : `one of [${[only, ...more].join(' ')}]`;
    return wrong(`must evaluate to ${expected} but got ${describeType(resultType)}`);
  }
  const program = programOf(checked, environment);
  if (typeof program !== 'string') return { program, type: resultType };
  return { error: { detail: `program instantiation failed: ${program}`, isInternal: true } };
}

function wrong(detail: string): CompiledExpression {
  return { error: { detail, isInternal: false } };
}

/** Some expressions that have types can never be run; then this is why. */
function programOf(checked: CheckedExpression, environment: Environment): Program | string {
  const { provider } = environment;
  for (const [id, reference] of checked.references) {
    if (reference.type !== 'variable' || reference.value !== undefined) continue;
    // Where an object of the type is made, its name is no value.
    if (checked.types.get(id)?.kind !== 'type') continue;
    // The names of these types are known to the checker only.
    const isHollow = provider.hasType(reference.name) || provider.namedType?.(reference.name) !== undefined;
    if (isHollow) return `reference to undefined type: ${reference.name}`;
  }
  try {
    return plan(checked, environment);
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  }
}
