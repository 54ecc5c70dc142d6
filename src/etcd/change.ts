/** The changes of objects in a transaction. */
import type { ApiObject } from '../meta/object.js';
import { type ObjectKey, StorageError } from '../storage/types.js';

/** The change of one object in a transaction. */
export interface Change {
  readonly key: ObjectKey;
  /** The revision of the object before the transaction; 0: there was none. */
  readonly before: number;
  /** Undefined: the object is deleted. */
  readonly object: ApiObject | undefined;
}

export function isService({ key }: Change): boolean {
  return key.storageKey === 'services';
}

/**
 * The error of a transaction that was not executed. `present`: the revisions of the objects in etcd; 0: there is none. The
 * next attempt finds out more: that an address of a Service is taken, or that a quota was deleted, says nothing about the name.
 */
export function lostRace(changes: readonly Change[], present: readonly number[]): StorageError {
  const change = changes.find(({ before }, at) => present[at] !== before);
  const isCreated = change?.before === 0 && (isService(change) || !changes.some(isService));
  return new StorageError(isCreated ? 'exists' : 'stale');
}
