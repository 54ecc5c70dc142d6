/**
 * Label and field selectors as callers write them, and their text form in requests. Records and requirements are
 * validated here, because a value such as `a,b` would otherwise become a different selector.
 */
import { errors } from '../meta/errors.js';
import { keyPath, printFieldError } from '../meta/field-error.js';
import {
  type LabelSelectorExpression,
  type Labels,
  labelErrors,
  labelExpressionErrors,
  labelSelectorFromObject,
  printLabelSelector,
} from '../meta/labels.js';
import { isRecord } from '../util/json.js';

/**
 * A label selector: a selector text (`app in (web, api),!canary`), a record of exact values, the selector of a spec
 * (`deployment.spec.selector`), or its requirements.
 */
export type LabelsOption = string | Labels | SpecSelector | readonly LabelSelectorExpression[];

/** A label selector as it appears in a spec. */
export interface SpecSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

/** A field selector: a selector text (`status.phase!=Active`) or a record of exact values. */
export type FieldsOption = string | Readonly<Record<string, string>>;

/** The text of `labelSelector`. Throws BadRequest for an invalid label. */
export function labelSelectorText(labels: LabelsOption): string {
  if (typeof labels === 'string') return labels;
  const { matchLabels = {}, matchExpressions = [] } = specSelectorOf(labels);
  const problems = [
    ...labelErrors(matchLabels, 'labels'),
    ...matchExpressions.flatMap((each, index) => labelExpressionErrors(each, keyPath('labels', index))),
  ];
  if (problems.length > 0) throw errors.badRequest(problems.map(printFieldError).join(', '));
  return printLabelSelector(labelSelectorFromObject({ matchLabels, matchExpressions }));
}

function specSelectorOf(labels: Exclude<LabelsOption, string>): SpecSelector {
  if (isRequirements(labels)) return { matchExpressions: labels };
  // A label named matchLabels would have a string value.
  const { matchLabels, matchExpressions } = labels as Partial<Record<keyof SpecSelector, unknown>>;
  const isSelector = isRecord(matchLabels) || Array.isArray(matchExpressions);
  return isSelector ? (labels as SpecSelector) : { matchLabels: labels as Labels };
}

/** The text of `fieldSelector`. Throws BadRequest for an invalid field name. */
export function fieldSelectorText(fields: FieldsOption): string {
  if (typeof fields === 'string') return fields;
  return Object.entries(fields)
    .map(([field, value]) => {
      if (/[=!,]/.test(field) || field === '') throw errors.badRequest(`fields: not the name of a field: "${field}"`);
      return `${field}=${String(value).replace(/[\\,=]/g, '\\$&')}`;
    })
    .join(',');
}

function isRequirements(labels: Exclude<LabelsOption, string>): labels is readonly LabelSelectorExpression[] {
  return Array.isArray(labels);
}
