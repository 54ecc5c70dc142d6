/** Compiles an expression: parse, then check. */
import type { CelIssue } from './ast.js';
import { check } from './check/check.js';
import type { Compiled, Environment } from './engine.js';
import { parse } from './parse/parse.js';
import { issuesText, TextSource } from './parse/source.js';

/** Parses and checks an expression. If there are issues, `text` holds all of them, formatted as API clients see them. */
export function compile(text: string, environment: Environment): Compiled {
  const parsed = parse(text, environment.macros);
  if ('issues' in parsed) return withIssues(text, parsed.issues);
  const checked = check(parsed, environment);
  return 'issues' in checked ? withIssues(text, checked.issues) : { checked };
}

function withIssues(text: string, issues: readonly CelIssue[]): Compiled {
  return { issues, text: issuesText(new TextSource(text), issues) };
}
