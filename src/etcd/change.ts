/** The changes of objects in a transaction. */
import { allNodePortsOf } from '../kinds/core/v1/service/node-ports.js';
import type { ApiObject } from '../meta/object.js';
import { type ObjectKey, StorageError } from '../storage/types.js';
import type { TxnRequest } from './messages.js';

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

export function nodePortsOf(services: readonly (ApiObject | undefined)[]): readonly number[] {
  return services.flatMap((service) => (service === undefined ? [] : allNodePortsOf(service)));
}

/**
 * The error of a transaction that was not executed. `present`: the revisions of the objects in etcd; 0: there is none. A
 * lost race is `stale`, and the write starts again from the live objects; `exists` is about the created object, not about the
 * address of a Service or a quota.
 */
export function lostRace(changes: readonly Change[], present: readonly number[]): StorageError {
  const change = changes.find(({ before }, at) => present[at] !== before);
  const isCreated = change?.before === 0 && (isService(change) || !changes.some(isService));
  return new StorageError(isCreated ? 'exists' : 'stale');
}

export function leasesOf(transaction: TxnRequest | undefined): readonly number[] {
  return transaction?.success.flatMap(({ requestPut }) => requestPut?.lease ?? []) ?? [];
}
