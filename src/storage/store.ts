/**
 * The revisioned view of everything: one table per resource, one counter over all of them. See `types.ts` for what
 * it promises.
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

/** Everything the store holds at one moment. Opaque; made in time that does not depend on the number of objects. */
export interface StoreSnapshot {
  readonly revision: number;
  readonly tables: ReadonlyMap<string, TableState | LazyState>;
  /** The past of resources that have no table. */
  readonly begin: History;
  /** See {@link Store.holdsStrangers}. */
  readonly holdsStrangers: boolean;
}

/** A state that is worked out when somebody looks at it; the same one each time. */
export type LazyState = () => TableState;

/** A number for the state of several resources: another number, another state. */
export interface Mark {
  readonly value: number;
}

export class Store {
  readonly #options: StoreOptions;
  #revision: number;
  /** The highest revision ever given out; above the present one after a restore. */
  #highest: number;
  #tables = new Map<string, Table>();
  /** What a snapshot held of tables that nobody has looked at since. A fork that uses three kinds pays for three. */
  #untouched: StoreSnapshot['tables'] = NOTHING;
  /** What is known of the past of a table that has none yet. */
  #begin: History = NO_HISTORY;
  readonly #revisionWaiters = new Set<() => void>();
  /** Counts changes of whatever table, and never goes back: revisions do. */
  #marks = 0;
  #restoredAt = 0;
  /** Who wants to know at a glance whether anything has changed in one of several tables. */
  readonly #marksOf = new Map<string, { value: number }[]>();
  #journal: Journal | undefined;
  #dialect = '';
  #holdsStrangers = false;
  readonly #state = (): JournalState => this.#kept(this.snapshot());

  constructor(options: StoreOptions, from?: StoreSnapshot) {
    this.#options = options;
    this.#revision = from?.revision ?? 0;
    this.#highest = this.#revision;
    if (from === undefined) return;
    this.#untouched = from.tables;
    this.#begin = from.begin;
    this.#holdsStrangers = from.holdsStrangers;
    this.#restoredAt = ++this.#marks;
  }

  /** The revision of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether objects came in otherwise than by requests: nobody has judged those. */
  get holdsStrangers(): boolean {
    return this.#holdsStrangers;
  }

  /** The highest revision ever given out. */
  get highest(): number {
    return this.#highest;
  }

  get(key: ObjectKey): ApiObject | undefined {
    return this.#find(key.resource)?.get(key);
  }

  /** Carries out a write and returns what is now stored (or, for a deletion, what was). Throws StorageError. */
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
    // Nothing can fail from here on.
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

  /** Carries out a write of a former life: it is an event like any other. */
  replay({ revision, type, key, object, time }: JournalRecord): void {
    this.#holdsStrangers = true;
    const table = this.#table(key.resource);
    const present = table.get(key);
    this.#revision = revision;
    this.#highest = Math.max(this.#highest, revision);
    if (type === 'DELETED') table.delete(key);
    else table.set(key, object);
    this.#touch(table, key.resource);
    table.log.append({ revision, type, namespace: key.namespace, name: key.name, object, previous: present, time });
  }

  /** From now on a write is in the journal before it is here. */
  keepIn(journal: Journal, dialect: string): void {
    this.#journal = journal;
    this.#dialect = dialect;
  }

  /** What every write and every restore is kept in, if anything. */
  get journal(): Journal | undefined {
    return this.#journal;
  }

  /** Puts an object where none is, as part of the state that history begins with: no event tells of it. */
  seed(key: ObjectKey, object: ApiObject): void {
    const table = this.#table(key.resource);
    table.set(key, object);
    this.#touch(table, key.resource);
  }

  /**
   * Puts objects in, over what is there under their keys, and takes a revision over. No event tells of them: history begins
   * here, and open watches end. `highest` is what the store had given out where they come from.
   */
  load(objects: Iterable<PlacedObject>, revision: number, highest = revision): void {
    for (const { key, object } of objects) this.seed(key, object);
    this.#revision = revision;
    this.#highest = Math.max(this.#highest, revision, highest);
    this.#begin = historyAfter(revision);
    this.#holdsStrangers = true;
    for (const resource of this.#untouched.keys()) this.#table(resource);
    for (const table of this.#tables.values()) table.log.beginAt(revision);
    if (this.#revisionWaiters.size > 0) for (const wake of [...this.#revisionWaiters]) wake();
  }

  /** Reads a collection, or part of it. Throws CompactedError when `at` is no longer available. */
  list(query: ListQuery): ListPage {
    const table = this.#find(query.resource);
    const revision = query.at ?? this.#revision;
    if (table === undefined) return { items: [], revision };
    table.release(this.#options.clock.now());
    table.log.compact(this.#options.clock.now());
    return table.list(query, revision);
  }

  /** The keys that the present objects of a resource have. The first look at them all is the only one. */
  index<Key>(resource: string, keysOf: KeysOf<Key>): KeyIndex<Key> {
    return this.#table(resource).index(keysOf);
  }

  /** Keeps a revision of a resource readable for the later pages of a list. */
  hold(resource: string, revision: number, until: number): void {
    this.#find(resource)?.hold(revision, until);
  }

  /** A watcher, live from now on. Throws CompactedError when the wanted history is gone. */
  watch(query: WatchQuery): Cursor {
    // A version that was given out and then undone by a restore: what came after it is no history of this store.
    if (query.after > this.#revision && query.after <= this.#highest) {
      throw new CompactedError(query.after, this.#revision);
    }
    const { log } = this.#table(query.resource);
    log.compact(this.#options.clock.now());
    return log.watch(query.after, query);
  }

  /** Every object of every resource, in no order. */
  everything(): readonly ApiObject[] {
    return [...this.#everyTable()].flatMap(([, table]) => [...table.objects()]);
  }

  /** How many objects of a resource there are. */
  count(resource: string): number {
    return this.#find(resource)?.size ?? 0;
  }

  /** A number for the state of a resource: another number, another state, also after a restore. */
  lastChange(resource: string): number {
    return Math.max(this.#tables.get(resource)?.mark ?? 0, this.#restoredAt);
  }

  /** {@link lastChange} of whichever of these resources changed last, for who asks with every request. */
  markOf(resources: Iterable<string>): Mark {
    const mark = { value: this.#restoredAt };
    for (const resource of new Set(resources)) this.extend(mark, resource);
    return mark;
  }

  /** A mark speaks of one more resource from now on. */
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

  /** Calls back after every write until undone. For reads that wait for a revision to come. */
  onRevision(wake: () => void): () => void {
    this.#revisionWaiters.add(wake);
    return () => this.#revisionWaiters.delete(wake);
  }

  snapshot(): StoreSnapshot {
    // In the order of the tables, whether somebody has looked at them or not.
    const tables = new Map<string, TableState | LazyState>(this.#untouched);
    for (const [resource, table] of this.#tables) tables.set(resource, table.state());
    return { revision: this.#revision, tables, begin: this.#begin, holdsStrangers: this.#holdsStrangers };
  }

  /**
   * Everything as it was right after a revision, which is the present or older. Tables are taken back when somebody looks at
   * them. Throws CompactedError when too much has been forgotten since.
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
    return { revision, tables, begin: this.#begin, holdsStrangers: this.#holdsStrangers };
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
    this.#holdsStrangers = snapshot.holdsStrangers;
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
