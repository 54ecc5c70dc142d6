/**
 * The informer of a kind that all controllers of a run share, with indexes.
 */
import type { Client } from '../../client/client.js';
import type { Informer, InformerEvent, InformerListener } from '../../client/informer.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import type { ApiObject } from '../../meta/object.js';
import { sameItems } from '../../util/arrays.js';
import type { Undo } from '../../util/clock.js';
import { controllerOf, type HasMetadata, type Owner } from './owners.js';

/** Returns the objects of an index under a key, in insertion order. */
export type Lookup<Object> = (key: string) => readonly Object[];

const NONE: readonly never[] = Object.freeze([]);

/** An informer with indexes, shared by all controllers of a run. */
export class SharedInformer<AnyKind extends Kind> {
  readonly kind: AnyKind;
  readonly #informer: Informer<ObjectOf<AnyKind>>;
  readonly #onError: (error: unknown) => void;
  readonly #indexes = new Map<string, Lookup<ObjectOf<AnyKind>>>();

  constructor(client: Client, kind: AnyKind, onError: (error: unknown) => void) {
    this.kind = kind;
    this.#onError = onError;
    this.#informer = client.all(kind).informer({ onError });
  }

  get synced(): Promise<void> {
    return this.#informer.synced;
  }

  /** The resourceVersion up to which all changes are in the cache. */
  get resourceVersion(): string | undefined {
    return this.#informer.resourceVersion;
  }

  /** One object; the namespace is empty or absent for cluster-scoped kinds. */
  get(name: string, namespace?: string): ObjectOf<AnyKind> | undefined {
    return this.#informer.get(name, namespace);
  }

  /** The object under a key, `namespace/name` or `name`. */
  at(key: string): ObjectOf<AnyKind> | undefined {
    const { name, namespace } = splitKey(key);
    return this.#informer.get(name, namespace);
  }

  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly ObjectOf<AnyKind>[] {
    return namespace === undefined ? this.#informer.snapshot() : this.#byNamespace(namespace);
  }

  /**
   * The objects whose controller is this owner. Those of a namespaced owner are in its namespace: anyone who may create objects in
   * another one can refer to its uid.
   */
  controlledBy({ metadata }: Owner): readonly ObjectOf<AnyKind>[] {
    const { uid, namespace } = metadata;
    return namespace === undefined ? this.#byClusterScopedController(uid) : this.#byController(`${namespace}/${uid}`);
  }

  /**
   * Calls the listener with ADDED for each existing object, then with every change. A call that throws is reported and does
   * not affect the others, also for objects that exist already: one of them must not keep controllers from starting.
   */
  subscribe(listener: InformerListener<ObjectOf<AnyKind>>): Undo {
    const undo = this.#informer.subscribe(listener);
    for (const object of this.#informer.snapshot()) {
      try {
        listener({ type: 'ADDED', object });
      } catch (error) {
        this.#onError(error);
      }
    }
    return undo;
  }

  /** Calls the listener with the key of each existing and each changed object. */
  onKey(listener: (key: string, event: InformerEvent<ObjectOf<AnyKind>>) => void): Undo {
    return this.subscribe((event) => listener(keyOf(event.object as ApiObject), event));
  }

  /**
   * Creates an index that is kept up to date. A second call with the same name returns the existing index, so the name must
   * identify the key function. The index is updated before listeners that subscribe after this call.
   */
  index(name: string, keysOf: (object: ObjectOf<AnyKind>) => readonly string[]): Lookup<ObjectOf<AnyKind>> {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const buckets = new Map<string, Map<string, ObjectOf<AnyKind>>>();
    const remove = (keys: readonly string[], object: ObjectOf<AnyKind>): void => {
      const { uid } = metaOf(object);
      for (const key of keys) {
        const bucket = buckets.get(key);
        bucket?.delete(uid);
        if (bucket?.size === 0) buckets.delete(key);
      }
    };
    const add = (keys: readonly string[], object: ObjectOf<AnyKind>): void => {
      const { uid } = metaOf(object);
      for (const key of keys) {
        const bucket = buckets.get(key);
        if (bucket === undefined) buckets.set(key, new Map([[uid, object]]));
        else bucket.set(uid, object);
      }
    };
    this.subscribe((event) => {
      const before = event.type === 'ADDED' ? NONE : keysOf(event.previous);
      const after = event.type === 'DELETED' ? NONE : keysOf(event.object);
      // An object whose keys do not change keeps its position in the order.
      if (before.length > 0 && event.type !== 'ADDED' && !sameItems(before, after)) remove(before, event.previous);
      if (after.length > 0) add(after, event.object);
    });
    const lookup: Lookup<ObjectOf<AnyKind>> = (key) => {
      const bucket = buckets.get(key);
      return bucket === undefined ? NONE : [...bucket.values()];
    };
    this.#indexes.set(name, lookup);
    return lookup;
  }

  close(): void {
    this.#informer.close();
  }

  #byNamespace(namespace: string): readonly ObjectOf<AnyKind>[] {
    return this.index('namespace', (object) => [metaOf(object).namespace ?? ''])(namespace);
  }

  #byController(namespaceAndUid: string): readonly ObjectOf<AnyKind>[] {
    return this.index('controller', (object) => {
      const owner = controllerOf(object as ApiObject);
      return owner === undefined ? NONE : [`${metaOf(object).namespace ?? ''}/${owner.uid}`];
    })(namespaceAndUid);
  }

  #byClusterScopedController(uid: string): readonly ObjectOf<AnyKind>[] {
    return this.index('cluster-scoped controller', (object) => {
      const owner = controllerOf(object as ApiObject);
      return owner === undefined ? NONE : [owner.uid];
    })(uid);
  }
}

/** `namespace/name`, or the name alone for cluster-scoped kinds. */
export function keyOf({ metadata }: HasMetadata): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

export function splitKey(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function metaOf(object: unknown): ApiObject['metadata'] {
  return (object as ApiObject).metadata;
}
