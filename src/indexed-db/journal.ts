/**
 * A journal in IndexedDB. Reading is asynchronous, so it is done before the journal is returned; writes are collected
 * while a transaction runs and go into the next one.
 */
import { GroupSync } from '../storage/journal/group-sync.js';
import { decodePlaced, decodeRecord, encodePlaced, encodeRecord } from '../storage/journal/record.js';
import {
  type Journal,
  type JournalContent,
  JournalError,
  type JournalRecord,
  type JournalState,
} from '../storage/journal/types.js';
import { randomIds } from '../util/ids.js';
import { refuseUnknownOptions } from '../util/options.js';

const META_STORE = 'meta';

const STATE_STORE = 'states';

const RECORD_STORE = 'records';

const META_KEY = 'only';
/** In the store of the meta data: names the page that opened the journal last. */
const OWNER_KEY = 'owner';

/** Sorts after every row number: arrays are greater than numbers in IndexedDB. */
const LAST_ROW: readonly never[] = [];

/** The options of {@link indexedDbJournal}. */
export interface IndexedDbJournalOptions {
  /**
   * The number of writes, and at least the number of objects, after which the whole state is stored; 1,000 by default.
   */
  readonly compactAfter?: number | undefined;
}

const OPTIONS = ['compactAfter'] as const satisfies readonly (keyof IndexedDbJournalOptions)[];

/** Objects per row of a stored state: about what is encoded in a millisecond. */
const OBJECTS_PER_ROW = 100;

/**
 * Opens a journal in IndexedDB under a name. Only one page at a time may use it. Rejects with JournalError. Where browsers have
 * no locks, a page fails to write after another one has opened the journal.
 *
 * @example
 * const cluster = createCluster({ journal: await indexedDbJournal('demo') });
 */
export async function indexedDbJournal(name: string, options: IndexedDbJournalOptions = {}): Promise<Journal> {
  refuseUnknownOptions('indexedDbJournal', options, OPTIONS);
  if (typeof name !== 'string' || name === '') throw new TypeError('orchplane: indexedDbJournal takes a name');
  const { compactAfter = 1_000 } = options;
  if (!(compactAfter > 0)) throw new RangeError('orchplane: compactAfter of indexedDbJournal is a number of writes');
  const path = `orchplane/${name}`;
  const unlock = await lockName(path);
  let database: IDBDatabase | undefined;
  try {
    database = await openDatabase(path);
    const owner = randomIds.uid();
    await runTransaction(database, (transaction) => transaction.objectStore(META_STORE).put(owner, OWNER_KEY));
    const read = await readAll(database);
    return new IndexedDbJournal(database, { ...read, compactAfter, owner, unlock });
  } catch (error) {
    database?.close();
    unlock();
    throw error instanceof JournalError ? error : journalError(`the journal "${name}" could not be opened`, error);
  }
}

interface StoredJournal {
  readonly content: JournalContent | undefined;
  readonly generation: number;
  /** The number of the newest record. */
  readonly last: number;
  readonly objects: number;
}

async function readAll(database: IDBDatabase): Promise<StoredJournal> {
  const transaction = database.transaction([META_STORE, STATE_STORE, RECORD_STORE]);
  const metaRead = resultOf(transaction.objectStore(META_STORE).get(META_KEY) as IDBRequest<Meta | undefined>);
  const meta = await metaRead;
  if (meta === undefined) return { content: undefined, generation: 0, last: 0, objects: 0 };
  const { generation, after, rows, revision, highest, dialect } = meta;
  const range = IDBKeyRange.bound([generation, 0], [generation, LAST_ROW]);
  const statesRead = resultOf(transaction.objectStore(STATE_STORE).getAll(range) as IDBRequest<string[][]>);
  const later = IDBKeyRange.lowerBound(after, true);
  const recordsRead = resultOf(transaction.objectStore(RECORD_STORE).getAll(later) as IDBRequest<string[]>);
  const [states, texts] = await Promise.all([statesRead, recordsRead]);
  if (states.length !== rows)
    throw new JournalError(`orchplane: of ${rows} rows of the state ${states.length} are there`);
  const records = texts.map(decodeRecord);
  records.forEach((record, index) => {
    if (record.revision === revision + index + 1) return;
    throw new JournalError(`orchplane: version ${record.revision} in the journal should be ${revision + index + 1}`);
  });
  const objects = states.flat().map(decodePlaced);
  const content = { checkpoint: { revision, highest, dialect, objects }, records };
  return { content, generation, last: after + records.length, objects: objects.length };
}

