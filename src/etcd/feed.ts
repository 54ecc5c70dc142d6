/**
 * Reads all keys of a range once, and then follows their changes with one watch. It tracks the revision that it has
 * received, and can wait until that is the current revision of etcd.
 */
import { errors } from '../meta/errors.js';
import { append } from '../util/arrays.js';
import { systemClock } from '../util/clock.js';
import type { EtcdClient, EtcdWatch } from './client.js';
import { EtcdError } from './etcd-error.js';
import { type KeyValue, toNumber, type WatchEvent, type WatchResponse } from './messages.js';

/** Receives what the feed reads. */
export interface FeedTarget {
  /** The revision up to which it has received everything. */
  readonly revision: number;
  /** All keys at a revision. */
  replace(kvs: readonly KeyValue[], revision: number): void;
  put(kv: KeyValue): void;
  delete(kv: KeyValue): void;
  /** Called when all changes up to a revision were passed on. */
  advance(revision: number): void;
  /** Called after `replace`. */
  onLoaded(): Promise<void>;
}

export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

type FeedClient = Pick<EtcdClient, 'range' | 'txn' | 'version' | 'watch'>;

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
  /** Rejects with 504. */
  readonly expire: () => void;
}

const NEVER = new Promise<never>(() => undefined);
const PAGE_SIZE = 1_000;
const RECONNECT_MS = 250;
/** The longest time between two attempts to load. */
const MAX_RETRY_MS = 30_000;
/** How long a read waits until it is current, as in the reference server. */
const CURRENT_TIMEOUT_MS = 3_000;
const PROGRESS_INTERVAL_MS = 100;
const HEARTBEAT_MS = 500;
/**
 * The number of heartbeats without a response after which a member is asked for one, and after which it is given up. They
 * are counted, because a process that is busy for seconds receives nothing either, but has only one heartbeat in that time.
 */
const QUIET_HEARTBEATS = 2;
const MAX_QUIET_HEARTBEATS = 6;

export class EtcdFeed {
  readonly #client: FeedClient;
  readonly #range: KeyRange;
  readonly #barrierKey: Uint8Array;
  readonly #target: FeedTarget;
  readonly #waiters = new Set<Waiter>();
  #watch: EtcdWatch | undefined;
  #loaded: Promise<void> = NEVER;
  #ready: Promise<void> = NEVER;
  /** The number of calls of `start`: a new one ends the attempts of the one before. */
  #starts = 0;
  #hasProgress = false;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #isClosed = false;
  #quietHeartbeats = 0;
  #stopHeartbeat: () => void = () => undefined;
  #undoFollow: () => void = () => undefined;
  /** The number of keys in the range at the revision of the target. */
  #keyCount = 0;
  /** Events of a response that is sent in parts. */
  #fragments: WatchEvent[] = [];
  /** While events are passed on. */
  #isApplying = false;

  /** `barrierKey` is a key in the range that contains nothing. */
  constructor(client: FeedClient, range: KeyRange & { readonly barrierKey: Uint8Array }, target: FeedTarget) {
    this.#client = client;
    this.#range = { key: range.key, rangeEnd: range.rangeEnd };
    this.#barrierKey = range.barrierKey;
    this.#target = target;
  }

  /** Loads all keys. A step that fails is repeated with a growing delay, until it succeeds. */
  start(): void {
    this.#attempt(this.#loadUntilDone(), { start: ++this.#starts, retryMs: RECONNECT_MS });
  }

