/**
 * Functions on arrays that the language does not have, or not for large arrays.
 */

/** Whether two arrays contain the same items, by identity, in the same order. */
export function sameItems<Item>(left: ArrayLike<Item>, right: ArrayLike<Item>): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}

/** Appends items. Spreading them into `push` would fail for more than about 100,000 items. */
export function append<Item>(list: Item[], items: readonly Item[]): void {
  for (let index = 0; index < items.length; index++) list.push(items[index] as Item);
}
