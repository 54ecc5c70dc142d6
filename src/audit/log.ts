/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The audit log of a cluster: `createCluster({ audit: auditLog({ policy }) })`. It keeps the newest events and hands
 * them to whoever reads; nothing of it ever holds up a request.
 */
import { refuseUnknownOptions } from '../util/options.js';
import { AUDIT_LEVELS, type AuditEvent, type AuditLevel } from './event.js';
import { type AuditPolicy, evaluatorOf } from './policy.js';
import { type AuditedRequest, type AuditRecord, type AuditSetting, RequestRecord } from './record.js';

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

export interface AuditLogOptions {
  readonly policy: AuditPolicy;
  /** How many events are kept for `events` and for readers that are behind; 1000 unless said otherwise. */
  readonly limit?: number | undefined;
  /** Told when a reader was too slow: how many events it has lost since the last time. */
  readonly onLost?: ((count: number) => void) | undefined;
}

/** What a metrics page shows of a log. */
export interface AuditCounts {
  readonly events: number;
  /** Requests by what the policy wanted of them. */
  readonly levels: Readonly<Record<AuditLevel, number>>;
}

export interface AuditLog extends AsyncIterable<AuditEvent>, AsyncDisposable {
  /** The newest events, oldest first. */
  readonly events: readonly AuditEvent[];
  readonly counts: AuditCounts;
  /** Begins with the next event; every reader gets all from then on. */
  read(options?: ReadOptions): FeedReader<AuditEvent>;
  [Symbol.asyncIterator](): FeedReader<AuditEvent>;
  /** Called by a cluster for each request. Undefined when nothing of it is to be written down. */
  begin(request: AuditedRequest, setting: AuditSetting): AuditRecord | undefined;
  /** Readers get what is left and then the end; later requests are not written down. */
  close(): Promise<void>;
}

const DEFAULT_LIMIT = 1000;

/**
 * Makes a log. Throws TypeError for a policy that cannot be followed.
 *
 * @example
 * const audit = auditLog({ policy: { rules: [{ level: 'Metadata', verbs: ['delete'] }] } });
 * const cluster = createCluster({ audit });
 * for await (const event of audit) console.log(event.user.username, event.requestURI);
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  if (typeof options !== 'object' || options === null) throw new TypeError('orchplane: auditLog needs a policy');
  refuseUnknownOptions('auditLog', options, ['policy', 'limit', 'onLost']);
  const { policy, limit = DEFAULT_LIMIT, onLost } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new TypeError(`orchplane: auditLog: limit is a whole number from 1 on, not ${String(limit)}`);
  }
  const evaluate = evaluatorOf(policy);
  const feed = new Feed<AuditEvent>(limit);
  const levels = Object.fromEntries(AUDIT_LEVELS.map((level) => [level, 0])) as Record<AuditLevel, number>;
  const write = (event: AuditEvent): void => feed.add(event);

  const read = (reading: ReadOptions = {}): FeedReader<AuditEvent> =>
    feed.read(onLost === undefined ? reading : { onLost, ...reading });

  async function close(): Promise<void> {
    feed.close();
  }

  return Object.freeze({
    get events() {
      return feed.items();
    },
    get counts() {
      return { events: feed.end, levels: { ...levels } };
    },
    read,
    [Symbol.asyncIterator]: () => read(),
    begin(request: AuditedRequest, setting: AuditSetting) {
      if (feed.isClosed) return undefined;
      const config = evaluate(request.attributes, request.user);
      levels[config.level]++;
      return config.level === 'None' ? undefined : new RequestRecord(request, config, { setting, write });
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

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
interface ReadOptions {
  /** Ends the reading; a `next` that waits answers `done`. */
  readonly signal?: AbortSignal;
  /** Told whenever items were lost: how many since the last time. */
  readonly onLost?: (count: number) => void;
}

/** One reader's place. It sees every item that is added from the moment it was made. */
interface FeedReader<Item> extends AsyncIterableIterator<Item, undefined>, AsyncDisposable {
  /** How many items this reader was too slow for. */
  readonly lost: number;
  next(): Promise<IteratorResult<Item, undefined>>;
  return(): Promise<IteratorResult<Item, undefined>>;
  close(): void;
}
