/**
 * The state of one validation: the current path and the findings, and their conversion to field errors. Paths are
 * printed only for findings, which are rare. Findings with the same text are reported once, however many parts of a
 * schema produce them.
 */

import { errors } from '../../meta/errors.js';
import type { FieldError } from '../../meta/field-error.js';
import { childPath, fieldError, invalid, notSupported, required, tooLong, tooMany } from '../../meta/field-error.js';
import { re2Matches } from '../../text/re2/index.js';
import { systemClock } from '../../util/clock.js';
import type { CorrelatedObject } from './correlated-object.js';
import { printableValue } from './json-kind.js';

/** A violation of a schema, with the validator's message. */
export type Finding = { readonly name: string; readonly text: string } & (
  | { readonly keyword: 'required' }
  | { readonly keyword: 'type' | 'other'; readonly value: unknown }
  | { readonly keyword: 'enum'; readonly value: unknown; readonly printedValues: AllowedValues }
  | { readonly keyword: 'length'; readonly max: number }
  | { readonly keyword: 'count'; readonly actual: number; readonly max: number }
);

/** The values of an enum as listed in messages. */
export type AllowedValues = readonly string[];

/**
 * Validates a value. Findings are added to the run. The result is the number of matches, which selects the
 * alternative whose findings are reported when no alternative of a combinator is valid. `correlated` is given while
 * unchanged parts of an update are ratcheted.
 */
export type ValidateNode = (value: unknown, run: ValidationRun, correlated: CorrelatedObject | undefined) => number;

const MAX_VALIDATION_MS = 30_000;
const STEPS_PER_CHECK = 1_000;
/** About three seconds. Patterns with counters have thousands of states, each of which takes a step for each character. */
const MAX_PATTERN_STEPS = 200_000_000;

/** The findings with a content; those that follow only count, because a hostile object has one for each of its items. */
const MAX_FINDINGS = 10_000;
const FURTHER_FINDING: Finding = { keyword: 'other', name: '', value: '', text: 'and more' };

/** One validation of a value. */
export class ValidationRun {
  readonly findings: Finding[] = [];
  readonly #path: (string | number)[] = [];
  readonly #startedAt = systemClock.now();
  #steps = 0;
  #patternSteps = 0;

  /**
   * Called for each test of a pattern and each finding, which a schema can multiply with the items of an object. Throws 504
   * when the validation takes longer than the reference server gives a request.
   */
  step(): void {
    if (++this.#steps % STEPS_PER_CHECK !== 0 || systemClock.now() - this.#startedAt < MAX_VALIDATION_MS) return;
    throw timedOut();
  }

  /** Reports whether a text matches a pattern. Throws 504 when all patterns of the validation take too many steps. */
  matches(pattern: string, text: string): boolean {
    this.step();
    return re2Matches(pattern, text, this.#patternOptions);
  }

  readonly #patternOptions = {
    onSteps: (steps: number): void => {
      this.#patternSteps += steps;
      if (this.#patternSteps > MAX_PATTERN_STEPS) throw timedOut();
    },
  };

  /** Enters a property of the schema, or a list item. */
  enter(step: string | number): void {
    this.#path.push(step);
  }

  /** Enters an additional property. At the top its name keeps a leading dot, as in the reference server. */
  enterAdditional(key: string): void {
    this.#path.push(this.#path.length === 0 ? `.${key}` : key);
  }

  leave(): void {
    this.#path.pop();
  }

  /** `spec.list[0].name`; empty at the top. */
  get name(): string {
    let name = '';
    for (const step of this.#path) {
      if (typeof step === 'number') name += `[${step}]`;
      else name = name === '' ? step : `${name}.${step}`;
    }
    return name;
  }

  get isAtTop(): boolean {
    return this.#path.length === 0;
  }

  /** The message of a violation at the current path. */
  messageFor(text: string, name = this.name): string {
    return `${name} in body ${text}`;
  }

  add(finding: Finding): void {
    this.step();
    this.findings.push(this.findings.length < MAX_FINDINGS ? finding : FURTHER_FINDING);
  }

  /** `subject` is the path that the text names, if it is not the current path. */
  reject(value: unknown, text: string, subject = this.name): void {
    this.add({ keyword: 'other', name: this.name, value, text: this.messageFor(text, subject) });
  }

  /** Removes and returns the findings after the first `count`. */
  removeSince(count: number): Finding[] {
    return this.findings.splice(count);
  }
}

function timedOut(): Error {
  return errors.timeout('request did not complete within requested timeout - context deadline exceeded');
}

/** Validates a part of a value, and drops its findings if the part is unchanged (ratcheting). */
export function validateRatcheted(
  check: ValidateNode,
  value: unknown,
  run: ValidationRun,
  correlated: CorrelatedObject | undefined,
): number {
  const before = run.findings.length;
  const matchCount = check(value, run, correlated);
  if (correlated !== undefined && run.findings.length > before && correlated.isUnchanged) run.removeSince(before);
  return matchCount;
}

/** The list of allowed values is printed at most this often; later errors omit it to bound the size of the response. */
const MAX_PRINTED_ENUMS = 100;

/** Converts findings to field errors below a path (`''` for a whole object), without duplicates. */
export function fieldErrors(findings: readonly Finding[], base: string): FieldError[] {
  const seen = new Set<string>();
  const lists = new Map<AllowedValues, number>();
  // One at a time: after too many characters, validation ends before it compares the other texts.
  return findings.flatMap((finding) => {
    if (seen.has(finding.text)) return [];
    seen.add(finding.text);
    if (finding.keyword !== 'enum') return toFieldError(finding, base);
    const times = (lists.get(finding.printedValues) ?? 0) + 1;
    lists.set(finding.printedValues, times);
    return toFieldError(times > MAX_PRINTED_ENUMS ? { ...finding, printedValues: [] } : finding, base);
  });
}

/** The path of a whole value in messages. */
const WHOLE_VALUE = '<nil>';

function toFieldError(finding: Finding, base: string): FieldError {
  const name = finding.name.startsWith('.') ? finding.name.slice(1) : finding.name;
  const field = (name === '' ? base : childPath(base, name)) || WHOLE_VALUE;
  switch (finding.keyword) {
    case 'required':
      return required(field);
    case 'type':
      return fieldError('typeInvalid', field, { value: finding.value, detail: finding.text });
    case 'other':
      return invalid(field, printableValue(finding.value), finding.text);
    case 'enum':
      return notSupported(field, printableValue(finding.value), finding.printedValues);
    case 'length':
      return tooLong(field, finding.max);
    case 'count':
      return tooMany(field, finding.actual, finding.max);
  }
}
