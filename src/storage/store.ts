/**
 * The revisioned store: one table per resource, one revision counter for all of them. `types.ts` has the contract.
 */
import type { ApiObject } from '../meta/object.js';
import type { Clock } from '../util/clock.js';
import type { Cursor } from './cursor.js';
import { type History, historyAfter, type LogBounds, type LogEntry, NO_HISTORY } from './event-log.js';
import { journalState } from './journal/attach.js';
import type { Journal, JournalRecord, JournalState } from './journal/types.js';
import { cutHistory, eventsBack, lastUpTo, oldestKept } from './past.js';
import type { PlacedObject } from './state.js';
import { keyOf, Table, type TableState } from './table.js';
import type { KeyIndex, KeysOf, ListPage, ListQuery, ObjectKey, WatchQuery, Write } from './types.js';
import { CompactedError, StorageError } from './types.js';

export interface StoreOptions extends LogBounds {
  readonly clock: Clock;
}

/** A saved state of the store. Opaque; created in constant time. */
export interface StoreSnapshot {
  readonly revision: number;
  readonly tables: ReadonlyMap<string, TableState | LazyState>;
  /** The history of resources that have no table. */
  readonly begin: History;
  /** See {@link Store.hasUnvalidatedObjects}. */
  readonly hasUnvalidatedObjects: boolean;
}

/** A table state that is computed on first use and then cached. */
export type LazyState = () => TableState;

/** A number that changes with every change of a set of resources. */
export interface Mark {
  readonly value: number;
}

export class Store {
  readonly #options: StoreOptions;
  #revision: number;
  /** The highest revision ever used; above the current one after a restore. */
  #highest: number;
  #tables = new Map<string, Table>();
  /** States of tables that have not been used since the snapshot. A fork that uses three kinds builds three tables. */
  #untouched: StoreSnapshot['tables'] = NOTHING;
  /** The history of a table that does not exist yet. */
  #begin: History = NO_HISTORY;
  readonly #revisionWaiters = new Set<() => void>();
  /** Counts changes of all tables. Unlike the revision, it never goes back. */
  #marks = 0;
  #restoredAt = 0;
  /** Marks to update when a table changes. */
  readonly #marksOf = new Map<string, { value: number }[]>();
  #journal: Journal | undefined;
  #dialect = '';
  #hasUnvalidatedObjects = false;
  readonly #state = (): JournalState => this.#kept(this.snapshot());

  constructor(options: StoreOptions, from?: StoreSnapshot) {
    this.#options = options;
    this.#revision = from?.revision ?? 0;
    this.#highest = this.#revision;
    if (from === undefined) return;
    this.#untouched = from.tables;
    this.#begin = from.begin;
    this.#hasUnvalidatedObjects = from.hasUnvalidatedObjects;
    this.#restoredAt = ++this.#marks;
  }

  /** The revision of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether the store contains objects that were loaded without validation. */
  get hasUnvalidatedObjects(): boolean {
    return this.#hasUnvalidatedObjects;
  }

  /** The highest revision ever used. */
  get highest(): number {
    return this.#highest;
  }

  get(key: ObjectKey): ApiObject | undefined {
    return this.#find(key.resource)?.get(key);
  }

