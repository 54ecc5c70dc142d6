/**
 * Disk space for deletions when the disk is full: a file that is filled in advance. A deletion that does not fit takes from
 * it. Other writes fill it again first, so they cannot use the space that is left for deletions.
 */
import { randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { encodeRecord, encodeShortDeletion } from '../../storage/journal/record.js';
import type { JournalRecord } from '../../storage/journal/types.js';
import type { JournalFile, JournalFiles } from './files.js';
import type { FolderLock } from './lock.js';

const RESERVE_NAME = 'reserve';

/** Written at once, and released in addition to what a record needs: file systems allocate in blocks. */
const CHUNK_BYTES = 64 * 1024;

/** What is left for the files of the lock, without which the journal cannot be opened again: at most a part of the reserve. */
const LOCK_BYTES = 16 * 1024;
const LOCK_PART = 1 / 8;

/** The part of the reserve that further changes must save before it is lent again. */
const RETRY_PART = 1 / 8;

/** Random bytes, because some file systems store zeros without space. Shared by all journals. */
let chunk: Buffer | undefined;

export class SpaceReserve {
  readonly #file: JournalFile;
  #wanted: number;
  #size: number;
  /** The bytes of the records and the deleted objects since it was lent last. */
  #changedBytes = Number.POSITIVE_INFINITY;

  /** Opens the file or creates it, without filling it. */
  constructor({ files, folder }: ReservePlace, wanted: number) {
    const isPresent = files.list(folder).includes(RESERVE_NAME);
    this.#file = files.open(join(folder, RESERVE_NAME), isPresent ? 'existing' : 'new');
    this.#wanted = wanted;
    this.#size = this.#file.size();
    if (this.#size > wanted) this.#truncate(wanted);
  }

  get isFull(): boolean {
    return this.#size >= this.#wanted;
  }

  /** Returns false if it was full. Throws the error of the file system; what has been written until then remains. */
  fill(): boolean {
    if (this.isFull) return false;
    try {
      while (this.#size < this.#wanted) this.#size += this.#file.write(this.#nextChunk(), this.#size);
    } catch (error) {
      if (codeOf(error) !== 'EFBIG') throw error;
      // Files of this process must not be larger.
      this.#wanted = this.#size;
    }
    return true;
  }

  #nextChunk(): Buffer {
    chunk ??= randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES));
    return chunk.subarray(0, Math.min(chunk.length, this.#wanted - this.#size));
  }

  /** Whether the next deletion takes from the half that a checkpoint should find. */
  get isLow(): boolean {
    return this.#size <= this.#wanted / 2;
  }

  /** Releases space for `bytes`. Returns false if no more than `rest` is left. */
  release(bytes: number, rest: number = this.#lockBytes): boolean {
    if (this.#size <= rest) return false;
    this.#truncate(Math.max(rest, this.#size - bytes - CHUNK_BYTES));
    // Some file systems reuse blocks only when their release is durable.
    this.#file.syncNow();
    return true;
  }

  /** Notes a record, or a deleted object: a checkpoint leaves them out. */
  noteChange(bytes: number): void {
    this.#changedBytes += bytes;
  }

  /**
   * Runs with the space of the reserve for a checkpoint, and takes back what is free afterwards. Returns false if a checkpoint
   * would save little more than the last one: it is written, and the reserve is filled again, while all requests wait.
   */
  lend(run: () => void): boolean {
    if (this.#changedBytes <= this.#wanted * RETRY_PART) return false;
    this.#changedBytes = 0;
    this.release(this.#size);
    run();
    try {
      this.fill();
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
    return true;
  }

  get #lockBytes(): number {
    return Math.min(LOCK_BYTES, Math.floor(this.#wanted * LOCK_PART));
  }

  close(): void {
    this.#file.close();
  }

  #truncate(size: number): void {
    this.#file.truncate(size);
    this.#size = size;
  }
}

interface ReservePlace {
  readonly files: JournalFiles;
  readonly folder: string;
}

/** Locks the folder. A lock file needs space, which the cluster may have used up before it ended. */
export function lockWithReserve(place: ReservePlace, lock: (folder: string) => FolderLock): FolderLock {
  try {
    return lock(place.folder);
  } catch (error) {
    if (!isOutOfSpace(error) || !place.files.list(place.folder).includes(RESERVE_NAME)) throw error;
    const reserve = new SpaceReserve(place, Number.POSITIVE_INFINITY);
    try {
      if (!reserve.release(0, 0)) throw error;
    } finally {
      reserve.close();
    }
    return lock(place.folder);
  }
}

export const DISK_FULL = 'the disk is full, and until it has space, objects can only be deleted';

/** Whether a write may use the reserve. Objects with a deletion timestamp are written to be deleted: finalizers are removed, containers end. */
export function isDeletion({ type, object }: JournalRecord): boolean {
  return type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
}

/** On a full disk without the object: otherwise deletions would use up the reserve before the rest fits into it. */
export function encodeDeletion(record: JournalRecord, reserve: SpaceReserve | undefined): string {
  const isShort = record.type === 'DELETED' && reserve?.isFull === false;
  return isShort ? encodeShortDeletion(record) : encodeRecord(record);
}

const NO_SPACE_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether the disk, or the quota of the user, is used up. */
export function isOutOfSpace(error: unknown): boolean {
  return NO_SPACE_CODES.has(codeOf(error));
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
