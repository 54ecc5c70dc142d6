/**
 * Compiles expressions of policies and webhooks, with the reference server's error messages. Validation reports them as
 * field errors; evaluation reports those of stored expressions.
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

/** The allowed result types of an expression; undefined: any. */
export type Results = readonly CelType[] | undefined;

/** A condition returns a bool. */
export const CONDITION: Results = [BOOL];
/** A message expression returns a string. */
export const MESSAGE: Results = [STRING];
/** An audit annotation is a string or null. */
export const ANNOTATION: Results = [STRING, NULL];
/** Any result type. */
export const ANYTHING: Results = undefined;

/** A program or the reason why there is none. */
export type CompiledExpression =
  | { readonly program: Program; readonly type: CelType; readonly error?: undefined }
  | { readonly program?: undefined; readonly type?: undefined; readonly error: ExpressionError };

/** The reason why an expression has no program. */
export interface ExpressionError {
  readonly detail: string;
  /** The expression type-checks, but no program can be built. */
  readonly isInternal: boolean;
}

/** Compiles an expression and checks its result type. */
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

/** The program, or the reason why a type-checked expression cannot be planned. */
function programOf(checked: CheckedExpression, environment: Environment): Program | string {
  const { provider } = environment;
  for (const [id, reference] of checked.references) {
    if (reference.type !== 'variable' || reference.value !== undefined) continue;
    // In a message construction the name is not a value.
    if (checked.types.get(id)?.kind !== 'type') continue;
    // These type names exist only in the checker.
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
