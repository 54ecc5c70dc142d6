/**
 * Keeps an observer's picture of a collection true: lists, watches from the version of the list, and does both again
 * whenever the stream ends, the version has expired or something fails. Informers and `waitFor` are its observers.
 *
 * What follows the end of a watch:
 *
 *   the server ended it (timeout)   watch again from the last version seen
 *   Expired                         list again
 *   any other error                 tell the observer, wait, go on from the last version seen
 *
 * Attempts that bring nothing come at growing intervals, on the transport's clock, so that a broken server is never
 * asked in a tight loop. One attempt is free: the normal end of a quiet watch should not cost a second of blindness.
 */
import { StatusError } from '../meta/errors.js';
import type { ApiList } from '../meta/object.js';
import type { RequestOptions } from '../protocol/request.js';
import type { BookmarkEvent, ChangeEvent, LastingStream, WireEvent } from '../protocol/watch-event.js';
import { onAbort } from '../util/abort.js';
import type { Clock } from '../util/clock.js';
import { isPromise } from '../util/maybe-promise.js';
import type { Endpoint } from './endpoint.js';
import { LiveWatch, type WatchEvent } from './watch.js';

const soon = Promise.resolve();

class Follower {
  readonly #stream: LastingStream;
  readonly #reader: Reader;
  /** What has come; absent: the end. */
  #came: WireEvent | undefined;

  constructor(stream: LastingStream, reader: Reader) {
    this.#stream = stream;
    this.#reader = reader;
  }

  wait(): void {
    this.#stream.read(this.#receive);
  }

  /** Runs inside writes, where nothing may be told. */
  readonly #receive = (event: WireEvent | undefined): void => {
    this.#came = event;
    void soon.then(this.#tell);
  };

  readonly #tell = (): void => {
    const event = this.#came;
    if (event === undefined) {
      this.#reader.resolve();
      return;
    }
    try {
      if (event.type === 'ERROR') throw new StatusError(event.object);
      this.#reader.tell(event);
      this.wait();
    } catch (error) {
      this.#stream.close();
      this.#reader.reject(error);
    }
  };
}

/** What is told about the collection. None of these may throw. */
export interface Observer<Object> {
  /** All there is now. What was known and is not among the items has gone. */
  listed(items: readonly Object[], resourceVersion: string): void;
  /** Everything up to this version has been told; comes before what is told with it. */
  reached?(resourceVersion: string): void;
  changed(event: ChangeEvent<Object>): void;
  /** A request failed; it will be made again. */
  failed(error: unknown): void;
}

export interface Source {
  readonly endpoint: Endpoint;
  /** Selectors. */
  readonly options: RequestOptions;
  /** Ends the reflection; nothing is told after it. */
  readonly signal: AbortSignal;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** A watch that lasted this long was no failed attempt, even if nothing happened meanwhile. */
const SOUND_WATCH_MS = 1_000;

/** How one round of listing and watching ended. `stale`: the version that expired was not from a list just made. */
type Outcome =
  | { readonly type: 'ended' }
  | { readonly type: 'expired'; readonly stale: boolean }
  | { readonly type: 'failed'; readonly error: unknown };

/** Runs until the signal aborts. The first list is requested within the call. Never rejects of its own. */
export async function reflect<Object>(source: Source, observer: Observer<Object>): Promise<void> {
  const { signal } = source;
  const { clock } = source.endpoint.connection.transport;
  const round = new Round<Object>(source, observer);
  let fruitless = 0;
  while (!signal.aborted) {
    const outcome = await round.run(clock);
    if (signal.aborted) return;
    if (outcome.type === 'failed') observer.failed(outcome.error);
    fruitless = round.wasFruitful ? 0 : fruitless + 1;
    const delay = delayAfter(outcome, fruitless);
    if (delay > 0) await pause(delay, clock, signal);
  }
}

/** One list, if needed, and one watch. Remembers the version between runs. */
class Round<Object> {
  readonly #source: Source;
  readonly #observer: Observer<Object>;
  #version: string | undefined;
  /** The last run brought an event, or watched long enough to have brought one. */
  wasFruitful = false;

