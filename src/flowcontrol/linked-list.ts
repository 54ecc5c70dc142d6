/**
 * A doubly linked list in insertion order, with removal of any item in constant time.
 */

export interface ListLinks<Item> {
  previous: Item | undefined;
  next: Item | undefined;
}

export class LinkedList<Item extends ListLinks<Item>> {
  #first: Item | undefined;
  #last: Item | undefined;
  #length = 0;

  get first(): Item | undefined {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  add(item: Item): void {
    item.previous = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.#length++;
  }

  /** The item must be in this list. */
  remove(item: Item): void {
    const { previous, next } = item;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    item.previous = item.next = undefined;
    this.#length--;
  }
}
