/**
 * Expressions where they are defined: what the compiler says against them, as errors of their fields.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { fieldError, invalid } from '../../../meta/field-error.js';
import type { ExpressionError, Results } from './compile.js';
import { ANYTHING, CONDITION, compileExpression } from './compile.js';
import { admissionEnvironment, type ExpressionScope } from './environment.js';
import { VariableTypes } from './variable-types.js';

/** Texts that were accepted before an update. */
export type Accepted = ReadonlySet<string>;

export const NOTHING_ACCEPTED: Accepted = new Set();

/** Where an expression stands, and what it must give. */
export interface Expected {
  readonly path: string;
  readonly results: Results;
  readonly scope: ExpressionScope;
  /** What an error shows in place of the text that was compiled. */
  readonly shown?: string;
}

/** The expressions of one policy, which may use its variables. They are checked in the order in which they stand. */
export class DefinedExpressions {
  readonly #params: boolean;
  readonly #variables: VariableTypes | undefined;

  /** `composes`: there is something called `variables`. A policy without any does not know the word. */
  constructor({ params, composes }: { readonly params: boolean; readonly composes: boolean }) {
    this.#params = params;
    this.#variables = composes ? new VariableTypes() : undefined;
  }

  /** Later expressions may use it, also when it is wrong: that is said once. */
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

/** A condition under which a webhook or a policy sees a request. It knows no variables of a policy. */
export function conditionErrors(text: string, path: string, scope: ExpressionScope): FieldError[] {
  const { error } = compileExpression(text, admissionEnvironment({ authorizer: true, ...scope }), CONDITION);
  return error === undefined ? [] : [errorAt(path, text, error)];
}

function errorAt(path: string, text: string, { detail, isInternal }: ExpressionError): FieldError {
  return isInternal ? fieldError('internal', path, { detail }) : invalid(path, text, detail);
}
