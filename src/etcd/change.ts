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

/** The error of a transaction that was not executed. `present`: the revisions of the objects in etcd; 0: there is none. */
export function lostRace(changes: readonly Change[], present: readonly number[]): StorageError {
  const index = changes.findIndex(({ before }, at) => present[at] !== before);
  const change = changes[index];
  // The allocation of ports.
  if (change === undefined) return new StorageError('stale');
  if (change.before === 0) return new StorageError('exists');
  return new StorageError(present[index] === 0 ? 'missing' : 'stale');
}