interface JournalParts extends StoredJournal {
  readonly compactAfter: number;
  readonly owner: string;
  readonly unlock: Unlock;
}

type QueuedChange = (transaction: IDBTransaction) => void;

class IndexedDbJournal implements Journal {
  readonly #database: IDBDatabase;
  readonly #compactAfter: number;
  readonly #owner: string;
  readonly #unlock: Unlock;
  readonly #group: GroupSync;
  #content: JournalContent | undefined;
  #isLoaded = false;
  #failure: JournalError | undefined;
  #generation: number;
  #objects: number;
  /** The number of the newest record, and of the newest record that the stored state includes. */
  #last: number;
  #after: number;
  #queue: QueuedChange[] = [];
  #compacting: Promise<void> | undefined;
  /** Incremented to invalidate a state that is being stored. */
  #epoch = 0;

  constructor(database: IDBDatabase, parts: JournalParts) {
    this.#database = database;
    this.#compactAfter = parts.compactAfter;
    this.#owner = parts.owner;
    this.#unlock = parts.unlock;
    this.#content = parts.content;
    this.#generation = parts.generation;
    this.#objects = parts.objects;
    this.#last = parts.last;
    this.#after = parts.last - (parts.content?.records.length ?? 0);
    this.#group = new GroupSync({
      sync: () => {
        const changes = this.#queue;
        this.#queue = [];
        return this.#run((transaction) => {
          for (const change of changes) change(transaction);
        });
      },
      // Writes of the current task share a transaction; while it runs, the next batch is collected.
      later: (run) => queueMicrotask(run),
      fail: (error) => this.#fail(error),
    });
    if (parts.content !== undefined) {
      this.#group.noteDurable(parts.content.checkpoint.revision + parts.content.records.length);
    }
  }

  get durableRevision(): number {
    return this.#group.durableRevision;
  }

  load(): JournalContent | undefined {
    if (this.#isLoaded) throw new JournalError('orchplane: this journal is in use by another cluster');
    if (this.#failure !== undefined) throw this.#failure;
    this.#isLoaded = true;
    const content = this.#content;
    this.#content = undefined;
    return content;
  }

  reset(state: JournalState): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#epoch++;
    const generation = ++this.#generation;
    const after = this.#last;
    const rows = [...rowsOf(state)];
    this.#queue.push((transaction) => {
      rows.forEach((row, index) => {
        transaction.objectStore(STATE_STORE).put(row, [generation, index]);
      });
      makeCurrent(transaction, { generation, after, rows: rows.length, ...headOf(state) });
    });
    this.#group.noteReset(state.revision);
    this.#after = after;
    this.#objects = rows.reduce((sum, row) => sum + row.length, 0);
  }

  append(record: JournalRecord, stateBefore: () => JournalState): void {
    if (this.#failure !== undefined) throw this.#failure;
    const length = this.#last - this.#after;
    if (this.#compacting === undefined && length > Math.max(this.#compactAfter, this.#objects)) {
      this.#compacting = this.#compact(stateBefore(), this.#last).finally(() => {
        this.#compacting = undefined;
      });
    }
    const number = ++this.#last;
    const text = encodeRecord(record);
    this.#queue.push((transaction) => transaction.objectStore(RECORD_STORE).put(text, number));
    this.#group.noteWritten(record.revision);
  }

  whenDurable(): Promise<void> | undefined {
    return this.#group.wait();
  }

  async close(): Promise<void> {
    this.#epoch++;
    await this.#compacting;
    await this.#group.idle();
    this.#failure ??= new JournalError('orchplane: the journal is closed');
    this.#database.close();
    this.#unlock();
  }

  /** Stores the state row by row, concurrently with writes; the last step makes it current. */
  async #compact(state: JournalState, after: number): Promise<void> {
    const epoch = this.#epoch;
    const generation = ++this.#generation;
    let rows = 0;
    let objects = 0;
    try {
      for (const row of rowsOf(state)) {
        const index = rows++;
        objects += row.length;
        await this.#run((transaction) => {
          transaction.objectStore(STATE_STORE).put(row, [generation, index]);
        });
        if (epoch !== this.#epoch) return;
      }
      const meta = { generation, after, rows, ...headOf(state) };
      await this.#run((transaction) => makeCurrent(transaction, meta));
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (epoch !== this.#epoch) return;
    this.#after = after;
    this.#objects = objects;
  }

  /** Runs a transaction, which is aborted if another page has opened the journal. */
  #run(change: QueuedChange): Promise<void> {
    return runTransaction(this.#database, (transaction) => {
      const read = transaction.objectStore(META_STORE).get(OWNER_KEY);
      read.onsuccess = () => read.result === this.#owner || transaction.abort();
      change(transaction);
    });
  }

  #fail(error: unknown): JournalError {
    this.#failure ??= journalError(
      'the journal could not be written, and nothing is written until it is opened again',
      error,
    );
    this.#group.break(this.#failure);
    return this.#failure;
  }
}

