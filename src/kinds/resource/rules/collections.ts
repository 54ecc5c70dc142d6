/**
 * Rules of lists, sets and maps of this group: each item first, then their number, then repetitions.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, duplicate, keyPath, tooMany } from '../../../meta/field-error.js';
import type { Verbatim } from '../../../text/go/go-text.js';

/** What is wrong with one item, or one key, at a path. */
export type Rule<Item> = (path: string, item: Item) => readonly FieldError[];

export interface ListRules<Item> {
  /** Absent: as many as one likes. */
  readonly max?: number;
  readonly item: Rule<Item>;
}

export function listProblems<Item>(path: string, items: readonly Item[], rules: ListRules<Item>): FieldError[] {
  const found = items.flatMap((item, index) => rules.item(keyPath(path, index), item));
  // The number is shown in place of the list: that would be long.
  if (rules.max !== undefined && items.length > rules.max) found.push(tooMany(path, items.length, rules.max));
  return found;
}

export interface SetRules<Item> extends ListRules<Item> {
  /** What makes an item the same as another one. */
  readonly key: (item: Item) => string;
  /** Where a repetition is reported, below the item; absent: at the item. */
  readonly keyField?: string;
  /** How a repetition prints; absent: as its key. */
  readonly show?: (item: Item) => string | Verbatim;
}

export function setProblems<Item>(path: string, items: readonly Item[], rules: SetRules<Item>): FieldError[] {
  const found = listProblems(path, items, rules);
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = rules.key(item);
    const at = keyPath(path, index);
    if (seen.has(key)) {
      const field = rules.keyField === undefined ? at : childPath(at, rules.keyField);
      found.push(duplicate(field, rules.show?.(item) ?? key));
    }
    seen.add(key);
  }
  return found;
}

/** A set of plain strings. */
export function stringSetProblems(path: string, items: readonly string[], rules: ListRules<string>): FieldError[] {
  return setProblems(path, items, { ...rules, key: (item) => item });
}

export interface MapRules<Value> {
  readonly key: Rule<string>;
  readonly value?: Rule<Value>;
  /** Longer keys are cut in the middle where they stand in a path. */
  readonly longestKey: number;
}

/** The reference server goes through its maps in no order; here it is that of the wire. */
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
