/**
 * A journal in a folder of this machine. See `folder.ts` for what stands there, `frame.ts` for how.
 *
 * A write goes to the operating system at once, so a process that is killed loses nothing. To survive a loss of power it has
 * to reach the disk as well, which takes milliseconds; all writes of a moment share that wait.
 */
import { GroupSync } from '../../storage/journal/group-sync.js';
import { encodeRecord } from '../../storage/journal/record.js';
import {
  type Journal,
  type JournalContent,
  JournalError,
  type JournalRecord,
  type JournalState,
} from '../../storage/journal/types.js';
import { messageOf } from '../../util/message-of.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { type JournalFiles, nodeFiles } from './files.js';
import { NEXT, readFolder, sweep } from './folder.js';
import { FrameWriter } from './frame.js';
import { lockFolder, type Unlock } from './lock.js';
import { HalfWritten, Segment, writeCheckpoint, writeCheckpointNow } from './writers.js';

export interface FileJournalOptions {
  /**
   * When writes are made to survive a loss of power. `group`: before they are answered, many at once; unless said otherwise.
   * `each`: one by one, before anything else happens. `never`: when the operating system likes; a killed process loses
   * nothing, a machine without power may lose the last seconds.
   */
  readonly sync?: 'group' | 'each' | 'never' | undefined;
  /** Opens a damaged journal with what is whole in it, and puts a copy of the rest aside. Else damage is refused. */
  readonly salvage?: boolean | undefined;
  /**
   * How long the list of writes may grow, in bytes, before the whole state is written down instead: at least this, and at
   * least as much as the state itself. One MiB unless said otherwise.
   */
  readonly compactAfter?: number | undefined;
  /** Told what went wrong without consequences for anybody yet. Absent: the console is. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

const OPTIONS = [
  'sync',
  'salvage',
  'compactAfter',
  'onWarning',
] as const satisfies readonly (keyof FileJournalOptions)[];
const SYNCS = ['group', 'each', 'never'];
const MEBIBYTE = 1024 * 1024;

/**
 * A journal in a folder, which is made when it is not there. One cluster at a time may have it.
 *
 * @example
 * await using cluster = createCluster({ journal: fileJournal('./data') });
 */
export function fileJournal(folder: string, options: FileJournalOptions = {}): Journal {
  return new FileJournal(folder, options, { files: nodeFiles, lock: lockFolder });
}

/** What stands between the journal and the machine. */
export interface Machine {
  readonly files: JournalFiles;
  readonly lock: (folder: string) => Unlock;
}

export class FileJournal implements Journal {
  readonly #folder: string;
  readonly #files: JournalFiles;
  readonly #lock: Machine['lock'];
  readonly #options: FileJournalOptions;
  readonly #sync: 'group' | 'each' | 'never';
  readonly #writer = new FrameWriter();
  #unlock: Unlock | undefined;
  #segment: Segment | undefined;
  #group: GroupSync;
  /** Why nothing can be written any more. */
  #broken: JournalError | undefined = CLOSED;
  #checkpointBytes = 0;
  /** Of journals since the last checkpoint, before the present one. */
  #olderBytes = 0;
  /** No checkpoint is tried before the journals are this long: the last try has failed. */
  #patienceBytes = 0;
  #checkpointing: Promise<void> | undefined;
  /** Another number, and a checkpoint that is being written is of no use any more. */
  #epoch = 0;
  /** Files that a running sync may be at work on. */
  readonly #retired: Segment[] = [];

  constructor(folder: string, options: FileJournalOptions, { files, lock }: Machine) {
    refuseUnknownOptions('fileJournal', options, OPTIONS);
    if (typeof folder !== 'string' || folder === '') throw new TypeError('orchplane: fileJournal takes a folder');
    const { sync = 'group', compactAfter = MEBIBYTE } = options;
    if (!SYNCS.includes(sync)) throw new TypeError(`orchplane: sync of fileJournal is one of ${SYNCS.join(', ')}`);
    if (!(compactAfter > 0)) throw new RangeError('orchplane: compactAfter of fileJournal is a number of bytes');
    this.#folder = folder;
    this.#files = files;
    this.#lock = lock;
    this.#options = options;
    this.#sync = sync;
    this.#group = this.#newGroup();
  }

