/**
 * Values as the reference server prints them in messages: `goSyntax…` prints as Go's `%#v`, `goString…` as the `String()`
 * method of the Go type.
 */

import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import type { DraftMeta } from '../../meta/object.js';
import { quote, renderValue, stringSlice, type Verbatim, verbatim } from '../../text/go/go-text.js';
import { sortedEntries } from '../../util/order.js';

/** Prints a LabelSelector as Go's `%#v`. */
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

/** Prints labels as Go's `%#v`. Absent labels print as a nil map. */
export function goSyntaxLabels(labels: Labels | undefined): Verbatim {
  return verbatim(labels === undefined ? 'map[string]string(nil)' : renderValue(labels));
}

function goSyntaxStrings(values: readonly string[] | undefined): string {
  return values === undefined ? '[]string(nil)' : renderValue(values);
}

/** Prints a LabelSelector as its Go `String()` method, for events. */
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

/** Prints metadata as Go's `%#v`, with the fields that a client can set before the object is stored. */
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
    ['Labels', goSyntaxStringMap(metadata.labels)],
    ['Annotations', goSyntaxStringMap(metadata.annotations)],
    ['OwnerReferences', '[]v1.OwnerReference(nil)'],
    ['Finalizers', stringSlice(finalizers).verbatim],
    ['ManagedFields', '[]v1.ManagedFieldsEntry(nil)'],
  ];
  return verbatim(`v1.ObjectMeta{${fields.map(([field, value]) => `${field}:${value}`).join(', ')}}`);
}

function goSyntaxStringMap(map: Readonly<Record<string, string>> | undefined): string {
  if (map === undefined) return 'map[string]string(nil)';
  const entries = sortedEntries(map);
  return `map[string]string{${entries.map(([key, value]) => `${quote(key)}:${quote(value)}`).join(', ')}}`;
}
