/**
 * Those who wait, in the order in which they came. Whoever is in the line can leave it from anywhere, in the same time
 * however long it is.
 */

/** Where somebody stands. */
export interface Standing<Item> {
  ahead: Item | undefined;
  behind: Item | undefined;
}

export class Line<Item extends Standing<Item>> {
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
    item.ahead = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.behind = item;
    this.#last = item;
    this.#length++;
  }

  /** It must be in this line. */
  remove(item: Item): void {
    const { ahead, behind } = item;
    if (ahead === undefined) this.#first = behind;
    else ahead.behind = behind;
    if (behind === undefined) this.#last = ahead;
    else behind.ahead = ahead;
    item.ahead = item.behind = undefined;
    this.#length--;
  }
}
