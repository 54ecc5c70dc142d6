/**
 * Texts in order, and maps by their keys: how such maps are shown and written. The order is the language's own, which
 * is that of bytes for all but rare characters; where those count, `byBytes` is the one to take.
 */

/** For `sort`. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** For `sort`: entries by their key. */
export function byKey([left]: readonly [string, ...unknown[]], [right]: readonly [string, ...unknown[]]): number {
  return compareText(left, right);
}

export function sortedEntries<Value>(record: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(record).sort(byKey);
}

/** Of two entries with one key the later one stands. */
export function sortedRecord<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> {
  return Object.fromEntries([...entries].sort(byKey));
}
