/**
 * The revisioned store: one table per resource, one revision counter for all of them. `types.ts` has the contract.
 */
import type { ApiObject } from '../meta/object.js';
import type { Clock } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { once } from '../util/once.js';
import { Changes } from './changes.js';
import type { Cursor } from './cursor.js';
import { emptyHistoryAfter, type History, type LogBounds, type LogEntry, NO_HISTORY } from './event-log.js';
import { journalState } from './journal/attach.js';
import type { Journal, JournalRecord, JournalState } from './journal/types.js';
import { eventsNewestFirst, lastEventUpTo, oldestKeptRevision } from './retired-events.js';
import type { PlacedObject } from './state.js';
import { rewind, Table, type TableState } from './table.js';
import type { KeyIndex, KeysOf, ListPage, ListQuery, ObjectKey, SharedAccess, WatchQuery, Write } from './types.js';
import { CompactedError, requireExpected } from './types.js';

export interface StoreOptions extends LogBounds {
  readonly clock: Clock;
}

/** A saved state of the store. Opaque; created in constant time. */
export interface StoreSnapshot {
  readonly revision: number;
  readonly tables: ReadonlyMap<string, TableState | LazyState>;
  /** The history of resources that have no table. */
  readonly initialHistory: History;
  /** See {@link Store.hasUnvalidatedObjects}. */
  readonly hasUnvalidatedObjects: boolean;
}

/** A table state that is computed on first use and then cached. */
export type LazyState = () => TableState;

export class Store {
  readonly #options: StoreOptions;
  readonly #maxHistoryBytes: number;
  /** The memory that the events of all resources keep in use, or more: compaction does not lower it. */
  #historyBytes = 0;
  #revision: number;
  /** The highest revision ever used; above the current one after a restore. */
  #highestRevision: number;
  #tables = new Map<string, Table>();
  /** States of tables that have not been used. A fork that uses three kinds builds three tables. */
  #unusedTableStates: StoreSnapshot['tables'] = NO_TABLES;
  /** The history of a table that does not exist yet. */
  #initialHistory: History = NO_HISTORY;
  readonly #revisionWaiters = new Set<() => void>();
  /** The changes of every table. */
  readonly changes = new Changes();
  #journal: Journal | undefined;
  #dialect = '';
  #hasUnvalidatedObjects = false;
  readonly #state = (): JournalState => this.#journalState(this.snapshot());

