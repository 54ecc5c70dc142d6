/**
 * A LabelSelector as it stands in messages about it.
 */

import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import type { DraftMeta } from '../../meta/object.js';
import { quote, renderValue, stringSlice, type Verbatim, verbatim } from '../../text/go/go-text.js';
import { sortedEntries } from '../../util/order.js';

export function goSyntaxLabelSelector(selector: LabelSelectorObject): Verbatim {
  const { matchLabels, matchExpressions } = selector;
  const expressions = matchExpressions?.map(
    ({ key, operator, values }) =>
      `v1.LabelSelectorRequirement{Key:${quote(key)}, Operator:${quote(operator)}, Values:${goSyntaxStrings(values)}}`,
  );
  const list = expressions === undefined ? '(nil)' : `{${expressions.join(', ')}}`;
  return verbatim(
    `v1.LabelSelector{MatchLabels:${goSyntaxLabels(matchLabels).verbatim}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`,
  );
}

/** Labels that are not there print as a nil map. */
export function goSyntaxLabels(labels: Labels | undefined): Verbatim {
  return verbatim(labels === undefined ? 'map[string]string(nil)' : renderValue(labels));
}

function goSyntaxStrings(values: readonly string[] | undefined): string {
  return values === undefined ? '[]string(nil)' : renderValue(values);
}

/** A selector as events and tables print it. */
export function goStringLabelSelector(selector: LabelSelectorObject | undefined): string {
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

export function goSyntaxObjectMeta(metadata: DraftMeta): Verbatim {
  const { name = '', generateName = '', namespace = '', uid = '', generation = 0, finalizers } = metadata;
  const fields = [
    ['Name', quote(name)],
    ['GenerateName', quote(generateName)],
    ['Namespace', quote(namespace)],
    ['SelfLink', '""'],
    ['UID', quote(uid)],
    ['ResourceVersion', '""'],
    ['Generation', String(generation)],
    ['CreationTimestamp', 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'],
    ['DeletionTimestamp', '<nil>'],
    ['DeletionGracePeriodSeconds', '(*int64)(nil)'],
    ['Labels', textMap(metadata.labels)],
    ['Annotations', textMap(metadata.annotations)],
    ['OwnerReferences', '[]v1.OwnerReference(nil)'],
    ['Finalizers', stringSlice(finalizers).verbatim],
    ['ManagedFields', '[]v1.ManagedFieldsEntry(nil)'],
  ];
  return verbatim(`v1.ObjectMeta{${fields.map(([field, value]) => `${field}:${value}`).join(', ')}}`);
}

function textMap(map: Readonly<Record<string, string>> | undefined): string {
  if (map === undefined) return 'map[string]string(nil)';
  const entries = sortedEntries(map);
  return `map[string]string{${entries.map(([key, value]) => `${quote(key)}:${quote(value)}`).join(', ')}}`;
}
