/**
 * Uniqueness of list items: of `set` lists by value, of `map` lists by their keys.
 */

import type { FieldError } from '../../meta/field-error.js';
import { childPath, duplicate, invalid, keyPath } from '../../meta/field-error.js';
import { verbatim } from '../../text/go/go-text.js';
import { compareUtf8, goSyntax } from '../../text/go/go-value.js';
import { append } from '../../util/arrays.js';
import type { MutableRecord } from '../../util/json.js';
import { encodeSorted, isRecord, setOwn } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { additionalSchema, memberSchemas, type StructuralSchema } from '../structural-schema.js';
import { jsonKind, printableValue } from './json-kind.js';

/**
 * Validates the uniqueness of list items. On an update nothing is reported if the old object already had a duplicate.
 */
export function listTypeErrors(schema: StructuralSchema, value: unknown, old?: unknown): FieldError[] {
  if (!hasListTypes(schema)) return [];
  const found = errorsOf(schema, value, '');
  return found.length > 0 && old !== undefined && errorsOf(schema, old, '').length > 0 ? [] : found;
}

const listTypeCache = new WeakMap<StructuralSchema, boolean>();

function hasListTypes(schema: StructuralSchema): boolean {
  return getOrInsertComputed(
    listTypeCache,
    schema,
    (one) => isUniqueList(one) || memberSchemas(one).some(hasListTypes),
  );
}

function isUniqueList({ listType }: StructuralSchema): boolean {
  return listType === 'set' || listType === 'map';
}

function errorsOf(schema: StructuralSchema, value: unknown, path: string): FieldError[] {
  if (Array.isArray(value)) return listErrors(schema, value, path);
  return isRecord(value) ? objectErrors(schema, value, path) : [];
}

function objectErrors(schema: StructuralSchema, value: Record<string, unknown>, path: string): FieldError[] {
  const additional = additionalSchema(schema);
  const found: FieldError[] = [];
  if (additional !== undefined && hasListTypes(additional)) {
    const keys = Object.keys(value).sort(compareUtf8);
    append(
      found,
      keys.flatMap((key) => errorsOf(additional, value[key], keyPath(path, key))),
    );
  }
  for (const [name, property] of schema.properties) {
    if (!hasListTypes(property) || !Object.hasOwn(value, name)) continue;
    append(found, errorsOf(property, value[name], childPath(path, name)));
  }
  return found;
}

function listErrors(schema: StructuralSchema, list: readonly unknown[], path: string): FieldError[] {
  const { items, listType } = schema;
  const found = listType === 'set' ? setErrors(list, path) : listType === 'map' ? mapErrors(schema, list, path) : [];
  if (items === undefined || !hasListTypes(items)) return found;
  return [...found, ...list.flatMap((item, index) => errorsOf(items, item, keyPath(path, index)))];
}

function setErrors(list: readonly unknown[], path: string): FieldError[] {
  if (list.length < 2) return [];
  return duplicateIndexes(list.map(itemIdentity)).map((index) =>
    duplicate(keyPath(path, index), printableValue(list[index])),
  );
}

function mapErrors({ listMapKeys }: StructuralSchema, list: readonly unknown[], path: string): FieldError[] {
  const odd = list.findIndex((item) => item !== null && !isRecord(item));
  if (odd >= 0) {
    const detail = 'must be an object for an array of list-type map';
    return [invalid(keyPath(path, odd), printableValue(list[odd]), detail)];
  }
  const keys = list.map((item) => keysOf(item, listMapKeys));
  return duplicateIndexes(keys.map(itemIdentity)).map((index) =>
    duplicate(keyPath(path, index), verbatim(goSyntax(keys[index]))),
  );
}

/** The keys of an item; absent keys are omitted. */
function keysOf(item: unknown, names: readonly string[]): MutableRecord {
  const keys: MutableRecord = {};
  if (!isRecord(item)) return keys;
  for (const name of names) if (Object.hasOwn(item, name)) setOwn(keys, name, item[name]);
  return keys;
}

function itemIdentity(value: unknown): string {
  if (typeof value === 'string') return `"${value}`;
  return `${jsonKind(value)} ${encodeSorted(value)}`;
}

/** The index of the second occurrence of each repeated identity; further occurrences are not reported. */
function duplicateIndexes(identities: readonly string[]): number[] {
  const times = new Map<string, number>();
  return identities.flatMap((identity, index) => {
    const before = times.get(identity) ?? 0;
    times.set(identity, before + 1);
    return before === 1 ? [index] : [];
  });
}
