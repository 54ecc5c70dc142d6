/**
 * Connects a store with its journal: loads the content of a journal into a new store, and gives the journal the store's
 * states.
 */
import type { ApiObject } from '../../meta/object.js';
import { type PlacedObject, placedObject } from '../state.js';
import type { Store, StoreSnapshot } from '../store.js';
import { objectsIn } from '../table.js';
import { type Journal, type JournalContent, JournalError, type JournalState } from './types.js';

export interface JournaledStore {
  readonly store: Store;
  /** The name of the dialect. */
  readonly dialect: string;
}

/** Brings an object that an older version has stored to the form of this version. */
export type CompleteObject = (placed: PlacedObject) => ApiObject;

/** Loads the content of a journal into a new store and records later writes there. Throws JournalError. */
export function resumeJournal(
  journal: Journal,
  content: JournalContent,
  journaled: JournaledStore & { readonly complete: CompleteObject },
): void {
  const { store, dialect, complete } = journaled;
  const { checkpoint, records } = content;
  if (checkpoint.dialect !== dialect) {
    throw new JournalError(
      `orchplane: this journal is of a cluster with dialect "${checkpoint.dialect}", not "${dialect}"`,
    );
  }
  const objects = completed(checkpoint.objects, complete);
  store.load(objects, checkpoint.revision, checkpoint.highest);
  for (const record of records) store.replay({ ...record, object: complete(record) });
  store.attachJournal(journal, dialect);
}

function* completed(objects: Iterable<PlacedObject>, complete: CompleteObject): Iterable<PlacedObject> {
  for (const placed of objects) yield { key: placed.key, object: complete(placed) };
}

/** Records the initial state of a new cluster and later writes. Throws JournalError. */
export function beginJournal(journal: Journal, { store, dialect }: JournaledStore): void {
  journal.reset(journalState(store.snapshot(), { dialect, highest: store.highestRevision }));
  store.attachJournal(journal, dialect);
}

/** A snapshot in the form of a journal state. Nothing is copied. */
export function journalState(
  { revision, tables }: StoreSnapshot,
  identity: Pick<JournalState, 'dialect' | 'highest'>,
): JournalState {
  return { revision, ...identity, objects: { [Symbol.iterator]: () => placedObjects(tables) } };
}

function* placedObjects(tables: StoreSnapshot['tables']): IterableIterator<PlacedObject> {
  for (const [resource, state] of tables) {
    const { tree } = typeof state === 'function' ? state() : state;
    for (const object of objectsIn(tree)) {
      yield placedObject(resource, object);
    }
  }
}
