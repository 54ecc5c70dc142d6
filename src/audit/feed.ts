/**
 * The newest items of something that goes on, for any number of readers, each at its own pace. Who adds an item never
 * waits: a reader that is too slow loses the oldest items and is told how many.
 *
 * Items are counted from the first one ever, and item `n` lies in slot `n % limit`. A reader is a position in that
 * count; what it has not read holds no memory beyond the slots:
 *
 *     limit 4, 6 items so far:  slots [4, 5, 2, 3]   kept: 2, 3, 4, 5
 *     a reader at 5 gets item 5 next; a reader at 1 has lost one item and gets item 2.
 */
export interface ReadOptions {
  /** Ends the reading; a `next` that waits answers `done`. */
  readonly signal?: AbortSignal;
  /** Told whenever items were lost: how many since the last time. */
  readonly onLost?: (count: number) => void;
}

/** One reader's place. It sees every item that is added from the moment it was made. */
export interface FeedReader<Item> extends AsyncIterableIterator<Item, undefined>, AsyncDisposable {
  /** How many items this reader was too slow for. */
  readonly lost: number;
  next(): Promise<IteratorResult<Item, undefined>>;
  return(): Promise<IteratorResult<Item, undefined>>;
  close(): void;
}

export class Feed<Item> {
  readonly #limit: number;
  readonly #slots: Item[] = [];
  #end = 0;
  #closed = false;
  /** Those that wait for an item. */
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The items that are still here, oldest first. */
  items(): Item[] {
    const first = this.#oldest();
    const split = first % this.#limit;
    return this.#end <= this.#limit
      ? this.#slots.slice()
      : [...this.#slots.slice(split), ...this.#slots.slice(0, split)];
  }

  add(item: Item): void {
    if (this.#closed) return;
    this.#slots[this.#end % this.#limit] = item;
    this.#end++;
    this.#wake();
  }

  /** Readers get what is left, then the end. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  read(options: ReadOptions = {}): FeedReader<Item> {
    return new Reader(this, options);
  }

  get end(): number {
    return this.#end;
  }

  /** The item at a position, or at the oldest one that is still here; undefined when it has yet to come. */
  at(position: number): { readonly item: Item; readonly position: number } | undefined {
    const found = Math.max(position, this.#oldest());
    if (found >= this.#end) return undefined;
    return { item: this.#slots[found % this.#limit] as Item, position: found };
  }

  /** Calls back once, when there is something new or nothing more to come. Returns what forgets about it. */
  wait(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  #oldest(): number {
    return Math.max(0, this.#end - this.#limit);
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

class Reader<Item> implements FeedReader<Item> {
  readonly #feed: Feed<Item>;
  readonly #options: ReadOptions;
  #position: number;
  #lost = 0;
  #ended = false;
  /** Those who asked and wait, in the order in which they asked. */
  readonly #asked: ((result: IteratorResult<Item, undefined>) => void)[] = [];
  #forget: (() => void) | undefined;
  readonly #onAbort = (): void => this.close();

  constructor(feed: Feed<Item>, options: ReadOptions) {
    this.#feed = feed;
    this.#options = options;
    this.#position = feed.end;
    const { signal } = options;
    if (signal?.aborted === true) this.#ended = true;
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get lost(): number {
    return this.#lost;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    return new Promise((resolve) => {
      this.#asked.push(resolve);
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    this.close();
    return Promise.resolve(DONE);
  }

  close(): void {
    this.#ended = true;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#deliver();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  #deliver(): void {
    this.#forget?.();
    this.#forget = undefined;
    while (this.#asked.length > 0) {
      const found = this.#ended ? undefined : this.#feed.at(this.#position);
      if (found !== undefined) {
        this.#tellLoss(found.position - this.#position);
        this.#position = found.position + 1;
        this.#asked.shift()?.({ done: false, value: found.item });
      } else if (this.#ended || this.#feed.isClosed) {
        this.#asked.shift()?.(DONE);
      } else {
        this.#forget = this.#feed.wait(() => this.#deliver());
        return;
      }
    }
  }

  #tellLoss(count: number): void {
    if (count === 0) return;
    this.#lost += count;
    this.#options.onLost?.(count);
  }
}

const DONE: IteratorResult<never, undefined> = { done: true, value: undefined };
