/**
 * Informers of all kinds that a cluster serves, combined into one map of objects and one stream of events. Listeners
 * are called once for a batch of events.
 */
import type { ApiObject, Informer, ServedKind } from 'orchplane';
import type { TestCluster } from 'orchplane/testing';
import { refKey, refOf } from './refs.js';
import type { StreamEntry } from './types.js';

/** The batching interval: long enough for related changes, too short to be noticed. */
const BATCH_MS = 40;
const MAX_EVENTS = 600;

export interface FeedState {
  readonly kinds: readonly ServedKind[];
  readonly objects: ReadonlyMap<string, ApiObject>;
  readonly stream: readonly StreamEntry[];
}

export class Feed {
  readonly #cluster: TestCluster;
  readonly #onChange: (state: FeedState) => void;
  readonly #informers = new Map<ServedKind, Informer<ApiObject>>();
  readonly #objects = new Map<string, ApiObject>();
  #served: readonly ServedKind[] = [];
  #kinds: readonly ServedKind[] = [];
  #stream: readonly StreamEntry[] = [];
  #fresh: StreamEntry[] = [];
  #entries = 0;
  /** Events during the cluster's start are not reported. */
  #hasBegun = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(cluster: TestCluster, onChange: (state: FeedState) => void) {
    this.#cluster = cluster;
    this.#onChange = onChange;
  }

  /** Starts informers for new kinds and stops those of removed kinds. Cheap if the kinds have not changed. */
  syncKinds(): void {
    const served = this.#cluster.kinds();
    if (served === this.#served) return;
    this.#served = served;
    this.#kinds = watchableKinds(served);
    for (const kind of this.#kinds) if (!this.#informers.has(kind)) this.#follow(kind);
    for (const [kind, informer] of this.#informers) {
      if (this.#kinds.includes(kind)) continue;
      informer.close();
      this.#informers.delete(kind);
      for (const [key, object] of this.#objects) {
        if (object.kind === kind.gvk.kind && object.apiVersion === kind.apiVersion) this.#objects.delete(key);
      }
    }
    this.#soon();
  }

  /** Reports events from now on. */
  startReporting(): void {
    this.#hasBegun = true;
  }

  clearStream(): void {
    this.#stream = [];
    this.#fresh = [];
    this.#soon();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const informer of this.#informers.values()) informer.close();
  }

  #follow(kind: ServedKind): void {
    const informer = this.#cluster.all(kind.kind).informer() as Informer<ApiObject>;
    this.#informers.set(kind, informer);
    // Objects of the initial list are not events.
    let isLive = false;
    void informer.synced.then(
      () => {
        isLive = true;
      },
      () => undefined, // stopped before its first list: nothing to do
    );
    // Subscribers get changes only; read the objects of the first list here.
    for (const object of informer.list()) this.#objects.set(refKey(refOf(object)), object);
    informer.subscribe(({ type, object, ...rest }) => {
      const ref = refOf(object);
      if (type === 'DELETED') this.#objects.delete(refKey(ref));
      else this.#objects.set(refKey(ref), object);
      if (isLive && this.#hasBegun) {
        const previous = 'previous' in rest ? rest.previous : undefined;
        const at = this.#cluster.clock.now();
        const entry = { id: ++this.#entries, at, type, ref, object };
        this.#fresh.push(previous === undefined ? entry : { ...entry, previous });
      }
      this.#soon();
    });
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#fresh.length > 0) this.#stream = [...this.#stream, ...this.#fresh].slice(-MAX_EVENTS);
      this.#fresh = [];
      this.#onChange({ kinds: this.#kinds, objects: new Map(this.#objects), stream: this.#stream });
    }, BATCH_MS);
  }
}

/** Each stored kind once, in its storage version, if it can be watched. */
function watchableKinds(served: readonly ServedKind[]): readonly ServedKind[] {
  const shown = new Map<string, ServedKind>();
  for (const kind of served) {
    if (!kind.verbs.includes('watch') || kind.kind.virtual !== undefined) continue;
    const known = shown.get(kind.storageKey);
    if (known === undefined || (known.storageKind !== undefined && kind.storageKind === undefined)) {
      shown.set(kind.storageKey, kind);
    }
  }
  return [...shown.values()];
}
