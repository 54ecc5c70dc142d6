/**
 * One rule of a schema that a value breaks, in the validator's own words, and how it becomes a field error. The text is
 * what tells two findings apart: the same one is reported once, however many parts of a schema say it.
 */
import type { FieldError } from '../../meta/field-error.js';
import { childPath, fieldError, invalid, notSupported, required, tooLong, tooMany } from '../../meta/field-error.js';
import { shownValue } from './json-kind.js';

export type Finding =
  | { readonly rule: 'required'; readonly name: string; readonly text: string }
  | { readonly rule: 'type' | 'other'; readonly name: string; readonly text: string; readonly value: unknown }
  | {
      readonly rule: 'enum';
      readonly name: string;
      readonly text: string;
      readonly value: unknown;
      shown: AllowedValues;
    }
  | { readonly rule: 'length'; readonly name: string; readonly text: string; readonly max: number }
  | { readonly rule: 'count'; readonly name: string; readonly text: string; readonly actual: number; max: number };

/** The values of an enumeration as they are listed in messages. */
export type AllowedValues = readonly string[];

/** How a path that leads to the value as a whole is written. */
const WHOLE = '<nil>';

/** A list of values is printed so often; later reports of the same list leave it out, or an answer would have no end. */
const MAX_LISTS = 100;

/** The findings as field errors below a path; `''` is the top of an object. No finding twice. */
export function fieldErrors(findings: readonly Finding[], base: string): FieldError[] {
  const seen = new Set<string>();
  const lists = new Map<AllowedValues, number>();
  return findings
    .filter(({ text }) => !seen.has(text) && seen.add(text))
    .map((finding) => {
      if (finding.rule !== 'enum') return asFieldError(finding, base);
      const times = (lists.get(finding.shown) ?? 0) + 1;
      lists.set(finding.shown, times);
      return asFieldError(times > MAX_LISTS ? { ...finding, shown: [] } : finding, base);
    });
}

function asFieldError(finding: Finding, base: string): FieldError {
  const name = finding.name.startsWith('.') ? finding.name.slice(1) : finding.name;
  const field = (name === '' ? base : childPath(base, name)) || WHOLE;
  switch (finding.rule) {
    case 'required':
      return required(field);
    case 'type':
      return fieldError('typeInvalid', field, { value: finding.value, detail: finding.text });
    case 'other':
      return invalid(field, shownValue(finding.value), finding.text);
    case 'enum':
      return notSupported(field, shownValue(finding.value), finding.shown);
    case 'length':
      return tooLong(field, finding.max);
    case 'count':
      return tooMany(field, finding.actual, finding.max);
  }
}
