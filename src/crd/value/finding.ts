/**
 * A schema violation with the validator's message, and its conversion to a field error. Findings with the same text are
 * reported once, however many parts of a schema produce them.
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

/** The values of an enum as listed in messages. */
export type AllowedValues = readonly string[];

/** The path of a whole value in messages. */
const WHOLE = '<nil>';

/** The list of allowed values is printed at most this often; later errors omit it to bound the size of the response. */
const MAX_LISTS = 100;

/** Converts findings to field errors below a path (`''` for a whole object), without duplicates. */
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
