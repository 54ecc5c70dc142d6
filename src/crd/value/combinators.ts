/**
 * The combinators `anyOf`, `oneOf`, `allOf` and `not`. If several alternatives all fail, the findings of the best
 * match are reported. There is no ratcheting inside combinators.
 */
import { quote } from '../../text/go/go-text.js';
import type { Finding, ValidateNode, ValidationRun } from './validation-run.js';

/** The compiled alternatives of a schema. */
export interface Combinators {
  readonly anyOf: readonly ValidateNode[];
  readonly oneOf: readonly ValidateNode[];
  readonly allOf: readonly ValidateNode[];
  readonly not: ValidateNode | undefined;
}

/** Validates a value against all combinators. Returns the number of matched keywords. */
export type CombinatorKeywords = (value: unknown, run: ValidationRun) => number;

/** Returns undefined if there are no combinators. */
export function combinatorKeywords({ anyOf, oneOf, allOf, not }: Combinators): CombinatorKeywords | undefined {
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined;
  return (value, run) => {
    let matchCount = 0;
    if (anyOf.length > 0) matchCount += checkAny(anyOf, value, run);
    if (oneOf.length > 0) matchCount += checkOne(oneOf, value, run);
    if (allOf.length > 0) matchCount += checkAll(allOf, value, run);
    if (not !== undefined) checkNot(not, value, run);
    return matchCount;
  };
}

/** The result of one alternative; without findings the value is valid. */
interface AlternativeResult {
  readonly matchCount: number;
  readonly findings: readonly Finding[];
}

function tryAlternative(check: ValidateNode, value: unknown, run: ValidationRun): AlternativeResult {
  const before = run.findings.length;
  const matchCount = check(value, run, undefined);
  return { matchCount, findings: run.findings.length === before ? NONE : run.removeSince(before) };
}

const NONE: readonly Finding[] = Object.freeze([]);

function checkAny(checks: readonly ValidateNode[], value: unknown, run: ValidationRun): number {
  let best: AlternativeResult | undefined;
  for (const check of checks) {
    const outcome = tryAlternative(check, value, run);
    if (outcome.findings.length === 0) return outcome.matchCount;
    best = bestMatch(best, outcome);
  }
  rejectAtPath(run, 'must validate at least one schema (anyOf)');
  return reportOutcome(best, run);
}

function checkOne(checks: readonly ValidateNode[], value: unknown, run: ValidationRun): number {
  let best: AlternativeResult | undefined;
  let first: AlternativeResult | undefined;
  let fitting = 0;
  for (const check of checks) {
    const outcome = tryAlternative(check, value, run);
    if (outcome.findings.length > 0) best = bestMatch(best, outcome);
    else {
      first ??= outcome;
      fitting++;
    }
  }
  if (fitting === 1) return first?.matchCount ?? 0;
  const count = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
  rejectAtPath(run, `must validate one and only one schema (oneOf). ${count}`);
  return fitting === 0 ? reportOutcome(best, run) : 0;
}

function checkAll(checks: readonly ValidateNode[], value: unknown, run: ValidationRun): number {
  let matchCount = 0;
  let fitting = 0;
  for (const check of checks) {
    const before = run.findings.length;
    matchCount += check(value, run, undefined);
    if (run.findings.length === before) fitting++;
  }
  if (fitting < checks.length) {
    rejectAtPath(run, `must validate all the schemas (allOf)${fitting === 0 ? '. None validated' : ''}`);
  }
  return matchCount;
}

function checkNot(check: ValidateNode, value: unknown, run: ValidationRun): void {
  if (tryAlternative(check, value, run).findings.length === 0) rejectAtPath(run, 'must not validate the schema (not)');
}

/** The first of the outcomes with the most matched keywords. */
function bestMatch(best: AlternativeResult | undefined, outcome: AlternativeResult): AlternativeResult {
  return best === undefined || outcome.matchCount > best.matchCount ? outcome : best;
}

function reportOutcome(outcome: AlternativeResult | undefined, run: ValidationRun): number {
  for (const finding of outcome?.findings ?? []) run.add(finding);
  return outcome?.matchCount ?? 0;
}

/** Adds a finding without a field path; its text names the place. */
function rejectAtPath(run: ValidationRun, text: string): void {
  run.add({ keyword: 'other', name: '', value: '', text: `${quote(run.name)} ${text}` });
}
