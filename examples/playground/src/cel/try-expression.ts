/**
 * One expression, evaluated as the server would evaluate it: the same libraries, the same messages, the same costs.
 *
 * The library has no public door to its engine (rules and policies are its users), so this file, alone in the playground,
 * reaches for the sources.
 */
import { type CelValue, compile, DYN, jsonValue, plan, storedEnvironment } from '../../../../src/cel/index.js';
import { celText, typeText } from './cel-text.js';
import { readVariables, VariablesError } from './variables.js';

export interface Issue {
  readonly message: string;
  /** Of the expression, counted from zero. */
  readonly offset: number;
  /** Counted from one. */
  readonly line: number;
  readonly column: number;
}

export type Tried =
  | {
      readonly state: 'value';
      readonly text: string;
      readonly type: string;
      readonly isTrue: boolean;
      readonly cost: number;
    }
  /** It ran, and failed. */
  | { readonly state: 'failed'; readonly message: string; readonly cost: number }
  /** It cannot run. `text` is all of it as clients see it. */
  | { readonly state: 'issues'; readonly issues: readonly Issue[]; readonly text: string }
  /** The variables cannot be read. */
  | { readonly state: 'unread'; readonly message: string };

/** What one expression of a rule or a policy may cost. */
export const COST_LIMIT = 1_000_000;

/** `variables` is YAML: each key of it is a variable. What it holds has types only when it runs. */
export function tryExpression(expression: string, variables: string): Tried {
  let values: Readonly<Record<string, unknown>>;
  try {
    values = readVariables(variables);
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    return { state: 'unread', message: error.message };
  }
  const types = Object.fromEntries(Object.keys(values).map((name) => [name, DYN]));
  const environment = storedEnvironment().extend({ variables: types });
  const compiled = compile(expression, environment);
  if (compiled.issues !== undefined) {
    const issues = compiled.issues.map(({ message, offset }) => ({ message, offset, ...place(expression, offset) }));
    return { state: 'issues', issues, text: compiled.text };
  }
  const given = new Map<string, CelValue>(Object.entries(values).map(([name, value]) => [name, jsonValue(value)]));
  const outcome = plan(compiled.checked, environment).evaluate(given, { costLimit: COST_LIMIT });
  if (outcome.error !== undefined) return { state: 'failed', message: outcome.error.message, cost: outcome.cost };
  const { value, cost } = outcome;
  return { state: 'value', text: celText(value), type: typeText(value), isTrue: value === true, cost };
}

/** Offsets count code points. */
function place(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = [...text].slice(0, Math.max(0, offset)).join('').split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}
