/**
 * Evaluates one expression as the server does: the same libraries, messages and costs.
 *
 * The library has no public API for its CEL engine, so this folder, alone in the playground, imports from the library's
 * sources.
 */
import {
  type CelValue,
  compile,
  DYN,
  jsonValue,
  plan,
  storedExpressionsEnvironment,
} from '../../../../src/cel/index.js';
import { celText, typeText } from './cel-text.js';
import { readVariables, VariablesError } from './variables.js';

export interface Issue {
  readonly message: string;
  /** The offset in the expression, from zero. */
  readonly offset: number;
  /** From one. */
  readonly line: number;
  readonly column: number;
}

export type EvaluationResult =
  | {
      readonly state: 'value';
      readonly text: string;
      readonly type: string;
      readonly isTrue: boolean;
      readonly cost: number;
    }
  /** The evaluation failed. */
  | { readonly state: 'failed'; readonly message: string; readonly cost: number }
  /** The expression does not compile. `text` is the whole message that clients get. */
  | { readonly state: 'issues'; readonly issues: readonly Issue[]; readonly text: string }
  /** The variables cannot be parsed. */
  | { readonly state: 'unread'; readonly message: string };

/** The cost limit of one expression of a rule or a policy. */
export const COST_LIMIT = 1_000_000;

/** `variables` is YAML: each key is a variable of dynamic type. */
export function tryExpression(expression: string, variables: string): EvaluationResult {
  let values: Readonly<Record<string, unknown>>;
  try {
    values = readVariables(variables);
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    return { state: 'unread', message: error.message };
  }
  const types = Object.fromEntries(Object.keys(values).map((name) => [name, DYN]));
  const environment = storedExpressionsEnvironment().extend({ variables: types });
  const compiled = compile(expression, environment);
  if (compiled.issues !== undefined) {
    const issues = compiled.issues.map(({ message, offset }) => ({
      message,
      offset,
      ...lineAndColumn(expression, offset),
    }));
    return { state: 'issues', issues, text: compiled.text };
  }
  const given = new Map<string, CelValue>(Object.entries(values).map(([name, value]) => [name, jsonValue(value)]));
  const outcome = plan(compiled.checked, environment).evaluate(given, { costLimit: COST_LIMIT });
  if (outcome.error !== undefined) return { state: 'failed', message: outcome.error.message, cost: outcome.cost };
  const { value, cost } = outcome;
  return { state: 'value', text: celText(value), type: typeText(value), isTrue: value === true, cost };
}

/** Converts an offset, which counts code points, to a line and a column. */
function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = [...text].slice(0, Math.max(0, offset)).join('').split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}
