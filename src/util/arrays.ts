/**
 * Whether two lists hold the same items, by identity, in the same order.
 */
export function sameItems<Item>(left: ArrayLike<Item>, right: ArrayLike<Item>): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}

/**
 * Adds items to a list. Not by spreading them into `push`, which fails beyond some hundred thousand arguments.
 */
export function append<Item>(list: Item[], items: readonly Item[]): void {
  for (let index = 0; index < items.length; index++) list.push(items[index] as Item);
}
