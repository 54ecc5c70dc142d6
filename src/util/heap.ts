/**
 * A binary heap: returns the item with the lowest rank first, and items of equal rank in insertion order.
 */
export class Heap<Item> {
  readonly #rankOf: (item: Item) => number;
  readonly #entries: Entry<Item>[] = [];
  #arrivals = 0;

  constructor(rankOf: (item: Item) => number) {
    this.#rankOf = rankOf;
  }

  get size(): number {
    return this.#entries.length;
  }

  peek(): Item | undefined {
    return this.#entries[0]?.item;
  }

  push(item: Item): void {
    const entries = this.#entries;
    const entry = { item, rank: this.#rankOf(item), arrival: this.#arrivals++ };
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent] as Entry<Item>;
      if (!isBefore(entry, above)) break;
      entries[at] = above;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): Item | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first?.item;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= entries.length) break;
      const right = left + 1;
      const isRight = right < entries.length && isBefore(entries[right] as Entry<Item>, entries[left] as Entry<Item>);
      const child = isRight ? right : left;
      if (!isBefore(entries[child] as Entry<Item>, last)) break;
      entries[at] = entries[child] as Entry<Item>;
      at = child;
    }
    entries[at] = last;
    return first.item;
  }
}

interface Entry<Item> {
  readonly item: Item;
  readonly rank: number;
  readonly arrival: number;
}

function isBefore(a: Entry<unknown>, b: Entry<unknown>): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}