  constructor(source: Source, observer: Observer<Object>) {
    this.#source = source;
    this.#observer = observer;
  }

  async run(clock: Clock): Promise<Outcome> {
    this.wasFruitful = false;
    const stale = this.#version !== undefined;
    try {
      if (this.#version === undefined) {
        const listing = this.#list();
        const list = isPromise(listing) ? await listing : listing;
        if (this.#source.signal.aborted) return { type: 'ended' };
        this.#version = list.metadata.resourceVersion;
        this.#observer.listed(list.items, list.metadata.resourceVersion);
      }
      const began = clock.now();
      try {
        await this.#watch(this.#version);
      } finally {
        if (clock.now() - began >= SOUND_WATCH_MS) this.wasFruitful = true;
      }
      return { type: 'ended' };
    } catch (error) {
      if (!isExpired(error)) return { type: 'failed', error };
      this.#version = undefined;
      return { type: 'expired', stale };
    }
  }

  #list() {
    const { endpoint, options, signal } = this.#source;
    return endpoint.send<ApiList<Object>>(endpoint.request('list', options, signal));
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { endpoint, options, signal } = this.#source;
    const request = endpoint.request('watch', { ...options, resourceVersion, allowWatchBookmarks: true }, signal);
    const watch = new LiveWatch<Object>(endpoint, request);
    const { lasting } = watch;
    if (lasting === undefined) {
      for await (const event of watch) this.#tell(event);
      return;
    }
    lasting.keep((version) => this.#reach(version));
    try {
      await follow(lasting, (event) => this.#tell(event as WatchEvent<Object>));
    } finally {
      watch.close();
    }
  }

  #tell(event: WatchEvent<Object>): void {
    if (this.#source.signal.aborted) return;
    const version = versionOf(event.object);
    if (version !== undefined) this.#reach(version);
    if (event.type !== 'BOOKMARK') this.#observer.changed(event);
  }

  #reach(version: string): void {
    this.wasFruitful = true;
    this.#version = version;
    this.#observer.reached?.(version);
  }
}

function delayAfter(outcome: Outcome, fruitless: number): number {
  // After an outage the old version is gone as a matter of course.
  if (outcome.type === 'expired' && outcome.stale) return 0;
  const nth = outcome.type === 'failed' ? Math.max(fruitless, 1) : fruitless - 1;
  const delay = nth < 1 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (nth - 1), LONGEST_DELAY_MS);
  return outcome.type === 'failed' ? Math.max(delay, askedDelay(outcome.error)) : delay;
}

/** What the server asked for with its refusal. */
function askedDelay(error: unknown): number {
  return StatusError.is(error) ? (error.status.details?.retryAfterSeconds ?? 0) * 1_000 : 0;
}

function isExpired(error: unknown): boolean {
  return StatusError.is(error, 'Expired') || StatusError.is(error, 'Gone');
}

function versionOf(object: unknown): string | undefined {
  return (object as { readonly metadata: { readonly resourceVersion?: string } }).metadata.resourceVersion;
}

function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stopTimer = clock.after(delayMs, () => {
      offSignal();
      resolve();
    });
    const offSignal = onAbort(signal, () => {
      stopTimer();
      resolve();
    });
  });
}

type Told = ChangeEvent | BookmarkEvent;

/** Settles when it has ended; rejects with what broke it off, or with what `tell` throws, after which nothing is told. */
function follow(stream: LastingStream, tell: (event: Told) => void): Promise<void> {
  stream.follow();
  return new Promise((resolve, reject) => new Follower(stream, { tell, resolve, reject }).wait());
}

interface Reader {
  readonly tell: (event: Told) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}
