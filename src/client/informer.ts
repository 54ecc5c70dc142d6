/// <reference lib="esnext.disposable" preserve="true" />
/**
 * An informer: a local copy of a collection that keeps itself up to date, with indexes and subscribers. The list and
 * watch behind it are `reflector.ts`; what it knows is held by `object-cache.ts`.
 */
import type { ChangeEvent } from '../protocol/watch-event.js';
import { onAbort } from '../util/abort.js';
import type { Undo } from '../util/clock.js';
import { deepEqual } from '../util/json.js';
import type { Endpoint } from './endpoint.js';
import type { Indexes } from './object-cache.js';
import { metaOf, ObjectCache } from './object-cache.js';
import type { AbortOptions, SelectOptions } from './options.js';
import { selectOptions } from './options.js';
import type { Observer } from './reflector.js';
import { reflect } from './reflector.js';

/** What changed, told after the informer itself has changed. */
export type InformerEvent<Object> =
  | { readonly type: 'ADDED'; readonly object: Object }
  /** `previous` is what the informer held before. A DELETED object is the last state that is known. */
  | { readonly type: 'MODIFIED' | 'DELETED'; readonly object: Object; readonly previous: Object };

export type InformerListener<Object> = (event: InformerEvent<Object>) => void;

export interface InformerOptions<Object, IndexName extends string = never> extends SelectOptions, AbortOptions {
  /** Ways to find objects besides their name; see {@link Informer.by}. The functions must be pure. */
  readonly indexes?: Indexes<Object, IndexName>;
  /**
   * Called with each error that the informer survives: a request that failed and will be made again, a listener or an
   * index function that threw. Absent: they are printed to the console. Must not throw.
   */
  readonly onError?: (error: unknown) => void;
}

/**
 * A copy of a collection. It starts when it is made, lists again by itself when its version has expired, and goes on
 * until `close()` or until its signal aborts; what it knew then stays readable.
 */
export interface Informer<Object, IndexName extends string = never> extends AsyncDisposable {
  /** Resolves with the first list; rejects only if the informer ends before it. */
  readonly synced: Promise<void>;
  /** The version up to which it knows everything; absent before the first list. */
  readonly resourceVersion: string | undefined;
  /**
   * One object, if it is known. The namespace is that of the api by default; from `all()` it has to be given, except
   * for cluster-scoped kinds.
   */
  get(name: string, namespace?: string): Object | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly Object[];
  /** The objects that the index files under the key. */
  by(index: IndexName, key: string): readonly Object[];
  /**
   * Tells of changes from now on; what is known already is in {@link Informer.list}. Listeners are called one after
   * another; one that throws keeps no other from being called.
   */
  subscribe(listener: InformerListener<Object>): Undo;
  /** All objects, as the same array until something changes: ready for `useSyncExternalStore` and its like. */
  snapshot(): readonly Object[];
  /** Ends it, and the calls of listeners. Again: does nothing. */
  close(): void;
}

/** Starts an informer. Throws BadRequest for selectors that cannot be written. */
export function createInformer<Object, IndexName extends string>(
  endpoint: Endpoint,
  options: InformerOptions<Object, IndexName> = {},
): Informer<Object, IndexName> {
  return new CachingInformer(endpoint, options);
}

const ENDED = 'the informer has ended';

interface Subscription<Object> {
  readonly listener: InformerListener<Object>;
  active: boolean;
}

class CachingInformer<Object, IndexName extends string> implements Informer<Object, IndexName>, Observer<Object> {
  readonly synced: Promise<void>;
  resourceVersion: string | undefined;
  readonly #endpoint: Endpoint;
  readonly #cache: ObjectCache<Object>;
  readonly #onError: (error: unknown) => void;
  readonly #stop = new AbortController();
  #offSignal: Undo = () => undefined;
  /** Replaced, never changed, so that a subscription made by a listener does not disturb the loop that called it. */
  #subscriptions: readonly Subscription<Object>[] = [];
  #sync = { resolve: (): void => undefined, reject: (_reason: unknown): void => undefined };

