/// <reference lib="esnext.disposable" preserve="true" />
/**
 * An informer: a local copy of a collection that stays up to date, with indexes and subscribers. `reflector.ts` lists
 * and watches; `object-cache.ts` stores the objects.
 */
import type { ChangeEvent } from '../protocol/watch-event.js';
import { onAbort } from '../util/abort.js';
import type { Undo } from '../util/clock.js';
import { deepEqual } from '../util/json.js';
import type { Endpoint } from './endpoint.js';
import { type Indexes, metaOf, ObjectCache } from './object-cache.js';
import { type AbortOptions, informerOptions, type SelectOptions } from './options.js';
import { type Observer, reflect } from './reflector.js';

/** A change, delivered after the informer has been updated. */
export type InformerEvent<Object> =
  | { readonly type: 'ADDED'; readonly object: Object }
  /** `previous` is the informer's object before the change. A DELETED object is the last known state. */
  | { readonly type: 'MODIFIED' | 'DELETED'; readonly object: Object; readonly previous: Object };

/** Called with each change. */
export type InformerListener<Object> = (event: InformerEvent<Object>) => void;

/** The options of an informer. */
export interface InformerOptions<Object, IndexName extends string = never> extends SelectOptions, AbortOptions {
  /** Indexes to find objects by; see {@link Informer.by}. The functions must be pure. */
  readonly indexes?: Indexes<Object, IndexName>;
  /**
   * Called with errors that do not end the informer: a failed request that will be retried, or an error thrown by a
   * listener or an index function. Absent: they are logged to the console. Must not throw.
   */
  readonly onError?: (error: unknown) => void;
}

/**
 * A local copy of a collection. It starts at once, lists again when its version expires, and runs until `close()` or
 * until its signal aborts; its objects stay readable afterwards.
 */
export interface Informer<Object, IndexName extends string = never> extends AsyncDisposable {
  /** Resolves with the first list; rejects only if the informer ends before it. */
  readonly synced: Promise<void>;
  /** The resourceVersion up to which it is current; undefined before the first list. */
  readonly resourceVersion: string | undefined;
  /**
   * One object, if present. The namespace defaults to that of the api; from `all()` it is required, except for
   * cluster-scoped kinds.
   */
  get(name: string, namespace?: string): Object | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly Object[];
  /** The objects with this index key. */
  by(index: IndexName, key: string): readonly Object[];
  /**
   * Delivers changes from now on; existing objects are in {@link Informer.list}. Listeners are called in order; one
   * that throws does not affect the others.
   */
  subscribe(listener: InformerListener<Object>): Undo;
  /** All objects, as the same array until something changes: suitable for `useSyncExternalStore`. */
  snapshot(): readonly Object[];
  /** Stops the informer and its listeners. Repeated calls do nothing. */
  close(): void;
}

const END_REASON = 'the informer has ended';

interface Subscription<Object> {
  readonly listener: InformerListener<Object>;
  active: boolean;
}

