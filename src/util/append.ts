/**
 * Adds items to a list. Not by spreading them into `push`, which fails beyond some hundred thousand arguments.
 */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}