function headOf({ revision, highest, dialect }: JournalState): Pick<Meta, 'revision' | 'highest' | 'dialect'> {
  return { revision, highest, dialect };
}

function* rowsOf(state: JournalState): Iterable<string[]> {
  let row: string[] = [];
  for (const placed of state.objects) {
    row.push(encodePlaced(placed));
    if (row.length < OBJECTS_PER_ROW) continue;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

/** Makes a state current and removes what it replaces. */
function makeCurrent(transaction: IDBTransaction, meta: Meta): void {
  transaction.objectStore(META_STORE).put(meta, META_KEY);
  const states = transaction.objectStore(STATE_STORE);
  states.delete(IDBKeyRange.bound([0], [meta.generation], false, true));
  // Rows of states that were left unfinished when a page closed.
  states.delete(IDBKeyRange.lowerBound([meta.generation, meta.rows]));
  transaction.objectStore(RECORD_STORE).delete(IDBKeyRange.upperBound(meta.after));
}

export function journalError(what: string, error: unknown): JournalError {
  const { name = '', message = '' } = error instanceof Error || error instanceof DOMException ? error : {};
  // The message is empty in some browsers when the disk is full.
  const why = message || name || String(error);
  return new JournalError(`orchplane: ${what}: ${why}`, { cause: error });
}

interface Meta {
  readonly generation: number;
  readonly revision: number;
  /** The highest revision ever assigned; absent: `revision`. */
  readonly highest?: number | undefined;
  readonly dialect: string;
  readonly rows: number;
  /** Records above this number are newer than the state. */
  readonly after: number;
}

function openDatabase(name: string): Promise<IDBDatabase> {
  if (typeof indexedDB === 'undefined') {
    throw new JournalError('orchplane: there is no IndexedDB here; Node has fileJournal of orchplane/node');
  }
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    for (const store of [META_STORE, STATE_STORE, RECORD_STORE]) opening.result.createObjectStore(store);
  };
  return resultOf(opening);
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Runs `change` in a transaction. Resolves when it is on stable storage. */
function runTransaction(database: IDBDatabase, change: (transaction: IDBTransaction) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([META_STORE, STATE_STORE, RECORD_STORE], 'readwrite', {
      durability: 'strict',
    });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('another page has opened it'));
    change(transaction);
  });
}

type Unlock = () => void;

/** Takes the Web Lock of a journal. Rejects with JournalError when another page or cluster holds it. */
function lockName(name: string): Promise<Unlock> {
  const locks = typeof navigator === 'undefined' ? undefined : navigator.locks;
  if (locks === undefined) return Promise.resolve(() => undefined);
  return new Promise((resolve, reject) => {
    const held = locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null)
        throw new JournalError(`orchplane: the journal "${name}" is in use by another page or cluster`);
      return new Promise<void>((release) => resolve(release));
    });
    held.catch(reject);
  });
}
