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
import { CLOSED_ERROR, journalError, WRITE_FAILED, wrapErrors } from './errors.js';
import type { JournalFiles } from './files.js';
import { NEXT_MARK, readFolder, removeObsoleteFiles } from './folder.js';
import { FrameWriter } from './frame.js';
import type { FolderLock } from './lock.js';
import { type FileJournalOptions, type JournalPlatform, type JournalSettings, readOptions } from './options.js';
import { DISK_FULL, encodeDeletion, isDeletion, isOutOfSpace, lockWithReserve, SpaceReserve } from './reserve.js';
import { CheckpointSchedule } from './schedule.js';
import { draftCheckpointSync, PartialWriteError, Segment, writeCheckpoint, writeCheckpointSync } from './writers.js';

/** The implementation of `fileJournal`. */
export class FileJournal implements Journal {
  readonly #place: { readonly files: JournalFiles; readonly folder: string };
  readonly #lock: JournalPlatform['lock'];
  readonly #settings: JournalSettings;
  readonly #writer = new FrameWriter();
  #held: FolderLock | undefined;
  /** Whether the last holder of the lock may continue, and finish the write at which it was stopped. */
  #isShared = false;
  #segment: Segment | undefined;
  #reserve: SpaceReserve | undefined;
  /** The last warning about refused writes. */
  #refusal: string | undefined;
  #group: GroupSync;
  /** Why the journal accepts no writes. */
  #failure: JournalError | undefined = CLOSED_ERROR;
  readonly #schedule: CheckpointSchedule;
  #checkpointing: Promise<void> | undefined;
  /** Incremented to invalidate a checkpoint in progress. */
  #epoch = 0;
  /** Segments that a running sync may still use. */
  readonly #retiredSegments: Segment[] = [];

  constructor(folder: string, options: FileJournalOptions, { files, lock }: JournalPlatform) {
    if (typeof folder !== 'string' || folder === '') throw new TypeError('orchplane: fileJournal takes a folder');
    this.#place = { files, folder };
    this.#lock = lock;
    this.#settings = readOptions(options);
    this.#schedule = new CheckpointSchedule(this.#settings.compactAfter);
    this.#group = this.#newGroup();
  }

  get durableRevision(): number {
    return this.#settings.sync === 'never' ? Number.POSITIVE_INFINITY : this.#group.durableRevision;
  }

