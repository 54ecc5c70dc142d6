/**
 * A journal in a folder. See `folder.ts` for its files and `frame.ts` for their format.
 *
 * A write reaches the operating system at once, so a killed process loses nothing. To survive a power loss it must also
 * be synced to disk, which takes milliseconds; concurrent writes share one sync.
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
import { type JournalFiles, nodeFiles } from './files.js';
import { NEXT_MARK, readFolder, removeObsoleteFiles } from './folder.js';
import { FrameWriter } from './frame.js';
import { type FolderLock, lockFolder } from './lock.js';
import { type FileJournalOptions, type JournalSettings, readOptions } from './options.js';
import { DISK_FULL, isDeletion, isOutOfSpace, releaseForLock, SpaceReserve } from './reserve.js';
import { PartialWriteError, Segment, writeCheckpoint, writeCheckpointSync } from './writers.js';

/**
 * Creates a journal in a folder, which is created if necessary. Only one cluster at a time may use it.
 *
 * @example
 * await using cluster = createCluster({ journal: fileJournal('./data') });
 */
export function fileJournal(folder: string, options: FileJournalOptions = {}): Journal {
  return new FileJournal(folder, options, { files: nodeFiles, lock: lockFolder });
}

/** The file system and lock that the journal uses; tests replace them. */
export interface JournalPlatform {
  readonly files: JournalFiles;
  readonly lock: (folder: string) => FolderLock;
}

/** The implementation of {@link fileJournal}. */
export class FileJournal implements Journal {
  readonly #folder: string;
  readonly #files: JournalFiles;
  readonly #lock: JournalPlatform['lock'];
  readonly #settings: JournalSettings;
  readonly #writer = new FrameWriter();
  #held: FolderLock | undefined;
  #segment: Segment | undefined;
  #reserve: SpaceReserve | undefined;
  /** The last warning about refused writes. */
  #refusal: string | undefined;
  #group: GroupSync;
  /** Why the journal accepts no writes. */
  #failure: JournalError | undefined = CLOSED_ERROR;
  #checkpointBytes = 0;
  /** The size of older journals since the last checkpoint, without the current one. */
  #olderBytes = 0;
  /** The journal size at which the next checkpoint is attempted after a failed one. */
  #retryBytes = 0;
  #checkpointing: Promise<void> | undefined;
  /** Incremented to invalidate a checkpoint in progress. */
  #epoch = 0;
  /** Segments that a running sync may still use. */
  readonly #retiredSegments: Segment[] = [];

  constructor(folder: string, options: FileJournalOptions, { files, lock }: JournalPlatform) {
    if (typeof folder !== 'string' || folder === '') throw new TypeError('orchplane: fileJournal takes a folder');
    this.#folder = folder;
    this.#files = files;
    this.#lock = lock;
    this.#settings = readOptions(options);
    this.#group = this.#newGroup();
  }

  get durableRevision(): number {
    return this.#settings.sync === 'never' ? Number.POSITIVE_INFINITY : this.#group.durableRevision;
  }

