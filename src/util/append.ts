/**
 * Adds items to a list. Not by spreading them into `push`, which fails beyond some hundred thousand arguments.
 */
export function append<Item>(list: Item[], items: readonly Item[]): void {
  for (let index = 0; index < items.length; index++) list.push(items[index] as Item);
}