export class CachingInformer<Object, IndexName extends string>
  implements Informer<Object, IndexName>, Observer<Object>
{
  readonly synced: Promise<void>;
  resourceVersion: string | undefined;
  readonly #endpoint: Endpoint;
  readonly #cache: ObjectCache<Object>;
  readonly #onError: (error: unknown) => void;
  readonly #stop = new AbortController();
  #offSignal: Undo = () => undefined;
  /** Replaced, never mutated, so that a listener can subscribe while listeners are called. */
  #subscriptions: readonly Subscription<Object>[] = [];
  #sync = { resolve: (): void => undefined, reject: (_reason: unknown): void => undefined };

  /** Starts the informer. Throws BadRequest for invalid selectors. */
  constructor(endpoint: Endpoint, options: InformerOptions<Object, IndexName>) {
    const selectors = informerOptions(options);
    this.#endpoint = endpoint;
    this.#cache = new ObjectCache(options.indexes ?? {});
    const print = (error: unknown): void => console.error(`orchplane: ${this.#describe()}:`, error);
    const { onError = print } = options;
    // Called from loops that must continue.
    this.#onError = (error) => {
      try {
        onError(error);
      } catch (thrown) {
        print(thrown);
      }
    };
    this.synced = new Promise((resolve, reject) => {
      this.#sync = { resolve, reject };
    });
    // Prevents an unhandled rejection when `synced` is not awaited.
    this.synced.catch(() => undefined);
    const { signal } = options;
    const { closing } = endpoint.config.transport;
    const offs = [onAbort(signal, () => this.#end(signal?.reason)), onAbort(closing, () => this.#end(closing?.reason))];
    this.#offSignal = () => {
      for (const off of offs) off();
    };
    void reflect({ endpoint, options: selectors, signal: this.#stop.signal }, this);
  }

  get(name: string, namespace: string | undefined = this.#endpoint.scope.namespace): Object | undefined {
    if (namespace === undefined && this.#endpoint.kind.scope === 'Namespaced') {
      throw new TypeError(`orchplane: ${this.#describe()} spans namespaces: get needs the namespace of "${name}"`);
    }
    return this.#cache.get(keyOf(name, namespace));
  }

  list(namespace?: string): readonly Object[] {
    const all = this.#cache.snapshot();
    return namespace === undefined ? all : all.filter((object) => metaOf(object).namespace === namespace);
  }

  by(index: IndexName, key: string): readonly Object[] {
    const found = this.#cache.by(index, key);
    if (found === undefined) throw new TypeError(`orchplane: ${this.#describe()} has no index "${index}"`);
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
    this.#end(new Error(`orchplane: ${this.#describe()} was closed before its first list came`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Called by the reflector: stores the whole list first, then delivers the differences. */
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
    for (const event of events) this.#notify(event);
  }

  /** Called by the reflector. */
  reached(resourceVersion: string): void {
    this.resourceVersion = resourceVersion;
  }

  /** Called by the reflector. The event type is derived from the cache, not from the server's event. */
  changed({ type, object }: ChangeEvent<Object>): void {
    const key = objectKey(object);
    const events: InformerEvent<Object>[] = [];
    const previous = this.#cache.get(key);
    if (type !== 'DELETED') this.#put(key, object, events);
    else if (previous !== undefined) {
      this.#cache.delete(key);
      events.push({ type, object, previous });
    }
    for (const event of events) this.#notify(event);
  }

  /** Called by the reflector. */
  failed(error: unknown): void {
    this.#onError(error);
  }

  #put(key: string, object: Object, events: InformerEvent<Object>[]): void {
    const previous = this.#cache.get(key);
    if (previous !== undefined && isUnchanged(previous, object)) return;
    for (const error of this.#cache.put(key, object)) this.#onError(error);
    if (previous === undefined) events.push({ type: 'ADDED', object });
    else if (metaOf(previous).uid === metaOf(object).uid) events.push({ type: 'MODIFIED', object, previous });
    // Deleted and recreated between two lists: a different object with the same name.
    else events.push({ type: 'DELETED', object: previous, previous }, { type: 'ADDED', object });
  }

  #notify(event: InformerEvent<Object>): void {
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
    // An explicit reason avoids creating an AbortError.
    this.#stop.abort(END_REASON);
    this.#sync.reject(reason);
  }

  #describe(): string {
    return `the informer of ${this.#endpoint.resource.resource}`;
  }
}

/** Over a network the same object arrives as a copy. */
function isUnchanged(known: unknown, object: unknown): boolean {
  if (known === object) return true;
  // Equal versions are not sufficient: a cluster that was restored from a snapshot reuses versions.
  return metaOf(known).resourceVersion === metaOf(object).resourceVersion && deepEqual(known, object);
}

function objectKey(object: unknown): string {
  const { name, namespace } = metaOf(object);
  return keyOf(name, namespace);
}

/** Neither part can contain a slash. */
function keyOf(name: string, namespace: string | undefined): string {
  return `${namespace ?? ''}/${name}`;
}

/**
 * Whether resourceVersion `a` equals `b` or is newer. Versions are decimal numbers of any length without leading zeros.
 */
export function isSameOrNewerVersion(a: string, b: string): boolean {
  return a.length === b.length ? a >= b : a.length > b.length;
}
