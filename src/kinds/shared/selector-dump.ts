/**
 * A LabelSelector as it stands in messages about it.
 */

import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import { quote, renderValue, type Verbatim, verbatim } from '../../text/go/go-text.js';

export function dumpLabelSelector(selector: LabelSelectorObject): Verbatim {
  const { matchLabels, matchExpressions } = selector;
  const expressions = matchExpressions?.map(
    ({ key, operator, values }) =>
      `v1.LabelSelectorRequirement{Key:${quote(key)}, Operator:${quote(operator)}, Values:${dumpStrings(values)}}`,
  );
  const list = expressions === undefined ? '(nil)' : `{${expressions.join(', ')}}`;
  return verbatim(
    `v1.LabelSelector{MatchLabels:${dumpLabels(matchLabels).verbatim}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`,
  );
}

/** Labels that are not there print as a nil map. */
export function dumpLabels(labels: Labels | undefined): Verbatim {
  return verbatim(labels === undefined ? 'map[string]string(nil)' : renderValue(labels));
}

function dumpStrings(values: readonly string[] | undefined): string {
  return values === undefined ? '[]string(nil)' : renderValue(values);
}

/** A selector as events and tables print it. */
export function printSelector(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return 'nil';
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