  get durableRevision(): number {
    return this.#sync === 'never' ? Number.POSITIVE_INFINITY : this.#group.durableRevision;
  }

  load(): JournalContent | undefined {
    if (this.#unlock !== undefined) throw new JournalError('orchplane: this journal is in use by another cluster');
    return attempt(`journal ${this.#folder} could not be opened`, () => {
      this.#files.makeFolder(this.#folder);
      this.#unlock = this.#lock(this.#folder);
      try {
        return this.#read();
      } catch (error) {
        this.#letGo();
        throw error;
      }
    });
  }

  #read(): JournalContent | undefined {
    const place = { files: this.#files, folder: this.#folder };
    const { salvage = false } = this.#options;
    const content = readFolder({ ...place, salvage, warn: (warning) => this.#warn(warning) });
    this.#broken = undefined;
    this.#group = this.#newGroup();
    if (content === undefined) {
      sweep(place, 0, 0);
      return undefined;
    }
    const { checkpoint, records, generation, size, oldest } = content;
    this.#segment = Segment.open(this.#files, this.#folder, content);
    // What could be read of it is in the place of what is damaged, which was put aside.
    if (content.isCheckpointMended) writeCheckpointNow({ ...place, generation: oldest }, checkpoint);
    sweep(place, oldest, generation);
    this.#begin(content.checkpointBytes, checkpoint.revision + records.length);
    this.#olderBytes = content.journalBytes - size;
    return { checkpoint, records };
  }

  reset(state: JournalState): void {
    if (this.#broken !== undefined) throw this.#broken;
    const generation = (this.#segment?.generation ?? 0) + 1;
    const place = { files: this.#files, folder: this.#folder, generation };
    // Whatever checkpoint is being written is of what is no more.
    this.#epoch++;
    let segment: Segment | undefined;
    let isBegun = false;
    try {
      // First the journal: a checkpoint never is without one.
      segment = Segment.create(this.#files, this.#folder, generation);
      const size = writeCheckpointNow(place, state);
      isBegun = true;
      this.#takeOver(segment);
      sweep(place, generation, generation);
      this.#begin(size, state.revision);
    } catch (error) {
      // The folder may hold the new state, and the cluster goes on with the old one.
      if (isBegun || error instanceof HalfWritten) throw this.#break(error);
      attempt(NOT_WRITTEN, () => segment?.discard(this.#files, this.#folder));
      throw journalError(NOT_WRITTEN, error);
    }
  }

  append(record: JournalRecord, stateBefore: () => JournalState): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#isTooLong()) this.#compact(stateBefore);
    const segment = this.#current();
    try {
      if (this.#sync === 'each') segment.appendNow(encodeRecord(record), this.#writer);
      else segment.append(encodeRecord(record), this.#writer);
    } catch (error) {
      if (error instanceof HalfWritten) throw this.#break(error);
      throw journalError(NOT_WRITTEN, error);
    }
    if (this.#sync === 'group') this.#group.noteWritten(record.revision);
    else this.#group.noteDurable(record.revision);
  }

  durable(): Promise<void> | undefined {
    return this.#group.wait();
  }

  async close(): Promise<void> {
    this.#epoch++;
    // Nothing is waited for that is not under way: where no cluster could be made, the next try finds the folder free.
    if (this.#checkpointing !== undefined) await this.#checkpointing;
    if (this.#group.isRunning) await this.#group.idle();
    try {
      if (this.#broken === undefined) this.#finish();
    } finally {
      this.#letGo();
    }
  }

  /** Everything is durable, and says so: what is amiss with it from now on is damage. */
  #finish(): void {
    try {
      const problem = this.#segment?.mark(this.#writer);
      if (problem instanceof HalfWritten) throw problem;
      if (problem !== undefined)
        this.#warn(`the journal in ${this.#folder} has no mark at its end: ${messageOf(problem)}`);
    } catch (error) {
      throw this.#break(error);
    }
    this.#group.noteDurable();
  }

  #letGo(): void {
    this.#segment?.close();
    this.#segment = undefined;
    this.#broken ??= CLOSED;
    this.#unlock?.();
    this.#unlock = undefined;
  }

  /** A new beginning, all of it durable. */
  #begin(checkpointBytes: number, revision: number): void {
    this.#checkpointBytes = checkpointBytes;
    this.#olderBytes = 0;
    this.#patienceBytes = 0;
    // While the disk is at work, all wait for that: should it fail, nothing more is told.
    if (this.#group.isRunning) this.#group.noteReset(revision);
    else this.#group.noteDurable(revision);
  }

  #newGroup(): GroupSync {
    return new GroupSync({
      sync: async () => {
        try {
          await this.#current().sync();
        } finally {
          for (const segment of this.#retired.splice(0)) segment.close();
        }
      },
      later: (run) => void setImmediate(run),
      fail: (error) => this.#break(error),
    });
  }

  /** From here on, this is written to. */
  #takeOver(segment: Segment): void {
    const old = this.#segment;
    this.#segment = segment;
    if (this.#group.isRunning && old !== undefined) this.#retired.push(old);
    else old?.close();
  }

  #isTooLong(): boolean {
    if (this.#checkpointing !== undefined) return false;
    const { compactAfter = MEBIBYTE } = this.#options;
    const bytes = this.#olderBytes + this.#current().size;
    return bytes > Math.max(compactAfter, this.#checkpointBytes, this.#patienceBytes);
  }

  /** Another file for what comes, and beside that a checkpoint of what has been. */
  #compact(stateBefore: () => JournalState): void {
    const old = this.#current();
    this.#syncOrBreak(old);
    let segment: Segment | undefined;
    try {
      segment = Segment.create(this.#files, this.#folder, old.generation + 1);
      old.append(NEXT, this.#writer);
    } catch (error) {
      if (error instanceof HalfWritten) throw this.#break(error);
      attempt(NOT_WRITTEN, () => segment?.discard(this.#files, this.#folder));
      this.#postpone(error);
      return;
    }
    // What comes must never be on the disk without what was before.
    this.#syncOrBreak(old);
    this.#group.noteDurable();
    this.#takeOver(segment);
    this.#olderBytes += old.size;
    this.#checkpointing = this.#checkpoint(stateBefore(), old.generation + 1).finally(() => {
      this.#checkpointing = undefined;
    });
  }

  #syncOrBreak(segment: Segment): void {
    try {
      segment.syncNow();
    } catch (error) {
      throw this.#break(error);
    }
  }

  async #checkpoint(state: JournalState, generation: number): Promise<void> {
    const place = { files: this.#files, folder: this.#folder, generation };
    const epoch = this.#epoch;
    try {
      const size = await writeCheckpoint(place, state, () => epoch === this.#epoch);
      if (size === undefined) return;
      this.#checkpointBytes = size;
      this.#olderBytes = 0;
      this.#patienceBytes = 0;
      sweep(place, generation, this.#current().generation);
    } catch (error) {
      this.#postpone(error);
    }
  }

  /** Without a checkpoint the journal gets longer, and that is all. */
  #postpone(error: unknown): void {
    this.#patienceBytes = 2 * (this.#olderBytes + this.#current().size);
    this.#warn(`a checkpoint of the journal in ${this.#folder} is put off: ${messageOf(error)}`);
  }

  #current(): Segment {
    const segment = this.#segment;
    if (segment === undefined) throw CLOSED;
    return segment;
  }

  /** For good: what the disk has done is unknown. */
  #break(error: unknown): JournalError {
    this.#broken ??= journalError(`${NOT_WRITTEN}, and nothing is written until it is opened again`, error);
    this.#group.break(this.#broken);
    return this.#broken;
  }

  #warn(warning: string): void {
    const { onWarning = (text: string) => console.warn(`orchplane: ${text}`) } = this.#options;
    onWarning(warning);
  }
}

const NOT_WRITTEN = 'the journal could not be written';
const CLOSED = new JournalError('orchplane: the journal is closed');

function attempt<Result>(what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw error instanceof JournalError ? error : journalError(what, error);
  }
}

function journalError(what: string, error: unknown): JournalError {
  return new JournalError(`orchplane: ${what}: ${messageOf(error)}`, { cause: error });
}
