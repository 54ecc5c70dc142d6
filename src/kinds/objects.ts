/**
 * The interfaces through which strategies and actions read and change other objects of the cluster. The calls are
 * synchronous: no other write runs between a read and the change that follows it.
 */
import type { GroupResource, GroupVersionKind } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { KeyIndex, KeysOf } from '../storage/types.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { DeletionRequest } from './deletion.js';

/** The address of an object. The group is canonical (`serviceGroup('scheduling')`) in every dialect. */
export interface ObjectAddress extends GroupResource {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** Reads objects; a kind that is not served has none. */
export interface ObjectReader {
  get(address: ObjectAddress): ApiObject | undefined;
  list(resource: GroupResource, namespace?: string): readonly ApiObject[];
}

/** Reads stored objects without a user, for parts of the server that run outside a request. */
export interface StorageReader {
  readonly objects: ObjectReader;
  /** All stored objects of all kinds, served or not, in no particular order. */
  everything(): readonly ApiObject[];
  /** The number of writes to a resource so far. It changes if and only if an object changes. */
  lastChange(resource: GroupResource): number;
  /** The number of objects of a resource. The group is in the cluster's dialect. */
  count(resource: GroupResource): number;
  /** Asks storage outside of the process whether it works. Returns the problem, if any. Absent: it is in memory. */
  check?(): MaybePromise<string | undefined>;
}

/** Reads and changes objects as part of a write. */
export interface Objects extends ObjectReader {
  /** True if the cluster stores objects of the resource: it serves them, or shares its storage with others that do. */
  stores(resource: GroupResource): boolean;
  /** The resource of a kind, with groups in the cluster's dialect; undefined if the kind is not served. */
  resourceOf(gvk: GroupVersionKind): string | undefined;
  /** An index of the stored objects by key. It is valid until the next `await`. */
  index<Key>(resource: GroupResource, keysOf: KeysOf<Key>): KeyIndex<Key>;
  /** Stores a new object and completes its metadata. Throws if the object exists. */
  create(address: ObjectAddress, draft: DraftObject): ApiObject;
  /** Stores a changed copy. Throws if the object does not exist. */
  change(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /**
   * Like `change`, with a shallow copy: the object and its parts (metadata, spec, status) are mutable, deeper values
   * are frozen and can only be replaced.
   */
  changeParts(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** Like `change`, as a write of the server to the status subresource: the server owns the changed fields. */
  changeStatus(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** Removes an object from storage regardless of its finalizers. Does nothing if the object does not exist. */
  remove(address: ObjectAddress): void;
  /** Deletes an object like a client's delete, without admission: the current request is already admitted. */
  delete(address: ObjectAddress, deletion: DeletionRequest): MaybePromise<void>;
}