  constructor(options: StoreOptions, from?: StoreSnapshot) {
    this.#options = options;
    this.#maxHistoryBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    this.#revision = from?.revision ?? 0;
    this.#highestRevision = this.#revision;
    if (from === undefined) return;
    this.#unusedTableStates = from.tables;
    this.#initialHistory = from.initialHistory;
    this.#hasUnvalidatedObjects = from.hasUnvalidatedObjects;
    this.changes.countAll();
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
  get highestRevision(): number {
    return this.#highestRevision;
  }

  get(key: ObjectKey): ApiObject | undefined {
    return this.#find(key.storageKey)?.get(key);
  }

  /** Commits a write and returns the stored object, or for a deletion the deleted one. Throws StorageError. */
  commit(write: Write): ApiObject {
    const { key } = write;
    const table = this.#table(key.storageKey);
    const present = table.get(key);
    requireExpected(write, present);
    const revision = this.#revision + 1;
    const object = write.makeObject(String(revision));
    const type = EVENT_TYPE[write.type];
    const time = this.#options.clock.now();
    const record: JournalRecord = { revision, type, key, object, time };
    if (this.#journal !== undefined) this.#journal.append(record, this.#state);
    // Nothing fails after this point.
    this.#apply(record, table, present);
    this.#wake();
    return object;
  }

  /**
   * Runs commits that belong together. In memory they take effect at once. A store that several processes share sends them
   * together, and rejects with StorageError if one of them has lost a race; until then their objects have no
   * resourceVersion, which `confirm` adds to the result.
   */
  transaction<Result>(
    run: () => MaybePromise<Result>,
    _confirm: (result: Result, resourceVersion: string) => Result,
  ): MaybePromise<Result> {
    return run();
  }

  /** Present if other processes write to the store, too. */
  get shared(): SharedAccess | undefined {
    return undefined;
  }

  /** Repeats a write from a journal, with its event. */
  replay(record: JournalRecord): void {
    this.#hasUnvalidatedObjects = true;
    this.repeat(record);
  }

  /** Repeats a write that was made elsewhere, with its event. */
  protected repeat(record: JournalRecord): void {
    const table = this.#table(record.key.storageKey);
    this.#apply(record, table, table.get(record.key));
  }

  /** Nothing has changed up to a revision. Wakes those who wait for it. */
  protected advanceTo(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    this.#highestRevision = Math.max(this.#highestRevision, revision);
    this.#wake();
  }

  #wake(): void {
    if (this.#revisionWaiters.size > 0) for (const wake of [...this.#revisionWaiters]) wake();
  }

  #apply({ revision, type, key, object, time }: JournalRecord, table: Table, previous: ApiObject | undefined): void {
    this.#revision = revision;
    this.#highestRevision = Math.max(this.#highestRevision, revision);
    if (type === 'DELETED') table.delete(key);
    else table.set(key, object);
    this.changes.count(key.storageKey);
    const { namespace, name } = key;
    this.#historyBytes += table.log.append({ revision, type, namespace, name, object, previous, time });
    if (this.#historyBytes > this.#maxHistoryBytes) this.#limitHistory();
  }

  /** Drops the oldest events of all resources, so many that this is rarely necessary. */
  #limitHistory(): void {
    const events: LogEntry[] = [];
    for (const { log } of this.#tables.values()) for (const event of log.eventsInMemory()) events.push(event);
    events.sort((left, right) => left.revision - right.revision);
    let bytes = events.reduce((sum, event) => sum + event.bytes, 0);
    let dropUpTo = 0;
    for (const event of events) {
      if (bytes <= this.#maxHistoryBytes * HISTORY_FILL) break;
      bytes -= event.bytes;
      dropUpTo = event.revision;
    }
    this.#historyBytes = bytes;
    for (const table of this.#tables.values()) table.dropHistoryUpTo(dropUpTo);
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
    const table = this.#table(key.storageKey);
    table.set(key, object);
    this.changes.count(key.storageKey);
  }

  /** Like `seed`, but the objects are made on first use of the resource. Returns false if it has been used. */
  seedLater(storageKey: string, makeObjects: () => Iterable<PlacedObject>): boolean {
    if (this.#find(storageKey) !== undefined) return false;
    const history = this.#initialHistory;
    const state = once(() => {
      const table = new Table(this.#options, undefined, history);
      for (const { key, object } of makeObjects()) table.set(key, object);
      return table.state();
    });
    this.#unusedTableStates = new Map(this.#unusedTableStates).set(storageKey, state);
    this.changes.countAll();
    return true;
  }

  /**
   * Adds or replaces objects and sets the revision, without events: history starts here, and open watches end. `highest` is
   * the highest revision of the store that the objects come from.
   */
  load(objects: Iterable<PlacedObject>, revision: number, highest = revision): void {
    for (const { key, object } of objects) this.seed(key, object);
    this.#revision = revision;
    this.#highestRevision = Math.max(this.#highestRevision, revision, highest);
    this.#initialHistory = emptyHistoryAfter(revision);
    this.#hasUnvalidatedObjects = true;
    for (const storageKey of this.#unusedTableStates.keys()) this.#table(storageKey);
    for (const table of this.#tables.values()) table.log.resetTo(revision);
    this.#wake();
  }

  /** Reads a collection or a part of it. Throws CompactedError if `at` is compacted. */
  list(query: ListQuery): ListPage {
    const table = this.#find(query.storageKey);
    const revision = query.at ?? this.#revision;
    if (table === undefined) return { items: [], revision };
    table.release(this.#options.clock.now());
    table.log.compact(this.#options.clock.now());
    return table.list(query, revision);
  }

  /** An index of a resource; built once, then kept current. */
  index<Key>(storageKey: string, keysOf: KeysOf<Key>): KeyIndex<Key> {
    return this.#table(storageKey).index(keysOf);
  }

  /** Keeps a revision of a resource readable for the later pages of a list. */
  hold(storageKey: string, revision: number, until: number): void {
    this.#find(storageKey)?.hold(revision, until);
  }

  /** Opens a cursor that is live from now on. Throws CompactedError if `after` is compacted. */
  watch(query: WatchQuery): Cursor {
    // A restore has undone this revision, so there is no history after it.
    if (query.after > this.#revision && query.after <= this.#highestRevision) {
      throw new CompactedError(query.after, this.#revision);
    }
    const { log } = this.#table(query.storageKey);
    log.compact(this.#options.clock.now());
    return log.watch(query.after, query);
  }

  /** All objects of all resources, in no particular order. */
  allObjects(): readonly ApiObject[] {
    return [...this.#allTables()].flatMap(([, table]) => [...table.objects()]);
  }

  /** The number of objects of a resource. */
  count(storageKey: string): number {
    return this.#find(storageKey)?.size ?? 0;
  }

  /** Calls `wake` after every write until undone, for reads that wait for a future revision. */
  onRevision(wake: () => void): () => void {
    this.#revisionWaiters.add(wake);
    return () => this.#revisionWaiters.delete(wake);
  }

  snapshot(): StoreSnapshot {
    // Keeps the order of the tables.
    const tables = new Map<string, TableState | LazyState>(this.#unusedTableStates);
    for (const [storageKey, table] of this.#tables) tables.set(storageKey, table.state());
    return this.#snapshotOf(this.#revision, tables);
  }

  #snapshotOf(revision: number, tables: StoreSnapshot['tables']): StoreSnapshot {
    const [initialHistory, hasUnvalidatedObjects] = [this.#initialHistory, this.#hasUnvalidatedObjects];
    return { revision, tables, initialHistory, hasUnvalidatedObjects };
  }

  /**
   * The state right after a revision. Tables are rewound on first use. Throws CompactedError if the revision is no longer
   * kept.
   */
  snapshotAt(revision: number): StoreSnapshot {
    const oldest = this.oldestRevision();
    if (revision < oldest) throw new CompactedError(revision, oldest);
    const tables = new Map<string, LazyState>();
    for (const [storageKey, table] of this.#allTables()) {
      const state = table.state();
      tables.set(
        storageKey,
        once(() => rewind(state, revision, this.#options)),
      );
    }
    return this.#snapshotOf(revision, tables);
  }

  /** Where history begins: 0, or the revision of the state that was loaded. */
  get firstRevision(): number {
    return this.#initialHistory.compactRevision;
  }

  /** The oldest revision that `snapshotAt` can rebuild. */
  oldestRevision(): number {
    let oldest = this.#initialHistory.compactRevision;
    for (const [, table] of this.#allTables()) {
      table.log.compact(this.#options.clock.now());
      oldest = Math.max(oldest, oldestKeptRevision(table.log.history(), this.#options));
    }
    return oldest;
  }

  /** The kept events of one object key, oldest first. Older events have been dropped. */
  changesOf(key: ObjectKey): readonly LogEntry[] {
    const table = this.#find(key.storageKey);
    if (table === undefined) return [];
    table.log.compact(this.#options.clock.now());
    const history = table.log.history();
    const found: LogEntry[] = [];
    for (const entry of eventsNewestFirst(history, oldestKeptRevision(history, this.#options), this.#options)) {
      if (entry.name === key.name && entry.namespace === key.namespace) found.push(entry);
    }
    return found.reverse();
  }

  /** The time of the newest write up to a revision; undefined if its event has been dropped. */
  timeOf(revision: number): number | undefined {
    let newest: LogEntry | undefined;
    for (const [, table] of this.#allTables()) {
      const entry = lastEventUpTo(table.log.history(), revision);
      if (entry !== undefined && entry.revision > (newest?.revision ?? 0)) newest = entry;
    }
    return newest?.time;
  }

  /** Restores a snapshot, revision included. Open watches end with Expired, because their history is replaced. */
  restore(snapshot: StoreSnapshot): void {
    this.#journal?.reset(this.#journalState(snapshot));
    const before = this.#tables;
    this.#highestRevision = Math.max(this.#highestRevision, snapshot.revision);
    this.#revision = snapshot.revision;
    this.#tables = new Map();
    this.#unusedTableStates = snapshot.tables;
    this.#initialHistory = snapshot.initialHistory;
    this.#hasUnvalidatedObjects = snapshot.hasUnvalidatedObjects;
    this.changes.countAll();
    for (const table of before.values()) table.log.expireAll();
    this.#wake();
  }

  #journalState(snapshot: StoreSnapshot): JournalState {
    const highest = Math.max(this.#highestRevision, snapshot.revision);
    return journalState(snapshot, { dialect: this.#dialect, highest });
  }

  #find(storageKey: string): Table | undefined {
    const table = this.#tables.get(storageKey);
    if (table !== undefined) return table;
    const state = this.#unusedTableStates.get(storageKey);
    if (state === undefined) return undefined;
    const made = new Table(this.#options, typeof state === 'function' ? state() : state);
    this.#tables.set(storageKey, made);
    return made;
  }

  *#allTables(): Iterable<[string, Table]> {
    for (const storageKey of [...this.#unusedTableStates.keys()]) this.#table(storageKey);
    yield* this.#tables;
  }

  #table(storageKey: string): Table {
    let table = this.#find(storageKey);
    if (table === undefined) {
      table = new Table(this.#options, undefined, this.#initialHistory);
      this.#tables.set(storageKey, table);
    }
    return table;
  }
}

const NO_TABLES: StoreSnapshot['tables'] = new Map();
/** The part of the limit that dropping events leaves in use. */
const HISTORY_FILL = 0.8;
const EVENT_TYPE = { create: 'ADDED', update: 'MODIFIED', delete: 'DELETED' } as const;
