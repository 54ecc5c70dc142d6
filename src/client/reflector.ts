/**
 * Keeps an observer up to date with a collection: lists, watches from the version of the list, and repeats this when
 * the stream ends, the version expires or a request fails. Informers and `waitFor` are its observers.
 *
 * After the end of a watch:
 *
 *   the server ended it (timeout)   watch again from the last version received
 *   Expired                         list again
 *   any other error                 report it, wait, continue from the last version received
 *
 * Attempts without progress are repeated at growing intervals, on the transport's clock. The first retry is immediate,
 * because an idle watch ends normally.
 */
import { StatusError } from '../meta/errors.js';
import type { ApiList } from '../meta/object.js';
import type { RequestOptions } from '../protocol/request.js';
import type {
  BookmarkEvent,
  CancellableTimeoutStream,
  ChangeEvent,
  ServerWatchEvent,
} from '../protocol/watch-event.js';
import { onAbort } from '../util/abort.js';
import type { Clock } from '../util/clock.js';
import { isPromise } from '../util/maybe-promise.js';
import type { Endpoint } from './endpoint.js';
import { ClientWatch, type WatchEvent } from './watch.js';

/** Receives the state of the collection. No method may throw. */
export interface Observer<Object> {
  /** All current objects. Known objects that are not among the items have been deleted. */
  listed(items: readonly Object[], resourceVersion: string): void;
  /** Everything up to this version has been delivered; called before the change of that version. */
  reached?(resourceVersion: string): void;
  changed(event: ChangeEvent<Object>): void;
  /** A request failed and will be retried. */
  failed(error: unknown): void;
}

/** What a reflector lists and watches. */
export interface ReflectorSource {
  readonly endpoint: Endpoint;
  /** The selectors. */
  readonly options: RequestOptions;
  /** Stops the reflector; the observer is not called afterwards. */
  readonly signal: AbortSignal;
}

const MIN_DELAY_MS = 1_000;

const MAX_DELAY_MS = 30_000;

/** A watch that lasted this long counts as progress, even without events. */
export const HEALTHY_WATCH_MS = 1_000;

/** The end of one list and watch. `stale`: the expired version was not from a new list. */
type Outcome =
  | { readonly type: 'ended' }
  | { readonly type: 'expired'; readonly stale: boolean }
  | { readonly type: 'failed'; readonly error: unknown };

/** Runs until the signal aborts. The first list is requested synchronously. Never rejects. */
export async function reflect<Object>(source: ReflectorSource, observer: Observer<Object>): Promise<void> {
  const { signal } = source;
  const { clock } = source.endpoint.config.transport;
  const round = new ListWatch<Object>(source, observer);
  let fruitless = 0;
  while (!signal.aborted) {
    const outcome = await round.run(clock);
    if (signal.aborted) return;
    if (outcome.type === 'failed') observer.failed(outcome.error);
    fruitless = round.hasProgressed ? 0 : fruitless + 1;
    const delay = delayAfter(outcome, fruitless);
    if (delay > 0) await pause(delay, clock, signal);
  }
}

/** One list, if needed, and one watch. Keeps the version between runs. */
class ListWatch<Object> {
  readonly #source: ReflectorSource;
  readonly #observer: Observer<Object>;
  #version: string | undefined;
  /** The last run received an event, or watched long enough. */
  hasProgressed = false;

  constructor(source: ReflectorSource, observer: Observer<Object>) {
    this.#source = source;
    this.#observer = observer;
  }

  async run(clock: Clock): Promise<Outcome> {
    this.hasProgressed = false;
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
        if (clock.now() - began >= HEALTHY_WATCH_MS) this.hasProgressed = true;
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
    const watch = new ClientWatch<Object>(endpoint, request);
    const { directStream } = watch;
    if (directStream === undefined) {
      for await (const event of watch) this.#notify(event);
      return;
    }
    directStream.disableTimeout((version) => this.#advance(version));
    try {
      await readToEnd(directStream, (event) => this.#notify(event as WatchEvent<Object>));
    } finally {
      watch.close();
    }
  }

  #notify(event: WatchEvent<Object>): void {
    if (this.#source.signal.aborted) return;
    const version = versionOf(event.object);
    if (version !== undefined) this.#advance(version);
    if (event.type !== 'BOOKMARK') this.#observer.changed(event);
  }

  #advance(version: string): void {
    this.hasProgressed = true;
    this.#version = version;
    this.#observer.reached?.(version);
  }
}

function delayAfter(outcome: Outcome, fruitless: number): number {
  // After an outage an expired version is normal.
  if (outcome.type === 'expired' && outcome.stale) return 0;
  const nth = outcome.type === 'failed' ? Math.max(fruitless, 1) : fruitless - 1;
  const delay = nthDelay(nth);
  return outcome.type === 'failed' ? Math.max(delay, retryAfterDelay(outcome.error)) : delay;
}

/** The delay after the nth attempt without progress, from one. */
export function nthDelay(nth: number): number {
  return nth < 1 ? 0 : Math.min(MIN_DELAY_MS * 2 ** (nth - 1), MAX_DELAY_MS);
}

/** The Retry-After of the server's error. */
function retryAfterDelay(error: unknown): number {
  return StatusError.is(error) ? (error.status.details?.retryAfterSeconds ?? 0) * 1_000 : 0;
}

function isExpired(error: unknown): boolean {
  return StatusError.is(error, 'Expired') || StatusError.is(error, 'Gone');
}

function versionOf(object: unknown): string | undefined {
  return (object as { readonly metadata: { readonly resourceVersion?: string } }).metadata.resourceVersion;
}

/** Resolves after a delay, or when the signal aborts. */
export function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
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

type ObjectOrBookmarkEvent = ChangeEvent | BookmarkEvent;

/**
 * Reads a stream of this process to its end, one event per microtask, so that observers can write and other work can
 * run in between. Rejects with the stream's error or with what `onEvent` throws, after which no event is delivered.
 */
function readToEnd(stream: CancellableTimeoutStream, onEvent: (event: ObjectOrBookmarkEvent) => void): Promise<void> {
  stream.follow();
  return new Promise((resolve, reject) => new StreamReader(stream, { onEvent, resolve, reject }).wait());
}

interface StreamReaderCallbacks {
  readonly onEvent: (event: ObjectOrBookmarkEvent) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const RESOLVED = Promise.resolve();

class StreamReader {
  readonly #stream: CancellableTimeoutStream;
  readonly #reader: StreamReaderCallbacks;
  /** The received event; undefined: the end. */
  #received: ServerWatchEvent | undefined;

  constructor(stream: CancellableTimeoutStream, reader: StreamReaderCallbacks) {
    this.#stream = stream;
    this.#reader = reader;
  }

  wait(): void {
    this.#stream.read(this.#receive);
  }

  /** Called inside writes, where observers must not run. */
  readonly #receive = (event: ServerWatchEvent | undefined): void => {
    this.#received = event;
    void RESOLVED.then(this.#deliver);
  };

  readonly #deliver = (): void => {
    const event = this.#received;
    if (event === undefined) {
      this.#reader.resolve();
      return;
    }
    try {
      if (event.type === 'ERROR') throw new StatusError(event.object);
      this.#reader.onEvent(event);
      this.wait();
    } catch (error) {
      this.#stream.close();
      this.#reader.reject(error);
    }
  };
}
