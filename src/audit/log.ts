/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The audit log of a cluster: `createCluster({ audit: auditLog({ policy }) })`. It keeps the newest events and delivers
 * them to readers; it never delays a request.
 */
import { unsharedBytes } from '../util/json-bytes.js';
import { refuseUnknownOptions } from '../util/options.js';
import { AUDIT_LEVELS, type AuditEvent, type AuditLevel } from './event.js';
import { type AuditPolicy, evaluatorOf } from './policy.js';
import { type AuditContext, type AuditedRequest, type AuditRecord, RequestRecord } from './record.js';

export interface AuditLogOptions {
  readonly policy: AuditPolicy;
  /** The number of events kept for `events` and for slow readers; fewer if they are large. Default: 1000. */
  readonly limit?: number | undefined;
  /** Called with each event, in order, before the request continues. */
  readonly onEvent?: ((event: AuditEvent) => void) | undefined;
  /** Called when a reader was too slow, with the number of events lost since the last call. */
  readonly onLost?: ((count: number) => void) | undefined;
  /** The number of events that `onEvent` could not store, by its name, for metrics. */
  readonly errors?: (() => Readonly<Record<string, number>>) | undefined;
}

/** The counters of a log, for metrics. */
export interface AuditCounts {
  readonly events: number;
  /** Requests by the level that the policy chose. */
  readonly levels: Readonly<Record<AuditLevel, number>>;
  /** Events that were not stored, by plugin. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface AuditLog extends AsyncIterable<AuditEvent>, AsyncDisposable {
  /** The newest events, oldest first. */
  readonly events: readonly AuditEvent[];
  readonly counts: AuditCounts;
  /** Creates a reader that starts with the next event. */
  read(options?: ReadOptions): FeedReader<AuditEvent>;
  [Symbol.asyncIterator](): FeedReader<AuditEvent>;
  /** Called by a cluster for each request. Undefined if the request is not audited. */
  begin(request: AuditedRequest, context: AuditContext): AuditRecord | undefined;
  /** Readers receive the remaining events, then the end; later requests are not recorded. */
  close(): Promise<void>;
}

const DEFAULT_LIMIT = 1000;
/** About the memory that kept events may use: at the level RequestResponse, each contains two objects. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Creates a log. Throws a TypeError for an invalid policy.
 *
 * @example
 * const audit = auditLog({ policy: { rules: [{ level: 'Metadata', verbs: ['delete'] }] } });
 * const cluster = createCluster({ audit });
 * for await (const event of audit) console.log(event.user.username, event.requestURI);
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  if (typeof options !== 'object' || options === null) throw new TypeError('orchplane: auditLog needs a policy');
  refuseUnknownOptions('auditLog', options, ['policy', 'limit', 'onEvent', 'onLost', 'errors']);
  const { policy, limit = DEFAULT_LIMIT, onEvent, onLost } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new TypeError(`orchplane: auditLog: limit must be a positive integer, not ${String(limit)}`);
  }
  const evaluate = evaluatorOf(policy);
  const feed = new Feed<AuditEvent>({ items: limit, bytes: MAX_KEPT_BYTES });
  const levels = Object.fromEntries(AUDIT_LEVELS.map((level) => [level, 0])) as Record<AuditLevel, number>;
  const write = (event: AuditEvent): void => {
    feed.add(event);
    onEvent?.(event);
  };

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
      return { events: feed.end, levels: { ...levels }, errors: options.errors?.() ?? {} };
    },
    read,
    [Symbol.asyncIterator]: () => read(),
    begin(request: AuditedRequest, context: AuditContext) {
      if (feed.isClosed) return undefined;
      const config = evaluate(request.attributes, request.user);
      levels[config.level]++;
      return config.level === 'None' ? undefined : new RequestRecord(request, config, { context, write });
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

export interface ReadOptions {
  /** Ends the reading; a pending `next` resolves with `done`. */
  readonly signal?: AbortSignal;
  /** Called when items were lost, with their number since the last call. */
  readonly onLost?: (count: number) => void;
}

