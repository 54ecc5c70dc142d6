/**
 * The logical junctors `anyOf`, `oneOf`, `allOf` and `not`. If several alternatives all fail, the findings of the best
 * match are reported. There is no ratcheting inside junctors.
 */
import { quote } from '../../text/go/go-text.js';
import type { Check, Finding, Run } from './validation-run.js';

export interface Junctors {
  readonly anyOf: readonly Check[];
  readonly oneOf: readonly Check[];
  readonly allOf: readonly Check[];
  readonly not: Check | undefined;
}

export type JunctorRule = (value: unknown, run: Run) => number;

/** Returns undefined if there are no junctors. */
export function junctorRule({ anyOf, oneOf, allOf, not }: Junctors): JunctorRule | undefined {
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined;
  return (value, run) => {
    let kept = 0;
    if (anyOf.length > 0) kept += checkAny(anyOf, value, run);
    if (oneOf.length > 0) kept += checkOne(oneOf, value, run);
    if (allOf.length > 0) kept += checkAll(allOf, value, run);
    if (not !== undefined) checkNot(not, value, run);
    return kept;
  };
}

/** The result of one alternative; without findings the value is valid. */
interface Outcome {
  readonly kept: number;
  readonly findings: readonly Finding[];
}

function outcomeOf(check: Check, value: unknown, run: Run): Outcome {
  const before = run.findings.length;
  const kept = check(value, run, undefined);
  return { kept, findings: run.findings.length === before ? NONE : run.takeSince(before) };
}

const NONE: readonly Finding[] = Object.freeze([]);

function checkAny(checks: readonly Check[], value: unknown, run: Run): number {
  let best: Outcome | undefined;
  for (const check of checks) {
    const outcome = outcomeOf(check, value, run);
    if (outcome.findings.length === 0) return outcome.kept;
    best = better(best, outcome);
  }
  refuse(run, 'must validate at least one schema (anyOf)');
  return show(best, run);
}

function checkOne(checks: readonly Check[], value: unknown, run: Run): number {
  let best: Outcome | undefined;
  let first: Outcome | undefined;
  let fitting = 0;
  for (const check of checks) {
    const outcome = outcomeOf(check, value, run);
    if (outcome.findings.length > 0) best = better(best, outcome);
    else {
      first ??= outcome;
      fitting++;
    }
  }
  if (fitting === 1) return first?.kept ?? 0;
  const count = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
  refuse(run, `must validate one and only one schema (oneOf). ${count}`);
  return fitting === 0 ? show(best, run) : 0;
}

function checkAll(checks: readonly Check[], value: unknown, run: Run): number {
  let kept = 0;
  let fitting = 0;
  for (const check of checks) {
    const before = run.findings.length;
    kept += check(value, run, undefined);
    if (run.findings.length === before) fitting++;
  }
  if (fitting < checks.length) {
    refuse(run, `must validate all the schemas (allOf)${fitting === 0 ? '. None validated' : ''}`);
  }
  return kept;
}

function checkNot(check: Check, value: unknown, run: Run): void {
  if (outcomeOf(check, value, run).findings.length === 0) refuse(run, 'must not validate the schema (not)');
}

/** The first of the outcomes with the most satisfied rules. */
function better(best: Outcome | undefined, outcome: Outcome): Outcome {
  return best === undefined || outcome.kept > best.kept ? outcome : best;
}

function show(outcome: Outcome | undefined, run: Run): number {
  for (const finding of outcome?.findings ?? []) run.add(finding);
  return outcome?.kept ?? 0;
}

/** Adds a finding without a field path; its text names the place. */
function refuse(run: Run, text: string): void {
  run.add({ rule: 'other', name: '', value: '', text: `${quote(run.name)} ${text}` });
}
