/**
 * Between a store and its journal: what a journal holds is put into a new store, and the store's states are made known to
 * the journal.
 */
import type { PlacedObject } from '../state.js';
import type { Store, StoreSnapshot } from '../store.js';
import { type Journal, type JournalContent, JournalError, type JournalState } from './types.js';

export interface JournaledStore {
  readonly store: Store;
  /** Its name. */
  readonly dialect: string;
}

/** Fills a new store with what a journal held, and has every later write kept there. Throws JournalError. */
export function resumeJournal(journal: Journal, content: JournalContent, about: JournaledStore): void {
  const { store, dialect } = about;
  const { checkpoint, records } = content;
  if (checkpoint.dialect !== dialect) {
    throw new JournalError(
      `orchplane: this journal is of a cluster with dialect "${checkpoint.dialect}", not "${dialect}"`,
    );
  }
  store.load(checkpoint.objects, checkpoint.revision, checkpoint.highest);
  for (const record of records) store.replay(record);
  store.keepIn(journal, dialect);
}

/** Keeps the state that a new cluster begins with, and every later write. Throws JournalError. */
export function beginJournal(journal: Journal, { store, dialect }: JournaledStore): void {
  journal.reset(journalState(store.snapshot(), { dialect, highest: store.highest }));
  store.keepIn(journal, dialect);
}

/** A snapshot as a journal keeps it. Nothing is copied. */
export function journalState(
  { revision, tables }: StoreSnapshot,
  about: Pick<JournalState, 'dialect' | 'highest'>,
): JournalState {
  return { revision, ...about, objects: { [Symbol.iterator]: () => placed(tables) } };
}

function* placed(tables: StoreSnapshot['tables']): IterableIterator<PlacedObject> {
  for (const [resource, state] of tables) {
    const { tree } = typeof state === 'function' ? state() : state;
    for (const object of tree.values()) {
      const { namespace = '', name } = object.metadata;
      yield { key: { resource, namespace, name }, object };
    }
  }
}
