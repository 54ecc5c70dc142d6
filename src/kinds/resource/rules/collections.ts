/**
 * Validates lists, sets and maps of the resource group: each item, then the number of items, then duplicates.
 */
import { childPath, duplicate, type FieldError, keyPath, tooMany } from '../../../meta/field-error.js';
import type { Verbatim } from '../../../text/go/go-text.js';

/** Validates one item or key at a path. */
export type Rule<Item> = (path: string, item: Item) => readonly FieldError[];

/** The rules of a list. */
export interface ListRules<Item> {
  /** The maximum number of items; absent: unlimited. */
  readonly max?: number;
  readonly item: Rule<Item>;
}

/** Validates a list. */
export function listProblems<Item>(path: string, items: readonly Item[], rules: ListRules<Item>): FieldError[] {
  const found = items.flatMap((item, index) => rules.item(keyPath(path, index), item));
  // The error has the number of items as its value.
  if (rules.max !== undefined && items.length > rules.max) found.push(tooMany(path, items.length, rules.max));
  return found;
}

/** The rules of a list without duplicates. */
export interface SetRules<Item> extends ListRules<Item> {
  /** Items with equal keys are duplicates. */
  readonly key: (item: Item) => string;
  /** The field at which a duplicate is reported; absent: the item. */
  readonly keyField?: string;
  /** Prints a duplicate; absent: its key. */
  readonly print?: (item: Item) => string | Verbatim;
}

/** Validates a list without duplicates. */
export function setProblems<Item>(path: string, items: readonly Item[], rules: SetRules<Item>): FieldError[] {
  const found = listProblems(path, items, rules);
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = rules.key(item);
    const at = keyPath(path, index);
    if (seen.has(key)) {
      const field = rules.keyField === undefined ? at : childPath(at, rules.keyField);
      found.push(duplicate(field, rules.print?.(item) ?? key));
    }
    seen.add(key);
  }
  return found;
}

/** Validates a set of strings. */
export function stringSetProblems(path: string, items: readonly string[], rules: ListRules<string>): FieldError[] {
  return setProblems(path, items, { ...rules, key: (item) => item });
}

/** The rules of a map. */
export interface MapRules<Value> {
  readonly key: Rule<string>;
  readonly value?: Rule<Value>;
  /** Longer keys are shortened in the middle in paths. */
  readonly longestKey: number;
}

/** Validates a map in wire order; the reference server's order is random. */
export function mapProblems<Value>(
  path: string,
  record: Readonly<Record<string, Value>>,
  rules: MapRules<Value>,
): FieldError[] {
  return Object.entries(record).flatMap(([key, value]) => {
    const at = keyPath(path, shortened(key, rules.longestKey));
    return [...rules.key(at, key), ...(rules.value?.(at, value) ?? [])];
  });
}

function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = max - '...'.length;
  return `${text.slice(0, Math.floor((kept + 1) / 2))}...${text.slice(text.length - Math.floor(kept / 2))}`;
}
