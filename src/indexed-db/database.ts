/**
 * The database of a journal, and its words as promises.
 *
 *   meta      one row: which state counts, and from which record on
 *   states    objects of states, many to a row; the key is [generation, row]
 *   records   writes, by their number
 *
 * What the row in `meta` does not lead to is of states that were never finished, or have been replaced.
 */
import { JournalError } from '../storage/journal/types.js';

export interface Meta {
  readonly generation: number;
  readonly revision: number;
  /** The highest revision ever given out; absent: that one. */
  readonly highest?: number | undefined;
  readonly dialect: string;
  readonly rows: number;
  /** Records above this number were written after the state. */
  readonly after: number;
}

export const META = 'meta';
export const STATES = 'states';
export const RECORDS = 'records';
export const ONLY = 'only';

/** Above every number of a row. */
export const ANY_ROW: readonly never[] = [];

export function openDatabase(name: string): Promise<IDBDatabase> {
  if (typeof indexedDB === 'undefined') {
    throw new JournalError('orchplane: there is no IndexedDB here; Node has fileJournal of orchplane/node');
  }
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    for (const store of [META, STATES, RECORDS]) opening.result.createObjectStore(store);
  };
  return resultOf(opening);
}

export function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Resolves when everything that `change` asks for is on stable storage. */
export function write(database: IDBDatabase, change: (transaction: IDBTransaction) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([META, STATES, RECORDS], 'readwrite', { durability: 'strict' });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was given up'));
    change(transaction);
  });
}
