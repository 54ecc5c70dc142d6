/**
 * A journal in the IndexedDB of a browser. Reading it has to be waited for, so that is done before the journal is handed
 * out; writes gather while a transaction is under way, and go into the next.
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
import { refuseUnknownOptions } from '../util/options.js';

const META = 'meta';

const STATES = 'states';

const RECORDS = 'records';

const ONLY = 'only';

/** Above every number of a row. */
const ANY_ROW: readonly never[] = [];

export interface IndexedDbJournalOptions {
  /** After so many writes, and at least as many as there are objects, the whole state is kept instead; 1,000 unless given. */
  readonly compactAfter?: number | undefined;
}

const OPTIONS = ['compactAfter'] as const satisfies readonly (keyof IndexedDbJournalOptions)[];

/** Objects in one row of a state: about what is encoded in a millisecond. */
const ROW = 100;

/**
 * A journal in the browser's own database, under a name. One page at a time may have it. Rejects with JournalError.
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
    const read = await readAll(database);
    return new IndexedDbJournal(database, { ...read, compactAfter, unlock });
  } catch (error) {
    database?.close();
    unlock();
    throw error instanceof JournalError ? error : journalError(`the journal "${name}" could not be opened`, error);
  }
}

interface Read {
  readonly content: JournalContent | undefined;
  readonly generation: number;
  /** The number of the newest record. */
  readonly last: number;
  readonly objects: number;
}

async function readAll(database: IDBDatabase): Promise<Read> {
  const transaction = database.transaction([META, STATES, RECORDS]);
  const metaRead = resultOf(transaction.objectStore(META).get(ONLY) as IDBRequest<Meta | undefined>);
  const meta = await metaRead;
  if (meta === undefined) return { content: undefined, generation: 0, last: 0, objects: 0 };
  const { generation, after, rows, revision, highest, dialect } = meta;
  const range = IDBKeyRange.bound([generation, 0], [generation, ANY_ROW]);
  const statesRead = resultOf(transaction.objectStore(STATES).getAll(range) as IDBRequest<string[][]>);
  const later = IDBKeyRange.lowerBound(after, true);
  const recordsRead = resultOf(transaction.objectStore(RECORDS).getAll(later) as IDBRequest<string[]>);
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

interface Parts extends Read {
  readonly compactAfter: number;
  readonly unlock: Unlock;
}

type Change = (transaction: IDBTransaction) => void;

class IndexedDbJournal implements Journal {
  readonly #database: IDBDatabase;
  readonly #compactAfter: number;
  readonly #unlock: Unlock;
  readonly #group: GroupSync;
  #content: JournalContent | undefined;
  #isLoaded = false;
  #broken: JournalError | undefined;
  #generation: number;
  #objects: number;
  /** The number of the newest record, and of the newest that the state holds. */
  #last: number;
  #after: number;
  #queue: Change[] = [];
  #compacting: Promise<void> | undefined;
  /** Another number, and the state that is being written is of no use any more. */
  #epoch = 0;

  constructor(database: IDBDatabase, parts: Parts) {
    this.#database = database;
    this.#compactAfter = parts.compactAfter;
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
        return write(database, (transaction) => {
          for (const change of changes) change(transaction);
        });
      },
      // What is asked for in this turn goes into one transaction; while it is under way, the next gathers.
      later: (run) => queueMicrotask(run),
      fail: (error) => this.#break(error),
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
    if (this.#broken !== undefined) throw this.#broken;
    this.#isLoaded = true;
    const content = this.#content;
    this.#content = undefined;
    return content;
  }

  reset(state: JournalState): void {
    if (this.#broken !== undefined) throw this.#broken;
    this.#epoch++;
    const generation = ++this.#generation;
    const after = this.#last;
    const rows = [...rowsOf(state)];
    this.#queue.push((transaction) => {
      rows.forEach((row, index) => {
        transaction.objectStore(STATES).put(row, [generation, index]);
      });
      makeCurrent(transaction, { generation, after, rows: rows.length, ...headOf(state) });
    });
    this.#group.noteReset(state.revision);
    this.#after = after;
    this.#objects = rows.reduce((sum, row) => sum + row.length, 0);
  }

  append(record: JournalRecord, stateBefore: () => JournalState): void {
    if (this.#broken !== undefined) throw this.#broken;
    const length = this.#last - this.#after;
    if (this.#compacting === undefined && length > Math.max(this.#compactAfter, this.#objects)) {
      this.#compacting = this.#compact(stateBefore(), this.#last).finally(() => {
        this.#compacting = undefined;
      });
    }
    const number = ++this.#last;
    const text = encodeRecord(record);
    this.#queue.push((transaction) => transaction.objectStore(RECORDS).put(text, number));
    this.#group.noteWritten(record.revision);
  }

  durable(): Promise<void> | undefined {
    return this.#group.wait();
  }

  async close(): Promise<void> {
    this.#epoch++;
    await this.#compacting;
    await this.#group.idle();
    this.#broken ??= new JournalError('orchplane: the journal is closed');
    this.#database.close();
    this.#unlock();
  }

  /** A state, row by row, beside what is written meanwhile; it counts with the last step. */
  async #compact(state: JournalState, after: number): Promise<void> {
    const epoch = this.#epoch;
    const generation = ++this.#generation;
    let rows = 0;
    let objects = 0;
    try {
      for (const row of rowsOf(state)) {
        const index = rows++;
        objects += row.length;
        await write(this.#database, (transaction) => {
          transaction.objectStore(STATES).put(row, [generation, index]);
        });
        if (epoch !== this.#epoch) return;
      }
      const meta = { generation, after, rows, ...headOf(state) };
      await write(this.#database, (transaction) => makeCurrent(transaction, meta));
    } catch (error) {
      this.#break(error);
      return;
    }
    if (epoch !== this.#epoch) return;
    this.#after = after;
    this.#objects = objects;
  }

  #break(error: unknown): JournalError {
    this.#broken ??= journalError(
      'the journal could not be written, and nothing is written until it is opened again',
      error,
    );
    this.#group.break(this.#broken);
    return this.#broken;
  }
}

