/**
 * Selectors of requests as authorizers and reviews see them: lists of requirements.
 */
import { type FieldSelector, parseFieldSelector } from '../meta/fields.js';
import { type LabelSelector, parseLabelSelector } from '../meta/labels.js';
import type { SelectorRequirement } from '../protocol/access.js';

/** A field equals one value or does not; nothing else can be said of fields. */
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

export function labelRequirements({ requirements }: LabelSelector): SelectorRequirement[] {
  return requirements.map(({ key, operator, values }) => ({
    key,
    operator: LABEL_OPERATORS[operator] ?? operator,
    values: [...values],
  }));
}

/** Both throw SelectorError for a text that is no selector. */
export function readFieldRequirements(text: string): SelectorRequirement[] {
  return fieldRequirements(parseFieldSelector(text));
}

export function readLabelRequirements(text: string): SelectorRequirement[] {
  return labelRequirements(parseLabelSelector(text));
}