  #attempt(loaded: Promise<void>, { start, retryMs }: { readonly start: number; readonly retryMs: number }): void {
    this.#loaded = loaded;
    this.#ready = loaded.then(() => (this.#isClosed ? undefined : this.#target.onLoaded()));
    // Requests report the failure, also those that arrive before the next attempt.
    this.#ready.catch(async () => {
      const isLoaded = (await errorOf(loaded)) === undefined;
      const again = (): void => {
        if (this.#isClosed || start !== this.#starts) return;
        const next = { start, retryMs: Math.min(2 * retryMs, MAX_RETRY_MS) };
        this.#attempt(isLoaded ? loaded : this.#loadUntilDone(), next);
      };
      systemClock.after(retryMs, again, { background: true });
    });
  }

  /** Waits until `onLoaded` of the target has succeeded. Rejects if the last attempt has failed. */
  whenReady(): Promise<void> {
    return this.#ready;
  }

  /** Waits until everything that etcd acknowledged before this call was received. Concurrent calls share a request. */
  catchUp(): Promise<void> {
    this.#queued ??= this.#catchUpAfter(this.#running);
    return this.#queued;
  }

  close(): void {
    this.#isClosed = true;
    this.#stopFollowing();
    for (const waiter of [...this.#waiters]) waiter.expire();
  }

  /** Waits until a revision was received. Rejects with 504 after `timeoutMs`, or when the feed closes. */
  whenReached(revision: number, timeoutMs: number): Promise<void> {
    if (this.#target.revision >= revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let undoProgress = (): void => undefined;
      const stop = (): void => {
        this.#waiters.delete(waiter);
        undoTimeout();
        undoProgress();
      };
      const waiter: Waiter = {
        revision,
        resolve: () => {
          stop();
          resolve();
        },
        expire: () => {
          stop();
          reject(errors.tooLargeResourceVersion(String(revision), this.#target.revision, 1));
        },
      };
      const undoTimeout = systemClock.after(this.#isClosed ? 0 : timeoutMs, () => {
        waiter.expire();
        this.#renewWatch();
      });
      this.#waiters.add(waiter);
      const ask = (): void => {
        this.#requestProgress();
        undoProgress = systemClock.after(PROGRESS_INTERVAL_MS, ask);
      };
      // A change of a key in the range is on its way; only other changes need a request.
      undoProgress = systemClock.after(this.#hasProgress ? 0 : PROGRESS_INTERVAL_MS / 10, ask);
    });
  }

  /** Older versions of etcd may report progress before the events that it includes; a change of a key comes after them. */
  #requestProgress(): void {
    if (this.#hasProgress) this.#watch?.requestProgress();
    else {
      const put = { requestPut: { key: this.#barrierKey, value: new Uint8Array() } };
      const isRefused = (error: unknown) => error instanceof EtcdError && !error.isUnavailable;
      this.#client
        .txn({ compare: [], success: [put], failure: [] })
        .catch((error: unknown) => (isRefused(error) ? this.#compareCount() : undefined))
        // The next request reports that etcd is not available.
        .catch(() => undefined);
    }
  }

  /**
   * Advances if no key of the range has changed, for an etcd that accepts no barrier because its database is full. etcd reads
   * all keys for it.
   */
  async #compareCount(): Promise<void> {
    const { revision } = this.#target;
    const changed = { ...this.#range, minModRevision: revision + 1, keysOnly: true, limit: 1 };
    const { header, kvs, count } = await this.#client.range(changed);
    // A deletion makes the number smaller, unless another key was created, which is found.
    if (kvs.length > 0 || toNumber(count) !== this.#keyCount || this.#target.revision !== revision) return;
    this.#target.advance(toNumber(header.revision));
    this.#resolveWaiters();
  }

  async #catchUpAfter(before: Promise<void> | undefined): Promise<void> {
    const loadFailure = await errorOf(this.#loaded);
    const failure = await errorOf(before);
    const own = this.#queued;
    this.#running = own;
    this.#queued = undefined;
    try {
      if (loadFailure !== undefined) throw loadFailure;
      // etcd needs seconds to report that it has no leader. Requests that have waited for that report do not ask again.
      if (failure instanceof EtcdError) throw failure;
      const known = this.#target.revision;
      // Through the quorum, so that its revision is not older than any acknowledged write.
      const { header } = await this.#client.range({ key: this.#barrierKey, countOnly: true });
      if (toNumber(header.revision) < known) await this.#startOver();
      await this.whenReached(toNumber(header.revision), CURRENT_TIMEOUT_MS);
    } finally {
      if (this.#running === own) this.#running = undefined;
    }
  }

  /** etcd was restored from a backup: what was received after that is gone, and a watch from there would wait for long. */
  async #startOver(): Promise<void> {
    this.#stopFollowing();
    this.start();
    await this.#loaded;
  }

  /** Repeats the load while etcd is not available: a process may start before etcd. */
  async #loadUntilDone(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#hasProgress = hasReliableProgress(await this.#client.version());
        await this.#load();
        return;
      } catch (error) {
        // While the pages were read, etcd may have compacted their revision.
        const isPassing = error instanceof EtcdError && (error.isUnavailable || /compacted/.test(error.message));
        if (!isPassing) throw error;
        await new Promise<void>((resolve) => systemClock.after(RECONNECT_MS, resolve, { background: true }));
      }
    }
  }

  async #load(): Promise<void> {
    const kvs: KeyValue[] = [];
    const { rangeEnd } = this.#range;
    let { key } = this.#range;
    let revision: number | undefined;
    for (let more = true; more; ) {
      const at = revision === undefined ? {} : { revision };
      const page = await this.#client.range({ key, rangeEnd, limit: PAGE_SIZE, ...at });
      revision ??= toNumber(page.header.revision);
      for (const kv of page.kvs) kvs.push(kv);
      more = page.more;
      key = keyAfter(page.kvs.at(-1)?.key ?? key);
    }
    if (this.#isClosed) return;
    this.#target.replace(kvs, revision ?? 0);
    this.#keyCount = kvs.length;
    this.#follow();
    this.#resolveWaiters();
  }

  /** Watches from the revision that was reached, so nothing is missed or repeated. */
  #follow(): void {
    if (this.#isClosed) return;
    // There is one watch, also if a load and a lost connection have both led here.
    this.#stopFollowing();
    this.#fragments = [];
    this.#startHeartbeat();
    this.#watch = this.#client.watch(
      { ...this.#range, startRevision: this.#target.revision + 1 },
      { onResponse: (response) => this.#receive(response), onEnd: (error) => this.#followAfter(error) },
    );
  }

  /** The member that sends the events may have stopped: continues with the one that answers requests. */
  #renewWatch(): void {
    if (this.#watch !== undefined) this.#follow();
  }

  /** Continues with another member if the one that sends the events does not respond any more. */
  #startHeartbeat(): void {
    this.#stopHeartbeat();
    this.#quietHeartbeats = 0;
    const beat = (): void => {
      this.#quietHeartbeats++;
      if (this.#quietHeartbeats >= MAX_QUIET_HEARTBEATS) {
        this.#watch?.abandon();
        this.#follow();
        return;
      }
      if (this.#quietHeartbeats >= QUIET_HEARTBEATS) this.#watch?.requestProgress();
      schedule();
    };
    const schedule = (): void => {
      this.#stopHeartbeat = systemClock.after(HEARTBEAT_MS, beat, { background: true });
    };
    schedule();
  }

  /** `onResponse` may have thrown the error. If it has passed on some of the events, everything is loaded again. */
  #followAfter(error: Error | undefined): void {
    if (!this.#isApplying) {
      this.#followAgain();
      return;
    }
    this.#isApplying = false;
    this.#stopFollowing();
    this.#attempt(Promise.reject(error), { start: ++this.#starts, retryMs: RECONNECT_MS });
  }

  #followAgain(): void {
    this.#stopFollowing();
    this.#undoFollow = systemClock.after(RECONNECT_MS, () => this.#follow(), { background: true });
  }

  #stopFollowing(): void {
    this.#undoFollow();
    this.#stopHeartbeat();
    this.#watch?.close();
    this.#watch = undefined;
  }

  #receive({ canceled, compactRevision, created, events, fragment, header }: WatchResponse): void {
    this.#quietHeartbeats = 0;
    if (canceled) {
      this.#stopFollowing();
      // etcd has compacted what was not received.
      if (toNumber(compactRevision) > 0) this.start();
      else this.#followAgain();
      return;
    }
    // The member is behind the others, or etcd was restored from a backup and reaches this revision with other changes.
    if (created && toNumber(header.revision) < this.#target.revision) this.catchUp().catch(() => this.#followAgain());
    append(this.#fragments, events);
    if (created || fragment) return;
    // Only complete revisions are passed on, because a new watch begins after the last one.
    const complete = this.#fragments.splice(0);
    this.#isApplying = true;
    for (const { type, kv } of complete) {
      if (type === 1) this.#target.delete(kv);
      else this.#target.put(kv);
      if (type === 1) this.#keyCount--;
      else if (toNumber(kv.version) === 1) this.#keyCount++;
    }
    this.#isApplying = false;
    const last = complete.at(-1);
    if (last === undefined && !this.#hasProgress) return;
    // Without events it reports that everything up to its revision was sent.
    this.#target.advance(toNumber(last === undefined ? header.revision : last.kv.modRevision));
    this.#resolveWaiters();
  }

  #resolveWaiters(): void {
    const { revision } = this.#target;
    for (const waiter of [...this.#waiters]) if (waiter.revision <= revision) waiter.resolve();
  }
}

/** Waits for a promise. Resolves to the reason if it is rejected. */
async function errorOf(promise: Promise<void> | undefined): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

function keyAfter(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.of(0)]);
}

/** upstream: apiserver/pkg/storage/feature/feature_support_checker.go */
export function hasReliableProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  return minor === 5 ? patch >= 13 : minor > 5;
}
