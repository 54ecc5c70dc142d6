/**
 * Converts field and label selectors to the requirement lists of authorizers and access reviews.
 */
import { type FieldSelector, parseFieldSelector } from '../meta/fields.js';
import { readRequirements, sortedByKey } from '../meta/label-selector-text.js';
import type { LabelSelector } from '../meta/labels.js';
import type { SelectorRequirement } from '../protocol/access.js';

/** Field selectors have only `=` and `!=`. */
export function fieldRequirements({ terms }: FieldSelector): SelectorRequirement[] {
  return terms.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

const LABEL_OPERATORS: Readonly<Record<string, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: 'Gt',
  lt: 'Lt',
};

/** The requirements of a label selector. */
export function labelRequirements({ requirements }: Pick<LabelSelector, 'requirements'>): SelectorRequirement[] {
  return requirements.map(({ key, operator, values }) => ({
    key,
    operator: LABEL_OPERATORS[operator] ?? operator,
    values,
  }));
}

/** Parses a field selector. Throws SelectorError if the text is invalid. */
export function readFieldRequirements(text: string): SelectorRequirement[] {
  return fieldRequirements(parseFieldSelector(text));
}

/** Parses a label selector. Throws SelectorError if the text is invalid. */
export function readLabelRequirements(text: string): SelectorRequirement[] {
  return labelRequirements({ requirements: sortedByKey(readRequirements(text)) });
}