  load(): JournalContent | undefined {
    if (this.#held !== undefined) throw new JournalError('orchplane: this journal is in use by another cluster');
    return wrapErrors(`journal ${this.#folder} could not be opened`, () => {
      this.#files.makeFolder(this.#folder);
      this.#held = this.#lockFolder();
      try {
        return this.#read();
      } catch (error) {
        this.#release();
        throw error;
      }
    });
  }

  /** A lock file needs space, which the cluster may have used up before it ended. */
  #lockFolder(): FolderLock {
    try {
      return this.#lock(this.#folder);
    } catch (error) {
      if (!isOutOfSpace(error) || !releaseForLock({ files: this.#files, folder: this.#folder })) throw error;
      return this.#lock(this.#folder);
    }
  }

  #read(): JournalContent | undefined {
    const place = { files: this.#files, folder: this.#folder };
    const { salvage, warn } = this.#settings;
    const content = readFolder({ ...place, salvage, warn });
    this.#failure = undefined;
    this.#group = this.#newGroup();
    if (content === undefined) {
      removeObsoleteFiles(place, 0, 0);
      return undefined;
    }
    const { checkpoint, records, generation, size, oldest } = content;
    this.#segment = Segment.open(this.#files, this.#folder, content);
    // Replace the damaged checkpoint by its intact part; a copy of the original has been saved.
    if (content.isCheckpointRepaired) writeCheckpointSync({ ...place, generation: oldest }, checkpoint);
    removeObsoleteFiles(place, oldest, generation);
    this.#startFrom(content.checkpointBytes, checkpoint.revision + records.length);
    this.#olderBytes = content.journalBytes - size;
    this.#openReserve();
    return { checkpoint, records };
  }

  reset(state: JournalState): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#requireLock();
    const generation = (this.#segment?.generation ?? 0) + 1;
    const place = { files: this.#files, folder: this.#folder, generation };
    // A checkpoint in progress is of the discarded state.
    this.#epoch++;
    let segment: Segment | undefined;
    let isBegun = false;
    try {
      // Create the journal first: a checkpoint always has a journal of the same number.
      segment = Segment.create(this.#files, this.#folder, generation);
      const size = writeCheckpointSync(place, state);
      isBegun = true;
      this.#switchTo(segment);
      removeObsoleteFiles(place, generation, generation);
      this.#startFrom(size, state.revision);
      this.#openReserve();
    } catch (error) {
      // The folder may contain the new state while the cluster continues with the old one.
      if (isBegun || error instanceof PartialWriteError) throw this.#fail(error);
      wrapErrors(WRITE_FAILED, () => segment?.discard(this.#files));
      throw journalError(WRITE_FAILED, error);
    }
  }

  append(record: JournalRecord, stateBefore: () => JournalState): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#requireInPlace();
    if (this.#isTooLong()) this.#compact(stateBefore);
    const text = encodeRecord(record);
    try {
      if (isDeletion(record)) this.#appendDeletion(text);
      else {
        this.#fillReserve();
        this.#append(text);
        this.#refusal = undefined;
      }
    } catch (error) {
      if (error instanceof PartialWriteError) throw this.#fail(error);
      throw this.#refuse(isOutOfSpace(error) ? DISK_FULL : WRITE_FAILED, error);
    }
    // It may have been removed since the check above.
    if (this.#settings.sync === 'each') this.#requireInPlace((error) => this.#fail(error));
    if (this.#settings.sync === 'group') this.#group.noteWritten(record.revision);
    else this.#group.noteDurable(record.revision);
  }

  #append(text: string): void {
    const segment = this.#current();
    if (this.#settings.sync === 'each') segment.appendAndSync(text, this.#writer);
    else segment.append(text, this.#writer);
  }

  /** Takes space from the reserve if necessary. */
  #appendDeletion(text: string): void {
    for (;;) {
      try {
        this.#append(text);
        return;
      } catch (error) {
        if (!isOutOfSpace(error)) throw error;
        this.#abortCheckpoint(error);
        if (this.#reserve?.release(Buffer.byteLength(text)) !== true) throw error;
        this.#refuse(DISK_FULL, error);
      }
    }
  }

  /** Other writes are refused while the reserve is not full. */
  #fillReserve(): void {
    if (this.#reserve?.isFull !== false) return;
    this.#reserve.fill();
    this.#retryBytes = 0;
    this.#settings.warn(`the disk of ${this.#folder} has space again`);
  }

  #openReserve(): void {
    try {
      this.#reserve ??= new SpaceReserve({ files: this.#files, folder: this.#folder }, this.#settings.reserve);
      this.#reserve.fill();
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      this.#refuse(DISK_FULL, error);
    }
  }

  /** Whether the folder is there: without the check, writes to a removed file would be acknowledged. */
  #requireInPlace(fail = (error: unknown) => this.#refuse(WRITE_FAILED, error)): void {
    try {
      this.#current().requireInPlace();
    } catch (error) {
      throw fail(error);
    }
    this.#requireLock();
  }

  /** Without the lock, another process may write to the same files, and nothing may be written or acknowledged any more. */
  #requireLock(): void {
    try {
      this.#held?.requireHeld();
    } catch (error) {
      // With its folder, it may come back.
      if (this.#segment?.isInPlace() !== false) throw this.#fail(error);
    }
  }

  /** The error for one write. The first of several equal ones is also a warning. */
  #refuse(what: string, error: unknown): JournalError {
    if (this.#refusal !== what) this.#settings.warn(`${what}: ${messageOf(error)}`);
    this.#refusal = what;
    return journalError(what, error);
  }

  whenDurable(): Promise<void> | undefined {
    return this.#group.wait();
  }

  async close(): Promise<void> {
    this.#epoch++;
    // Await only what is running, so that after a failed start the folder is unlocked at once.
    if (this.#checkpointing !== undefined) await this.#checkpointing;
    if (this.#group.isRunning) await this.#group.idle();
    try {
      if (this.#failure === undefined) this.#markClosed();
    } finally {
      this.#release();
    }
  }

  /** Syncs everything and marks the end of the journal: any later deviation is damage. */
  #markClosed(): void {
    // There is nothing to mark in a removed file, but writes may wait for it.
    if (this.#group.wait() !== undefined) this.#requireInPlace((error) => this.#fail(error));
    this.#requireLock();
    try {
      const problem = this.#segment?.markClosed(this.#writer);
      if (problem instanceof PartialWriteError) throw problem;
      if (problem !== undefined)
        this.#settings.warn(`the journal in ${this.#folder} has no mark at its end: ${messageOf(problem)}`);
    } catch (error) {
      throw this.#fail(error);
    }
    this.#group.noteDurable();
  }

  #release(): void {
    this.#segment?.close();
    this.#segment = undefined;
    this.#reserve?.close();
    this.#reserve = undefined;
    this.#failure ??= CLOSED_ERROR;
    this.#held?.release();
    this.#held = undefined;
  }

  /** Starts from a durable state. */
  #startFrom(checkpointBytes: number, revision: number): void {
    this.#checkpointBytes = checkpointBytes;
    this.#olderBytes = 0;
    this.#retryBytes = 0;
    // A running sync may still fail, so writes stay unacknowledged until it ends.
    if (this.#group.isRunning) this.#group.noteReset(revision);
    else this.#group.noteDurable(revision);
  }

  #newGroup(): GroupSync {
    return new GroupSync({
      sync: async () => {
        try {
          await this.#current().sync();
          // Of a segment that was replaced meanwhile, the path may be removed.
          this.#current().requireInPlace();
          this.#requireLock();
        } finally {
          for (const segment of this.#retiredSegments.splice(0)) segment.close();
        }
      },
      later: (run) => void setImmediate(run),
      fail: (error) => this.#fail(error),
    });
  }

  /** Makes a segment the current one. */
  #switchTo(segment: Segment): void {
    const old = this.#segment;
    this.#segment = segment;
    if (this.#group.isRunning && old !== undefined) this.#retiredSegments.push(old);
    else old?.close();
  }

  #isTooLong(): boolean {
    if (this.#checkpointing !== undefined) return false;
    const { compactAfter } = this.#settings;
    const bytes = this.#olderBytes + this.#current().size;
    return bytes > Math.max(compactAfter, this.#checkpointBytes, this.#retryBytes);
  }

  /** Starts a new segment for further writes and writes a checkpoint of the state before them in the background. */
  #compact(stateBefore: () => JournalState): void {
    const old = this.#current();
    this.#syncOrFail(old);
    let segment: Segment | undefined;
    try {
      segment = Segment.create(this.#files, this.#folder, old.generation + 1);
      old.append(NEXT_MARK, this.#writer);
    } catch (error) {
      if (error instanceof PartialWriteError) throw this.#fail(error);
      wrapErrors(WRITE_FAILED, () => segment?.discard(this.#files));
      this.#postponeCheckpoint(error);
      return;
    }
    // Later writes must not become durable before earlier ones.
    this.#syncOrFail(old);
    this.#group.noteDurable();
    this.#switchTo(segment);
    this.#olderBytes += old.size;
    this.#checkpointing = this.#checkpoint(stateBefore(), old.generation + 1).finally(() => {
      this.#checkpointing = undefined;
    });
  }

  #syncOrFail(segment: Segment): void {
    try {
      segment.syncNow();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  async #checkpoint(state: JournalState, generation: number): Promise<void> {
    const place = { files: this.#files, folder: this.#folder, generation };
    const epoch = this.#epoch;
    try {
      const isWanted = (): boolean => {
        this.#requireLock();
        return epoch === this.#epoch;
      };
      const size = await writeCheckpoint(place, state, isWanted);
      if (size === undefined) return;
      this.#checkpointBytes = size;
      this.#olderBytes = 0;
      this.#retryBytes = 0;
      removeObsoleteFiles(place, generation, this.#current().generation);
    } catch (error) {
      this.#postponeCheckpoint(error);
    }
  }

  /** An unfinished checkpoint takes space that a deletion needs. */
  #abortCheckpoint(error: unknown): void {
    if (this.#checkpointing === undefined) return;
    this.#epoch++;
    this.#postponeCheckpoint(error);
  }

  /** A failed checkpoint only makes the journal longer. */
  #postponeCheckpoint(error: unknown): void {
    this.#retryBytes = 2 * (this.#olderBytes + this.#current().size);
    this.#settings.warn(`a checkpoint of the journal in ${this.#folder} is put off: ${messageOf(error)}`);
  }

  #current(): Segment {
    const segment = this.#segment;
    if (segment === undefined) throw CLOSED_ERROR;
    return segment;
  }

  /** Fails permanently: what the disk contains is unknown. */
  #fail(error: unknown): JournalError {
    this.#failure ??= journalError(`${WRITE_FAILED}, and nothing is written until it is opened again`, error);
    this.#group.break(this.#failure);
    return this.#failure;
  }
}

const WRITE_FAILED = 'the journal could not be written';
const CLOSED_ERROR = new JournalError('orchplane: the journal is closed');

function wrapErrors<Result>(what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw error instanceof JournalError ? error : journalError(what, error);
  }
}

function journalError(what: string, error: unknown): JournalError {
  return new JournalError(`orchplane: ${what}: ${messageOf(error)}`, { cause: error });
}
