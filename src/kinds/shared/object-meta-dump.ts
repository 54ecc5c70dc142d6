/**
 * Metadata as the reference server prints it inside a message: its struct, field by field.
 */

import type { DraftMeta } from '../../meta/object.js';
import { quote, stringSlice, type Verbatim, verbatim } from '../../text/go/go-text.js';
import { sortedEntries } from '../../util/order.js';

export function dumpObjectMeta(metadata: DraftMeta): Verbatim {
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