function headOf({ revision, highest, dialect }: JournalState): Pick<Meta, 'revision' | 'highest' | 'dialect'> {
  return { revision, highest, dialect };
}

function* rowsOf(state: JournalState): Iterable<string[]> {
  let row: string[] = [];
  for (const placed of state.objects) {
    row.push(encodePlaced(placed));
    if (row.length < ROW) continue;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

/** From here on this state counts, and what it has replaced goes. */
function makeCurrent(transaction: IDBTransaction, meta: Meta): void {
  transaction.objectStore(META).put(meta, ONLY);
  const states = transaction.objectStore(STATES);
  states.delete(IDBKeyRange.bound([0], [meta.generation], false, true));
  // Of states that were not finished when a page went.
  states.delete(IDBKeyRange.lowerBound([meta.generation, meta.rows]));
  transaction.objectStore(RECORDS).delete(IDBKeyRange.upperBound(meta.after));
}

function journalError(what: string, error: unknown): JournalError {
  const why = error instanceof Error || error instanceof DOMException ? error.message : String(error);
  return new JournalError(`orchplane: ${what}: ${why}`, { cause: error });
}

interface Meta {
  readonly generation: number;
  readonly revision: number;
  /** The highest revision ever given out; absent: that one. */
  readonly highest?: number | undefined;
  readonly dialect: string;
  readonly rows: number;
  /** Records above this number were written after the state. */
  readonly after: number;
}

function openDatabase(name: string): Promise<IDBDatabase> {
  if (typeof indexedDB === 'undefined') {
    throw new JournalError('orchplane: there is no IndexedDB here; Node has fileJournal of orchplane/node');
  }
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    for (const store of [META, STATES, RECORDS]) opening.result.createObjectStore(store);
  };
  return resultOf(opening);
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Resolves when everything that `change` asks for is on stable storage. */
function write(database: IDBDatabase, change: (transaction: IDBTransaction) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([META, STATES, RECORDS], 'readwrite', { durability: 'strict' });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was given up'));
    change(transaction);
  });
}

type Unlock = () => void;

/** Rejects with JournalError when another page, or another cluster of this one, has the name. */
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
