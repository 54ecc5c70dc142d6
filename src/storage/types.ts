/**
 * The contract of the store: a revisioned, ordered view of all objects, with a bounded memory of what changed.
 *
 * - One counter numbers every write of every resource; `resourceVersion` is its decimal text.
 * - What is stored is deep-frozen. Readers get the stored reference, never a copy.
 * - All calls are synchronous and run to completion, so compare-and-swap needs no lock.
 * - Watchers are positions in a resource's log, not queues: a slow one costs nothing until history is dropped past it.
 */
import type { ApiObject } from '../meta/object.js';

/** Where an object stands: a resource, and `namespace/name` or `name` in it. */
export interface ObjectKey {
  /** The storage name of the resource; two API versions of one kind share it. */
  readonly resource: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** One change, as the log keeps it. */
export interface StoredEvent {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly namespace: string;
  readonly name: string;
  /** The new object; for a deletion the last stored one, at the revision of the deletion. */
  readonly object: ApiObject;
  /** What was there before; undefined for ADDED. */
  readonly previous: ApiObject | undefined;
  /** Milliseconds of the cluster's clock. */
  readonly time: number;
}

/** Makes the object to store once its version is known. It must return a deep-frozen object. */
export type Seal = (resourceVersion: string) => ApiObject;

/** A change to one key, on condition that the key still holds what the writer saw. */
export type Write =
  | { readonly type: 'create'; readonly key: ObjectKey; readonly seal: Seal }
  | { readonly type: 'update'; readonly key: ObjectKey; readonly expected: ApiObject; readonly seal: Seal }
  | { readonly type: 'delete'; readonly key: ObjectKey; readonly expected: ApiObject; readonly seal: Seal };

/** Why a write did not happen. Nothing has changed when one of these is thrown. */
export type StorageFailure = 'exists' | 'missing' | 'stale';

export class StorageError extends Error {
  override readonly name = 'StorageError';

  constructor(readonly failure: StorageFailure) {
    super(`storage: ${failure}`);
  }
}

/** The history needed for a read or a watch has been dropped. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';

  constructor(
    readonly requested: number,
    /** The oldest revision from which a watch could start. */
    readonly oldest: number,
  ) {
    super(`storage: revision ${requested} is compacted, ${oldest} is the oldest`);
  }
}

/**
 * What objects are found by besides their names, such as the ports they use. It must depend on the object alone, never
 * throw, and be one function for the life of the program: an index is kept for each that ever came.
 */
export type KeysOf<Key> = (object: ApiObject) => Iterable<Key>;

/** Which keys objects of one resource have at present. Not to be kept: after a restore it tells of what was. */
export interface KeyIndex<Key> {
  has(key: Key): boolean;
}

/** A part of a collection. */
export interface Range {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Absent: all names. Only together with a namespace, or on a cluster-scoped resource. */
  readonly name?: string;
}

export interface ListQuery extends Range {
  readonly resource: string;
  /** The revision to read; absent: the present. */
  readonly at?: number;
  /** The key after which to go on, as `nextAfter` gave it. */
  readonly after?: string;
  /** At most so many items; absent: all. */
  readonly limit?: number;
  /** Which objects count; absent: all. */
  readonly matches?: (object: ApiObject) => boolean;
}

export interface ListPage {
  readonly items: readonly ApiObject[];
  /** The revision the items were read at. */
  readonly revision: number;
  /** Present when more may follow: pass it as `after`. */
  readonly nextAfter?: string;
  /** Known only without `matches`: how many items follow this page. */
  readonly remaining?: number;
}

export interface WatchQuery extends Range {
  readonly resource: string;
  /** Events after this revision. */
  readonly after: number;
  readonly matches?: (object: ApiObject) => boolean;
}