  /** Commits a write and returns the stored object, or for a deletion the deleted one. Throws StorageError. */
  commit(write: Write): ApiObject {
    const { key } = write;
    const table = this.#table(key.resource);
    const present = table.get(key);
    if (write.type === 'create') {
      if (present !== undefined) throw new StorageError('exists');
    } else if (present !== write.expected) {
      throw new StorageError(present === undefined ? 'missing' : 'stale');
    }
    const revision = this.#revision + 1;
    const object = write.seal(String(revision));
    const type = EVENT_TYPE[write.type];
    const time = this.#options.clock.now();
    if (this.#journal !== undefined) this.#journal.append({ revision, type, key, object, time }, this.#state);
    // Nothing fails after this point.
    this.#revision = revision;
    this.#highest = Math.max(this.#highest, revision);
    if (type === 'DELETED') table.delete(key);
    else table.set(key, object);
    this.#touch(table, key.resource);
    table.log.append({
      revision,
      type,
      namespace: key.namespace,
      name: key.name,
      object,
      previous: present,
      time,
    });
    if (this.#revisionWaiters.size > 0) for (const wake of [...this.#revisionWaiters]) wake();
    return object;
  }

  /** Repeats a write from a journal, with its event. */
  replay({ revision, type, key, object, time }: JournalRecord): void {
    this.#hasUnvalidatedObjects = true;
    const table = this.#table(key.resource);
    const present = table.get(key);
    this.#revision = revision;
    this.#highest = Math.max(this.#highest, revision);
    if (type === 'DELETED') table.delete(key);
    else table.set(key, object);
    this.#touch(table, key.resource);
    table.log.append({ revision, type, namespace: key.namespace, name: key.name, object, previous: present, time });
  }

  /** From now on, writes go to the journal first. */
  attachJournal(journal: Journal, dialect: string): void {
    this.#journal = journal;
    this.#dialect = dialect;
  }

  /** The journal that records writes and restores, if there is one. */
  get journal(): Journal | undefined {
    return this.#journal;
  }

  /** Adds an object of the initial state, without an event. */
  seed(key: ObjectKey, object: ApiObject): void {
    const table = this.#table(key.resource);
    table.set(key, object);
    this.#touch(table, key.resource);
  }

  /**
   * Adds or replaces objects and sets the revision, without events: history starts here, and open watches end. `highest` is
   * the highest revision of the store that the objects come from.
   */
  load(objects: Iterable<PlacedObject>, revision: number, highest = revision): void {
    for (const { key, object } of objects) this.seed(key, object);
    this.#revision = revision;
    this.#highest = Math.max(this.#highest, revision, highest);
    this.#begin = historyAfter(revision);
    this.#hasUnvalidatedObjects = true;
    for (const resource of this.#untouched.keys()) this.#table(resource);
    for (const table of this.#tables.values()) table.log.beginAt(revision);
    if (this.#revisionWaiters.size > 0) for (const wake of [...this.#revisionWaiters]) wake();
  }

  /** Reads a collection or a part of it. Throws CompactedError if `at` is compacted. */
  list(query: ListQuery): ListPage {
    const table = this.#find(query.resource);
    const revision = query.at ?? this.#revision;
    if (table === undefined) return { items: [], revision };
    table.release(this.#options.clock.now());
    table.log.compact(this.#options.clock.now());
    return table.list(query, revision);
  }

  /** An index of a resource; built once, then kept current. */
  index<Key>(resource: string, keysOf: KeysOf<Key>): KeyIndex<Key> {
    return this.#table(resource).index(keysOf);
  }

  /** Keeps a revision of a resource readable for the later pages of a list. */
  hold(resource: string, revision: number, until: number): void {
    this.#find(resource)?.hold(revision, until);
  }

  /** Opens a cursor that is live from now on. Throws CompactedError if `after` is compacted. */
  watch(query: WatchQuery): Cursor {
    // A restore has undone this revision, so there is no history after it.
    if (query.after > this.#revision && query.after <= this.#highest) {
      throw new CompactedError(query.after, this.#revision);
    }
    const { log } = this.#table(query.resource);
    log.compact(this.#options.clock.now());
    return log.watch(query.after, query);
  }

  /** All objects of all resources, in no particular order. */
  allObjects(): readonly ApiObject[] {
    return [...this.#everyTable()].flatMap(([, table]) => [...table.objects()]);
  }

  /** The number of objects of a resource. */
  count(resource: string): number {
    return this.#find(resource)?.size ?? 0;
  }

  /** A number that changes with every change of a resource, also by a restore. */
  lastChange(resource: string): number {
    return Math.max(this.#tables.get(resource)?.mark ?? 0, this.#restoredAt);
  }

  /** A mark for several resources, cheap enough to read with every request. */
  markOf(resources: Iterable<string>): Mark {
    const mark = { value: this.#restoredAt };
    for (const resource of new Set(resources)) this.extend(mark, resource);
    return mark;
  }

  /** Adds a resource to a mark. */
  extend(mark: Mark, resource: string): void {
    const extended: { value: number } = mark;
    extended.value = Math.max(mark.value, this.lastChange(resource));
    const marks = this.#marksOf.get(resource);
    if (marks === undefined) this.#marksOf.set(resource, [extended]);
    else marks.push(extended);
  }

  #touch(table: Table, resource: string): void {
    table.mark = ++this.#marks;
    const marks = this.#marksOf.get(resource);
    if (marks !== undefined) for (const mark of marks) mark.value = table.mark;
  }

  /** Calls `wake` after every write until undone, for reads that wait for a future revision. */
  onRevision(wake: () => void): () => void {
    this.#revisionWaiters.add(wake);
    return () => this.#revisionWaiters.delete(wake);
  }

  snapshot(): StoreSnapshot {
    // Keeps the order of the tables.
    const tables = new Map<string, TableState | LazyState>(this.#untouched);
    for (const [resource, table] of this.#tables) tables.set(resource, table.state());
    return { revision: this.#revision, tables, begin: this.#begin, hasUnvalidatedObjects: this.#hasUnvalidatedObjects };
  }

  /**
   * The state right after a revision. Tables are rewound on first use. Throws CompactedError if the revision is no longer
   * kept.
   */
  snapshotAt(revision: number): StoreSnapshot {
    const oldest = this.oldestKept();
    if (revision < oldest) throw new CompactedError(revision, oldest);
    const tables = new Map<string, LazyState>();
    for (const [resource, table] of this.#everyTable()) {
      const state = table.state();
      let made: TableState | undefined;
      tables.set(resource, () => {
        made ??= rewind(state, revision, this.#options);
        return made;
      });
    }
    return { revision, tables, begin: this.#begin, hasUnvalidatedObjects: this.#hasUnvalidatedObjects };
  }

  /** Where history begins: 0, or the revision of the state that was loaded. */
  get firstRevision(): number {
    return this.#begin.compacted;
  }

  /** The oldest revision that can be gone back to. */
  oldestKept(): number {
    let oldest = this.#begin.compacted;
    for (const [, table] of this.#everyTable()) {
      table.log.compact(this.#options.clock.now());
      oldest = Math.max(oldest, oldestKept(table.log.view(), this.#options));
    }
    return oldest;
  }

  /** What is still known to have happened to a key, oldest first. */
  changesOf(key: ObjectKey): readonly LogEntry[] {
    const table = this.#find(key.resource);
    if (table === undefined) return [];
    table.log.compact(this.#options.clock.now());
    const history = table.log.view();
    const found: LogEntry[] = [];
    for (const entry of eventsBack(history, oldestKept(history, this.#options), this.#options)) {
      if (entry.name === key.name && entry.namespace === key.namespace) found.push(entry);
    }
    return found.reverse();
  }

  /** When the newest write up to a revision was made, as far as that is known. */
  timeOf(revision: number): number | undefined {
    let newest: LogEntry | undefined;
    for (const [, table] of this.#everyTable()) {
      const entry = lastUpTo(table.log.view(), revision);
      if (entry !== undefined && entry.revision > (newest?.revision ?? 0)) newest = entry;
    }
    return newest?.time;
  }

  /** Puts a snapshot back, revision included. Open watches end: the history they read is no more. */
  restore(snapshot: StoreSnapshot): void {
    this.#journal?.reset(this.#kept(snapshot));
    const before = this.#tables;
    this.#highest = Math.max(this.#highest, snapshot.revision);
    this.#revision = snapshot.revision;
    this.#tables = new Map();
    this.#untouched = snapshot.tables;
    this.#begin = snapshot.begin;
    this.#hasUnvalidatedObjects = snapshot.hasUnvalidatedObjects;
    this.#restoredAt = ++this.#marks;
    for (const marks of this.#marksOf.values()) for (const mark of marks) mark.value = this.#restoredAt;
    for (const table of before.values()) table.log.expireAll();
    for (const wake of [...this.#revisionWaiters]) wake();
  }

  #kept(snapshot: StoreSnapshot): JournalState {
    const highest = Math.max(this.#highest, snapshot.revision);
    return journalState(snapshot, { dialect: this.#dialect, highest });
  }

  #find(resource: string): Table | undefined {
    const table = this.#tables.get(resource);
    if (table !== undefined) return table;
    const state = this.#untouched.get(resource);
    if (state === undefined) return undefined;
    const made = new Table(this.#options, typeof state === 'function' ? state() : state);
    this.#tables.set(resource, made);
    return made;
  }

  *#everyTable(): Iterable<[string, Table]> {
    for (const resource of [...this.#untouched.keys()]) this.#table(resource);
    yield* this.#tables;
  }

  #table(resource: string): Table {
    let table = this.#find(resource);
    if (table === undefined) {
      table = new Table(this.#options, undefined, this.#begin);
      this.#tables.set(resource, table);
    }
    return table;
  }
}

const NOTHING: StoreSnapshot['tables'] = new Map();
const EVENT_TYPE = { create: 'ADDED', update: 'MODIFIED', delete: 'DELETED' } as const;

/** The state right after a revision, with the history that it had then. Throws CompactedError. */
function rewind(state: TableState, revision: number, bounds: LogBounds): TableState {
  const tree = state.tree.clone();
  const counts = new Map(state.counts);
  for (const { namespace, name, previous } of eventsBack(state.history, revision, bounds)) {
    const key = keyOf(namespace, name);
    if (previous === undefined) {
      if (tree.delete(key)) count(counts, namespace, -1);
    } else if (tree.set(key, previous)) count(counts, namespace, 1);
  }
  return { tree, counts, history: cutHistory(state.history, revision, bounds) };
}

function count(counts: Map<string, number>, namespace: string, by: 1 | -1): void {
  const now = (counts.get(namespace) ?? 0) + by;
  if (now > 0) counts.set(namespace, now);
  else counts.delete(namespace);
}
