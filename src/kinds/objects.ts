/**
 * Other objects of the cluster, as strategies and actions may see and change them. Everything happens at once: between
 * a look and the change that follows it nobody else can come.
 */
import type { GroupResource, GroupVersionKind } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { KeyIndex, KeysOf } from '../storage/types.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { DeletionRequest } from './kind.js';

/** Which object. The group is canonical (`serviceGroup('scheduling')`), whatever the cluster's dialect. */
export interface ObjectAddress extends GroupResource {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** Reads; a kind that is not served has no objects. */
export interface ObjectReader {
  get(address: ObjectAddress): ApiObject | undefined;
  list(resource: GroupResource, namespace?: string): readonly ApiObject[];
}

/** Objects as they are stored, for those who serve a cluster and are nobody in it. */
export interface InsideReader {
  readonly objects: ObjectReader;
  /** Every stored object of every kind, served or not, in no order. */
  everything(): readonly ApiObject[];
  /** How often objects of a resource have been written: another number, another state. */
  writeCount(resource: GroupResource): number;
  /** How many objects there are of a resource, named as clients do. */
  count(resource: GroupResource): number;
}

export interface Objects extends ObjectReader {
  /** Whether the cluster serves such objects at all. */
  serves(resource: GroupResource): boolean;
  /** The resource of a kind, both as clients name them; undefined for one that is not served. */
  resourceOf(gvk: GroupVersionKind): string | undefined;
  /** Which keys the stored objects have, without a look at each of them. Ask again after anything was waited for. */
  index<Key>(resource: GroupResource, keysOf: KeysOf<Key>): KeyIndex<Key>;
  /** Stores a new object as it is, metadata filled in. Throws when there is one. */
  create(address: ObjectAddress, draft: DraftObject): ApiObject;
  /** Stores a changed copy. Throws when there is no such object. */
  change(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /**
   * The same where fields of the object and of its parts (metadata, spec, status) are set: what stands deeper is frozen, and
   * replaced as a whole.
   */
  changeParts(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** The same at the status address, by the server itself: what changes is the server's from then on. */
  changeStatus(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject;
  /** Takes it away at once, whatever its finalizers; nothing happens when there is none. */
  remove(address: ObjectAddress): void;
  /** Deletes as a client's delete would, without asking plugins: whoever is here has been admitted. */
  delete(address: ObjectAddress, deletion: DeletionRequest): MaybePromise<void>;
}
