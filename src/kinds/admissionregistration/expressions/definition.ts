/**
 * Validates expressions when a policy or webhook is written: compiler errors become field errors.
 */
import { type FieldError, fieldError, invalid } from '../../../meta/field-error.js';
import { ANYTHING, CONDITION, compileExpression, type ExpressionError, type Results } from './compile.js';
import { admissionEnvironment, type ExpressionScope, VariableTypes } from './environment.js';

/** The expressions of the live object. */
export type Accepted = ReadonlySet<string>;

/** For a field whose expressions are always validated as new. */
export const NONE_ACCEPTED: Accepted = new Set();

/** The path, scope and result types of an expression. */
export interface Expected {
  readonly path: string;
  readonly results: Results;
  readonly scope: ExpressionScope;
  /** The value in errors, if it is not the compiled text. */
  readonly shown?: string;
}

/** Validates the expressions of one policy in order; later ones can use its variables. */
export class DefinedExpressions {
  readonly #params: boolean;
  readonly #variables: VariableTypes | undefined;

  /** `composes`: the environment declares `variables`. It does not for policies without variables. */
  constructor({ params, composes }: { readonly params: boolean; readonly composes: boolean }) {
    this.#params = params;
    this.#variables = composes ? new VariableTypes() : undefined;
  }

  /** Validates a variable and declares it for later expressions, even if it is invalid: the error is reported once. */
  variable(name: string, text: string, { path, stored }: { readonly path: string; readonly stored: boolean }) {
    const environment = admissionEnvironment({ params: this.#params, authorizer: true, stored }, this.#variables);
    const { error, type } = compileExpression(text, environment, ANYTHING);
    this.#variables?.add(name, type);
    return error === undefined ? [] : [errorAt(path, text, error)];
  }

  check(text: string, { path, results, scope, shown = text }: Expected): FieldError[] {
    const environment = admissionEnvironment({ params: this.#params, ...scope }, this.#variables);
    const { error } = compileExpression(text, environment, results);
    return error === undefined ? [] : [errorAt(path, shown, error)];
  }
}

/** Validates a match condition, which cannot use the policy's variables. */
export function conditionErrors(text: string, path: string, scope: ExpressionScope): FieldError[] {
  const { error } = compileExpression(text, admissionEnvironment({ authorizer: true, ...scope }), CONDITION);
  return error === undefined ? [] : [errorAt(path, text, error)];
}

function errorAt(path: string, text: string, { detail, isInternal }: ExpressionError): FieldError {
  return isInternal ? fieldError('internal', path, { detail }) : invalid(path, text, detail);
}