  load(): JournalContent | undefined {
    if (this.#held !== undefined) throw new JournalError('orchplane: this journal is in use by another cluster');
    return wrapErrors(`journal ${this.#place.folder} could not be opened`, () => {
      this.#place.files.makeFolder(this.#place.folder);
      this.#held = lockWithReserve(this.#place, this.#lock);
      this.#isShared = this.#held.isTakenOver === true;
      try {
        return this.#read();
      } catch (error) {
        this.#release();
        throw error;
      }
    });
  }

  #read(): JournalContent | undefined {
    const place = this.#place;
    const content = readFolder({ ...this.#settings, ...place });
    this.#failure = undefined;
    this.#group = this.#newGroup();
    if (content === undefined) return void removeObsoleteFiles(place, 0, 0);
    const { checkpoint, records, generation, size, oldest } = content;
    this.#segment = Segment.open(place.files, place.folder, content);
    // Replace the damaged checkpoint by its intact part; a copy of the original has been saved.
    if (content.isCheckpointRepaired) writeCheckpointSync({ ...place, generation: oldest }, checkpoint);
    removeObsoleteFiles(place, oldest, generation);
    this.#noteStart(checkpoint.revision + records.length);
    this.#schedule.start(content.checkpointBytes, content.journalBytes - size);
    this.#openReserve();
    return { checkpoint, records };
  }

  reset(state: JournalState): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#requireLock();
    // The last holder may be about to begin the next segment.
    const generation = (this.#segment?.generation ?? 0) + (this.#isShared ? 2 : 1);
    const place = { ...this.#place, generation };
    this.#isShared = false;
    // A checkpoint in progress is of the discarded state.
    this.#epoch++;
    let segment: Segment | undefined;
    let isBegun = false;
    try {
      // Create the journal first: a checkpoint always has a journal of the same number.
      segment = Segment.create(place.files, place.folder, generation);
      const size = writeCheckpointSync(place, state);
      isBegun = true;
      this.#switchTo(segment);
      removeObsoleteFiles(place, generation);
      this.#noteStart(state.revision);
      this.#schedule.start(size);
      this.#openReserve();
    } catch (error) {
      // The folder may contain the new state while the cluster continues with the old one.
      if (isBegun || error instanceof PartialWriteError) throw this.#fail(error);
      wrapErrors(WRITE_FAILED, () => segment?.discard(this.#place.files));
      throw journalError(WRITE_FAILED, error);
    }
  }

  append(record: JournalRecord, stateBefore: () => JournalState): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#requireInPlace();
    if (this.#isShared) this.reset(stateBefore());
    if (this.#checkpointing === undefined && this.#schedule.isDue(this.#current().size)) this.#compact(stateBefore);
    try {
      if (isDeletion(record)) this.#appendDeletion(record, stateBefore);
      else this.#appendOther(record, stateBefore);
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
    this.#current()[this.#settings.sync === 'each' ? 'appendAndSync' : 'append'](text, this.#writer);
  }

  /** Takes space from the reserve if necessary. */
  #appendDeletion(record: JournalRecord, stateBefore: () => JournalState): void {
    for (;;) {
      const text = encodeDeletion(record, this.#reserve);
      try {
        this.#append(text);
        this.#reserve?.noteChange(this.#reserve.isFull ? text.length : encodeRecord(record).length);
        return;
      } catch (error) {
        if (!isOutOfSpace(error)) throw error;
        this.#abortCheckpoint(error);
        if (this.#reserve?.isLow === true && this.#compactInReserve(stateBefore)) continue;
        if (this.#reserve?.release(Buffer.byteLength(text)) !== true) throw error;
        this.#refuse(DISK_FULL, error);
      }
    }
  }

  /** Refused while the reserve is not full. */
  #appendOther(record: JournalRecord, stateBefore: () => JournalState): void {
    try {
      this.#fillReserve();
      const text = encodeRecord(record);
      this.#append(text);
      this.#reserve?.noteChange(text.length);
      this.#refusal = undefined;
    } catch (error) {
      if (!isOutOfSpace(error) || !this.#compactInReserve(stateBefore)) throw error;
      this.#appendOther(record, stateBefore);
    }
  }

  #fillReserve(): void {
    if (this.#reserve?.fill() !== true) return;
    this.#schedule.retry();
    this.#settings.warn(`the disk of ${this.#place.folder} has space again`);
  }

  #openReserve(): void {
    try {
      this.#reserve ??= new SpaceReserve(this.#place, this.#settings.reserve);
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
      if (this.#failure === undefined && !this.#isShared) this.#markClosed();
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
        this.#settings.warn(`the journal in ${this.#place.folder} has no mark at its end: ${messageOf(problem)}`);
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
  #noteStart(revision: number): void {
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

  /** Starts a new segment for further writes and writes a checkpoint of the state before them in the background. */
  #compact(stateBefore: () => JournalState): void {
    if (!this.#beginSegment()) return;
    this.#checkpointing = this.#checkpoint(stateBefore(), this.#current().generation).finally(() => {
      this.#checkpointing = undefined;
    });
  }

  /** The same at once, if the disk has space for it. */
  #compactNow(stateBefore: () => JournalState): void {
    let draft: ReturnType<typeof draftCheckpointSync> | undefined;
    try {
      draft = draftCheckpointSync({ ...this.#place, generation: this.#current().generation + 1 }, stateBefore());
      if (this.#beginSegment()) this.#noteCheckpoint(draft.finish());
      else draft.discard();
    } catch (error) {
      draft?.discard();
      if (this.#failure !== undefined) throw error;
      // The older files are still there.
      if (!isOutOfSpace(error)) this.#postponeCheckpoint(error);
    }
  }

  /** The same in the space of the reserve. Returns false if little has changed since that was tried. */
  #compactInReserve(state: () => JournalState): boolean {
    return this.#checkpointing === undefined && this.#reserve?.lend(() => this.#compactNow(state)) === true;
  }

  /** Starts a new segment. Returns false if it could not be created. */
  #beginSegment(): boolean {
    const old = this.#current();
    this.#syncOrFail(old);
    let segment: Segment | undefined;
    try {
      segment = Segment.create(this.#place.files, this.#place.folder, old.generation + 1);
      old.append(NEXT_MARK, this.#writer);
    } catch (error) {
      if (error instanceof PartialWriteError) throw this.#fail(error);
      wrapErrors(WRITE_FAILED, () => segment?.discard(this.#place.files));
      this.#postponeCheckpoint(error);
      return false;
    }
    // Later writes must not become durable before earlier ones.
    this.#syncOrFail(old);
    this.#group.noteDurable();
    this.#switchTo(segment);
    this.#schedule.noteContinued(old.size);
    return true;
  }

  #syncOrFail(segment: Segment): void {
    try {
      segment.syncNow();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  async #checkpoint(state: JournalState, generation: number): Promise<void> {
    const epoch = this.#epoch;
    try {
      const isWanted = (): boolean => {
        this.#requireLock();
        return epoch === this.#epoch;
      };
      const size = await writeCheckpoint({ ...this.#place, generation }, state, isWanted);
      if (size !== undefined) this.#noteCheckpoint(size);
    } catch (error) {
      this.#postponeCheckpoint(error);
    }
  }

  /** Notes a checkpoint of the state when the current segment began, and removes older files. */
  #noteCheckpoint(size: number): void {
    this.#requireLock();
    this.#schedule.start(size);
    removeObsoleteFiles(this.#place, this.#current().generation);
  }

  /** An unfinished checkpoint takes space that a deletion needs. */
  #abortCheckpoint(error: unknown): void {
    if (this.#checkpointing === undefined) return;
    this.#epoch++;
    this.#postponeCheckpoint(error);
  }

  /** A failed checkpoint only makes the journal longer. */
  #postponeCheckpoint(error: unknown): void {
    this.#schedule.postpone(this.#current().size);
    this.#settings.warn(`a checkpoint of the journal in ${this.#place.folder} is put off: ${messageOf(error)}`);
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