/** A reader. It receives every item that is added after its creation. */
export interface FeedReader<Item> extends AsyncIterableIterator<Item, undefined>, AsyncDisposable {
  /** The number of items that this reader has lost. */
  readonly lost: number;
  next(): Promise<IteratorResult<Item, undefined>>;
  return(): Promise<IteratorResult<Item, undefined>>;
  close(): void;
}

/**
 * A ring buffer of the newest items, for any number of readers, each at its own pace. Adding never blocks: a slow reader
 * loses the oldest items and is notified of the number.
 *
 * Items are counted from the first one, and item `n` is in slot `n % limit`. A reader is a position in that count, so a
 * slow reader needs no memory beyond the slots:
 *
 *     limit 4, 6 items so far:  slots [4, 5, 2, 3]   kept: 2, 3, 4, 5
 *     a reader at 5 gets item 5 next; a reader at 1 has lost one item and gets item 2.
 */
export class Feed<Item> {
  readonly #limit: number;
  readonly #maxBytes: number;
  /** Undefined where the item was dropped because of its size. */
  readonly #slots: (Item | undefined)[] = [];
  readonly #sizes: number[] = [];
  #bytes = 0;
  /** The position of the oldest kept item. */
  #oldest = 0;
  #end = 0;
  #closed = false;
  /** Callbacks of readers that wait for an item. */
  readonly #waiting = new Set<() => void>();

  /** The newest item is kept whatever its size. */
  constructor(limits: { readonly items: number; readonly bytes: number }) {
    this.#limit = limits.items;
    this.#maxBytes = limits.bytes;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The kept items, oldest first. */
  items(): Item[] {
    const items: Item[] = [];
    for (let at = this.#oldest; at < this.#end; at++) items.push(this.#slots[at % this.#limit] as Item);
    return items;
  }

  add(item: Item): void {
    if (this.#closed) return;
    if (this.#end - this.#oldest === this.#limit) this.#dropOldest();
    const bytes = unsharedBytes(item);
    this.#slots[this.#end % this.#limit] = item;
    this.#sizes[this.#end % this.#limit] = bytes;
    this.#bytes += bytes;
    this.#end++;
    while (this.#bytes > this.#maxBytes && this.#end - this.#oldest > 1) this.#dropOldest();
    this.#wake();
  }

  /** Readers receive the remaining items, then the end. */
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

  /** The item at a position or, if it is lost, the oldest kept one; undefined if it does not exist yet. */
  at(position: number): { readonly item: Item; readonly position: number } | undefined {
    const found = Math.max(position, this.#oldest);
    if (found >= this.#end) return undefined;
    return { item: this.#slots[found % this.#limit] as Item, position: found };
  }

  /** Calls back once, on a new item or on close. Returns a function that cancels it. */
  wait(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  #dropOldest(): void {
    const slot = this.#oldest++ % this.#limit;
    this.#slots[slot] = undefined;
    this.#bytes -= this.#sizes[slot] ?? 0;
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
  /** Pending `next` calls, in order. */
  readonly #pending: ((result: IteratorResult<Item, undefined>) => void)[] = [];
  #cancelWait: (() => void) | undefined;
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
      this.#pending.push(resolve);
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
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    while (this.#pending.length > 0) {
      const found = this.#ended ? undefined : this.#feed.at(this.#position);
      if (found !== undefined) {
        this.#reportLoss(found.position - this.#position);
        this.#position = found.position + 1;
        this.#pending.shift()?.({ done: false, value: found.item });
      } else if (this.#ended || this.#feed.isClosed) {
        this.#pending.shift()?.(DONE);
      } else {
        this.#cancelWait = this.#feed.wait(() => this.#deliver());
        return;
      }
    }
  }

  #reportLoss(count: number): void {
    if (count === 0) return;
    this.#lost += count;
    this.#options.onLost?.(count);
  }
}

const DONE: IteratorResult<never, undefined> = { done: true, value: undefined };