  constructor(endpoint: Endpoint, options: InformerOptions<Object, IndexName>) {
    const selectors = selectOptions(options);
    this.#endpoint = endpoint;
    this.#cache = new ObjectCache(options.indexes ?? {});
    this.#onError = options.onError ?? ((error) => console.error(`orchplane: ${this.#what()}:`, error));
    this.synced = new Promise((resolve, reject) => {
      this.#sync = { resolve, reject };
    });
    // Whoever awaits it sees the rejection; whoever never looks must not be ended by it.
    this.synced.catch(() => undefined);
    const { signal } = options;
    const { closing } = endpoint.connection.transport;
    const offs = [onAbort(signal, () => this.#end(signal?.reason)), onAbort(closing, () => this.#end(closing?.reason))];
    this.#offSignal = () => {
      for (const off of offs) off();
    };
    void reflect({ endpoint, options: selectors, signal: this.#stop.signal }, this);
  }

  get(name: string, namespace: string | undefined = this.#endpoint.place.namespace): Object | undefined {
    if (namespace === undefined && this.#endpoint.kind.scope === 'Namespaced') {
      throw new TypeError(`orchplane: ${this.#what()} spans namespaces: get needs the namespace of "${name}"`);
    }
    return this.#cache.get(keyOf(name, namespace));
  }

  list(namespace?: string): readonly Object[] {
    const all = this.#cache.snapshot();
    return namespace === undefined ? all : all.filter((object) => metaOf(object).namespace === namespace);
  }

  by(index: IndexName, key: string): readonly Object[] {
    const found = this.#cache.by(index, key);
    if (found === undefined) throw new TypeError(`orchplane: ${this.#what()} has no index "${index}"`);
    return found;
  }

  subscribe(listener: InformerListener<Object>): Undo {
    const subscription = { listener, active: true };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      subscription.active = false;
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
    };
  }

  snapshot(): readonly Object[] {
    return this.#cache.snapshot();
  }

  close(): void {
    this.#end(new Error(`orchplane: ${this.#what()} was closed before its first list came`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Called by the reflector: takes over the whole list first, then tells the difference to what was known. */
  listed(items: readonly Object[], resourceVersion: string): void {
    this.resourceVersion = resourceVersion;
    const events: InformerEvent<Object>[] = [];
    const gone = new Map(this.#cache.entries());
    for (const item of items) {
      const key = objectKey(item);
      gone.delete(key);
      this.#put(key, item, events);
    }
    for (const [key, previous] of gone) {
      this.#cache.delete(key);
      events.push({ type: 'DELETED', object: previous, previous });
    }
    this.#sync.resolve();
    for (const event of events) this.#tell(event);
  }

  /** Called by the reflector. */
  reached(resourceVersion: string): void {
    this.resourceVersion = resourceVersion;
  }

  /** Called by the reflector. The event's own type is not trusted: what counts is what was known here. */
  changed({ type, object }: ChangeEvent<Object>): void {
    const key = objectKey(object);
    const events: InformerEvent<Object>[] = [];
    const previous = this.#cache.get(key);
    if (type !== 'DELETED') this.#put(key, object, events);
    else if (previous !== undefined) {
      this.#cache.delete(key);
      events.push({ type, object, previous });
    }
    for (const event of events) this.#tell(event);
  }

  /** Called by the reflector. */
  failed(error: unknown): void {
    this.#onError(error);
  }

  #put(key: string, object: Object, events: InformerEvent<Object>[]): void {
    const previous = this.#cache.get(key);
    if (previous !== undefined && isSame(previous, object)) return;
    for (const error of this.#cache.put(key, object)) this.#onError(error);
    if (previous === undefined) events.push({ type: 'ADDED', object });
    else if (metaOf(previous).uid === metaOf(object).uid) events.push({ type: 'MODIFIED', object, previous });
    // Deleted and made anew while nobody watched: another object under the same name.
    else events.push({ type: 'DELETED', object: previous, previous }, { type: 'ADDED', object });
  }

  #tell(event: InformerEvent<Object>): void {
    for (const subscription of this.#subscriptions) {
      if (!subscription.active) continue;
      try {
        subscription.listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #end(reason: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#offSignal();
    for (const subscription of this.#subscriptions) subscription.active = false;
    this.#subscriptions = [];
    // A reason of one's own spares the making of an error that nobody sees.
    this.#stop.abort(ENDED);
    this.#sync.reject(reason);
  }

  #what(): string {
    return `the informer of ${this.#endpoint.resource.resource}`;
  }
}

/** Over a network the same object arrives as another copy. */
function isSame(known: unknown, object: unknown): boolean {
  if (known === object) return true;
  // Equal versions are not proof enough: a cluster that was put back to a snapshot counts from there again.
  return metaOf(known).resourceVersion === metaOf(object).resourceVersion && deepEqual(known, object);
}

function objectKey(object: unknown): string {
  const { name, namespace } = metaOf(object);
  return keyOf(name, namespace);
}

/** Neither part can hold a slash. */
function keyOf(name: string, namespace: string | undefined): string {
  return `${namespace ?? ''}/${name}`;
}

/** Whether version `a` is `b` or came after it. */
export function isNewerOrSame(a: string, b: string): boolean {
  return a.length === b.length ? a >= b : a.length > b.length;
}
