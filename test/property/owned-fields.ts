/**
 * Owned fields, resolved in objects by simple means, as a reference for property tests.
 */

import { walkPaths } from '../../src/client/explain/field-values.js';
import type { FieldSet } from '../../src/merge/apply/field-set.js';
import { readFieldsV1 } from '../../src/merge/apply/managers.js';
import type { PathElement } from '../../src/merge/apply/path-element.js';
import type { ApiObject } from '../../src/meta/object.js';

export interface Entry {
  readonly manager?: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1: FieldSet;
}

export function entriesOf(object: ApiObject): readonly Entry[] {
  return (object.metadata.managedFields ?? []) as unknown as readonly Entry[];
}

/** The paths of an entry; fails if its set is not in canonical form. */
export function claimsOf({ fieldsV1 }: Entry): readonly (readonly PathElement[])[] {
  const read = JSON.stringify(readFieldsV1(fieldsV1));
  if (read !== JSON.stringify(fieldsV1)) throw new Error(`not in canonical form: ${JSON.stringify(fieldsV1)}`);
  return [...walkPaths(fieldsV1, 'members')];
}

/** A marker that differs from undefined, which may also be a mistake. */
export const NO_VALUE = 'there is nothing';

/** The value at a path: fields by name, items by their keys or by value. */
export function valueAt(object: unknown, path: readonly PathElement[]): unknown {
  let value: unknown = object;
  for (const element of path) {
    const found = stepInto(value, element);
    if (found === undefined) return NO_VALUE;
    value = found;
  }
  return value;
}

function stepInto(value: unknown, element: PathElement): unknown {
  const text = element.slice(2);
  if (element.startsWith('f:')) {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, text)
      ? (value as Record<string, unknown>)[text]
      : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  if (element.startsWith('v:')) return value.find((item) => item === JSON.parse(text));
  const keys = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return value.find((item: Record<string, unknown>) =>
    keys.every(([name, expected]) => keyOf(item, name) === expected),
  );
}

/** A missing protocol defaults to TCP; no other key of the tested kinds has a default. */
function keyOf(item: Record<string, unknown>, name: string): unknown {
  return item[name] ?? (name === 'protocol' ? 'TCP' : undefined);
}

/** Sorted by operation, time (none first), name, version and subresource. */
export function isOrdered(entries: readonly Entry[]): boolean {
  const text = ({ operation, time = '', manager = '', apiVersion, subresource = '' }: Entry) =>
    [operation, time, manager, apiVersion, subresource].join('\0');
  return entries.every((entry, index) => index === 0 || text(entries[index - 1] as Entry) < text(entry));
}

/** The paths of everything inside a value that is not frozen. */
export function unfrozen(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, inner]) => unfrozen(inner, `${path}/${key}`));
  return Object.isFrozen(value) ? inside : [path || '/', ...inside];
}
