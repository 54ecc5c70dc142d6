/**
 * Sorting of strings and of records by key. The order is that of UTF-16 code units, which differs from byte order only for
 * characters outside of the basic plane; use `compareUtf8` of `text/go` where that matters.
 */

/** For `sort`. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** For `sort`: lists of the same length by their first different text. */
export function compareTexts(left: readonly string[], right: readonly string[]): number {
  const at = left.findIndex((text, index) => text !== right[index]);
  return at < 0 ? 0 : compareText(left[at] ?? '', right[at] ?? '');
}

/** For `sort`: entries by their key. */
export function byKey([left]: readonly [string, ...unknown[]], [right]: readonly [string, ...unknown[]]): number {
  return compareText(left, right);
}

export function sortedEntries<Value>(record: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(record).sort(byKey);
}

/** A record with sorted keys; of two entries with the same key the later one wins. */
export function sortedRecord<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> {
  return Object.fromEntries([...entries].sort(byKey));
}

/** The keys of a record, sorted. Keys that are already in order are not sorted again. */
export function sortedKeys(record: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(record);
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  return keys;
}
