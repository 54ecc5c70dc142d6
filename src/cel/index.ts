/**
 * The Common Expression Language: text in, issues or a program out. This is the door of the folder; the contract is in
 * `engine.ts`, the values in `values.ts`, the types in `types.ts`.
 */

import type { CelIssue } from './ast.js';
import { check } from './check/check.js';
import type { CheckedExpression, Compiled, Environment, Program } from './engine.js';
import { plan } from './evaluate/plan.js';
import { issuesText, parse, TextSource } from './parse/index.js';

export { check } from './check/check.js';
export { createEnvironment } from './environment.js';
export { celEquals } from './equality.js';
export { plan, planParsed } from './evaluate/plan.js';
export { ArrayList, EntryMap, JsonList, JsonMap, jsonValue } from './evaluate/views.js';
export { issuesText, parse } from './parse/index.js';
export { STANDARD_LIBRARY } from './standard/index.js';

/**
 * Parses and checks. With issues, `text` is all of them as clients see them.
 */
export function compile(text: string, environment: Environment): Compiled {
  const parsed = parse(text, environment.macros);
  if ('issues' in parsed) return refused(text, parsed.issues);
  const checked = check(parsed, environment);
  return 'issues' in checked ? refused(text, checked.issues) : { checked };
}

/** Throws a CelError for an expression that can never run; see {@link plan}. */
export function program(checked: CheckedExpression, environment: Environment): Program {
  return plan(checked, environment);
}

function refused(text: string, issues: readonly CelIssue[]): Compiled {
  return { issues, text: issuesText(new TextSource(text), issues) };
}
