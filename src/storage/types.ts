/**
 * The contract of the store: a revisioned, ordered view of all objects, with a bounded log of changes.
 *
 * - One counter numbers every write of every resource; `resourceVersion` is its decimal text.
 * - Stored objects are deeply frozen. Readers get the stored reference, never a copy.
 * - All calls are synchronous and run to completion, so compare-and-swap needs no lock.
 * - Watchers are positions in a resource's log, not queues: a slow watcher costs nothing until the log is compacted past it.
 */
import type { ApiObject } from '../meta/object.js';

/** The address of a stored object: a table, and `namespace/name` or `name` in it. */
export interface ObjectKey {
  /** The name of the table (`ServedKind.storageKey`); all API versions of one kind share it. */
  readonly storageKey: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** A key as text, unique for each key. */
export function keyText({ storageKey, namespace, name }: ObjectKey): string {
  return `${storageKey} ${namespace}/${name}`;
}

/** One change in the log. */
export interface StoredEvent {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly namespace: string;
  readonly name: string;
  /** The new object; for a deletion the last stored one, at the revision of the deletion. */
  readonly object: ApiObject;
  /** The object before the change; undefined for ADDED. */
  readonly previous: ApiObject | undefined;
  /** Milliseconds of the cluster's clock. */
  readonly time: number;
}

/** Makes the object to store, with the resourceVersion of the write. It must return a deeply frozen object. */
export type MakeObject = (resourceVersion: string) => ApiObject;

/** A change to one key, on the condition that it still holds `expected`. */
export type Write =
  | { readonly type: 'create'; readonly key: ObjectKey; readonly makeObject: MakeObject }
  | { readonly type: 'update'; readonly key: ObjectKey; readonly expected: ApiObject; readonly makeObject: MakeObject }
  | { readonly type: 'delete'; readonly key: ObjectKey; readonly expected: ApiObject; readonly makeObject: MakeObject };

/** Why a write failed. A failed write has changed nothing. */
export type StorageFailure = 'exists' | 'missing' | 'stale';

export class StorageError extends Error {
  override readonly name = 'StorageError';

  constructor(readonly failure: StorageFailure) {
    super(`storage: ${failure}`);
  }
}

/** Throws StorageError unless the key of a write holds what the write expects. */
export function requireExpected(write: Write, present: ApiObject | undefined): void {
  if (write.type === 'create') {
    if (present !== undefined) throw new StorageError('exists');
  } else if (present !== write.expected) {
    throw new StorageError(present === undefined ? 'missing' : 'stale');
  }
}

/** The revision that a read or a watch needs has been compacted. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';

  constructor(
    readonly requested: number,
    /**
     * A revision that could be used instead, for messages: the compact revision; for a watch that is behind it, the one after;
     * after a restore, the current revision.
     */
    readonly oldest: number,
  ) {
    super(`storage: revision ${requested} is compacted, ${oldest} is the oldest`);
  }
}

/**
 * Index keys of an object, such as the ports that it uses. The function must depend on the object alone, never throw, and
 * be the same function on every call, because an index is kept for each function.
 */
export type KeysOf<Key> = (object: ApiObject) => Iterable<Key>;

/** The index keys that exist in one resource. Do not keep it: it is outdated after a restore. */
export interface KeyIndex<Key> {
  has(key: Key): boolean;
  keys(): Iterable<Key>;
}

/** A part of a collection. */
export interface Range {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Absent: all names. Only together with a namespace, or on a cluster-scoped resource. */
  readonly name?: string;
}

export interface ListQuery extends Range {
  readonly storageKey: string;
  /** The revision to read; absent: the current one. */
  readonly at?: number;
  /** Continues after this key, a `nextAfter` of an earlier page. */
  readonly after?: string;
  /** The maximum number of items; absent: all. */
  readonly limit?: number;
  /** Selects objects; absent: all. */
  readonly matches?: (object: ApiObject) => boolean;
}

export interface ListPage {
  readonly items: readonly ApiObject[];
  /** The revision the items were read at. */
  readonly revision: number;
  /** Present when more may follow: pass it as `after`. */
  readonly nextAfter?: string;
  /** The number of items after this page; absent with `matches`. */
  readonly remaining?: number;
}

export interface WatchQuery extends Range {
  readonly storageKey: string;
  /** Events after this revision. */
  readonly after: number;
  readonly matches?: (object: ApiObject) => boolean;
}

/** An object, all of a namespace, or all of a resource. */
export interface ObjectRange {
  readonly storageKey: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** How to use a store that other processes write to, too. Requests wait until it is as current as they need. */
export interface SharedAccess {
  /** Loads the objects and follows their changes. */
  start(): void;
  /** Waits until the objects have been loaded. Resolves to false if they are not up to a time of the system clock. */
  whenLoaded(until: number): Promise<boolean>;
  /**
   * Waits until reads see every write that was acknowledged before, by any process. Resolves to false if the storage cannot
   * be reached up to a time of the system clock.
   */
  whenCurrent(until: number): Promise<boolean>;
  /** Why the objects in a range cannot be read, if some of them cannot. */
  problemIn(range: ObjectRange): string | undefined;
  /** When no earlier write of this process changes the object; undefined: at once. Each of those that wait has its turn. */
  turnOf(range: ObjectRange): Promise<void> | undefined;
  /** Asks the storage whether it works. Resolves to the problem, if any. */
  check(): Promise<string | undefined>;
  /** The addresses of the API servers of all processes. The same array until they change. */
  readonly servers: readonly string[];
  /** Tells other processes the address of a server. The result withdraws it. */
  announce(address: string): () => void;
  stop(): Promise<void>;
}
