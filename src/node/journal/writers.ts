/**
 * Writes the files of a journal: segments, which grow frame by frame, and checkpoints, which are written under a
 * temporary name, synced and then renamed, so that a crash leaves the previous one intact.
 */

import { join } from 'node:path';
import { encodePlaced } from '../../storage/journal/record.js';
import type { JournalState } from '../../storage/journal/types.js';
import { nextTurn } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import type { JournalFile, JournalFiles } from './files.js';
import { CLOSED_MARK, checkpointName, encodeEnd, encodeHead, FILE_HEADER, headOf, journalName } from './folder.js';
import { FrameWriter } from './frame.js';

/** A partial write could not be undone: the end of the file is unknown. */
export class PartialWriteError extends Error {
  override readonly name = 'PartialWriteError';
}

/** The intact part of a segment. */
export interface SegmentEnd {
  readonly generation: number;
  /** 0: not even the header is intact. */
  readonly size: number;
  /** Whether it ends with a closed mark. */
  readonly isMarked: boolean;
}

/** A journal file that is appended to. */
export class Segment {
  readonly generation: number;
  readonly path: string;
  readonly #file: JournalFile;
  #size: number;
  /** The length of the durable part. */
  #synced: number;
  /** Whether the segment ends with a closed mark. */
  #isMarked: boolean;

  private constructor(path: string, file: JournalFile, end: SegmentEnd) {
    this.generation = end.generation;
    this.path = path;
    this.#file = file;
    this.#size = end.size;
    this.#synced = end.size;
    this.#isMarked = end.isMarked;
  }

  /** Creates a segment and syncs it and its name. */
  static create(files: JournalFiles, folder: string, generation: number): Segment {
    const path = join(folder, journalName(generation));
    const file = files.open(path, 'new');
    try {
      writeAll(file, FILE_HEADER, 0);
      file.syncNow();
      files.syncFolder(folder);
    } catch (error) {
      file.close();
      files.remove(path);
      throw error;
    }
    return new Segment(path, file, { generation, size: FILE_HEADER.length, isMarked: false });
  }

  /** Opens an existing segment and truncates it to `size`. */
  static open(files: JournalFiles, folder: string, end: SegmentEnd): Segment {
    const { generation, size } = end;
    if (size === 0) return Segment.create(files, folder, generation);
    const path = join(folder, journalName(generation));
    const file = files.open(path, 'existing');
    try {
      file.truncate(size);
      // The existing content may come from a process that was killed before it synced.
      file.syncNow();
      files.syncFolder(folder);
    } catch (error) {
      file.close();
      throw error;
    }
    return new Segment(path, file, end);
  }

  get size(): number {
    return this.#size;
  }

  isInPlace(): boolean {
    return this.#file.isInPlace();
  }

  /** Throws if the file was removed, moved or replaced, or cannot be reached. */
  requireInPlace(): void {
    if (!this.isInPlace()) throw new Error(`${this.path} was removed or replaced`);
  }

  /**
   * Appends a frame. Throws the file system's error, in which case nothing has changed, or {@link PartialWriteError}.
   */
  append(text: string, writer: FrameWriter): void {
    const start = this.#size;
    const frame = writer.frame(text, this.#synced);
    try {
      writeAll(this.#file, frame, start);
    } catch (error) {
      this.#rollBack(start, error);
      throw error;
    }
    this.#size = start + frame.length;
    this.#isMarked = false;
  }

  /** Appends and syncs a frame. Throws like {@link append}; the frame is removed if possible. */
  appendAndSync(text: string, writer: FrameWriter): void {
    const start = this.#size;
    this.append(text, writer);
    try {
      this.syncNow();
    } catch (error) {
      this.#size = start;
      this.#rollBack(start, error);
      // Whether the truncation is durable is also unknown.
      throw new PartialWriteError(messageOf(error), { cause: error });
    }
  }

  async sync(): Promise<void> {
    const size = this.#size;
    await this.#file.sync();
    this.#synced = Math.max(this.#synced, size);
  }

  syncNow(): void {
    this.#file.syncNow();
    this.#synced = this.#size;
  }

  /**
   * Syncs everything and appends the closed marks. Throws when the sync fails. Returns the error when only the marks
   * could not be written, which loses nothing.
   */
  markClosed(writer: FrameWriter): unknown {
    if (this.#synced < this.#size) this.syncNow();
    if (this.#isMarked) return undefined;
    try {
      this.append(CLOSED_MARK, writer);
      this.append(CLOSED_MARK, writer);
    } catch (error) {
      return error;
    }
    this.syncNow();
    this.#isMarked = true;
    return undefined;
  }

  close(): void {
    this.#file.close();
  }

  /** Removes a segment that was never written to. */
  discard(files: JournalFiles): void {
    this.#file.close();
    files.remove(this.path);
  }

  #rollBack(size: number, why: unknown): void {
    try {
      this.#file.truncate(size);
    } catch (error) {
      throw new PartialWriteError(`${messageOf(why)}; then ${messageOf(error)}`, { cause: why });
    }
  }
}

/** Writes all bytes, in several writes if necessary. */
function writeAll(file: JournalFile, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += file.write(written === 0 ? bytes : bytes.subarray(written), position + written);
  }
}

interface CheckpointTarget {
  readonly files: JournalFiles;
  readonly folder: string;
  readonly generation: number;
}

/**
 * Writes a checkpoint synchronously. Returns its size. Throws {@link PartialWriteError} when it may or may not exist.
 */
export function writeCheckpointSync(place: CheckpointTarget, state: JournalState): number {
  const draft = draftCheckpointSync(place, state);
  try {
    return draft.finish();
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/** A checkpoint that does not count before it is finished. */
export function draftCheckpointSync(place: CheckpointTarget, state: JournalState): CheckpointWriter {
  const draft = new CheckpointWriter(place);
  try {
    for (const _slice of draft.write(state));
    draft.syncNow();
    return draft;
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/** Writes a checkpoint in slices, yielding to the event loop in between. Undefined when `isWanted` became false. */
export async function writeCheckpoint(
  place: CheckpointTarget,
  state: JournalState,
  isWanted: () => boolean,
): Promise<number | undefined> {
  const draft = new CheckpointWriter(place);
  try {
    for (const _slice of draft.write(state)) {
      await nextTurn();
      if (!isWanted()) return draft.discard();
    }
    await draft.sync();
    if (!isWanted()) return draft.discard();
    return draft.finish();
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/** About what is encoded and written in a millisecond. */
const SLICE_BYTES = 128 * 1024;

class CheckpointWriter {
  readonly #place: CheckpointTarget;
  readonly #path: string;
  readonly #file: JournalFile;
  #size = 0;
  #isOpen = true;

  constructor(place: CheckpointTarget) {
    this.#place = place;
    this.#path = join(place.folder, `${checkpointName(place.generation)}.tmp`);
    this.#file = place.files.open(this.#path, 'new');
  }

  /** Yields after every slice. */
  *write(state: JournalState): Iterable<void> {
    const frames = new FrameWriter();
    const head = headOf(state, this.#place.generation);
    let slice: Buffer[] = [Buffer.from(FILE_HEADER), Buffer.from(frames.frame(encodeHead(head), 0))];
    let bytes = 0;
    let count = 0;
    for (const placed of state.objects) {
      const frame = Buffer.from(frames.frame(encodePlaced(placed), 0));
      slice.push(frame);
      bytes += frame.length;
      count++;
      if (bytes < SLICE_BYTES) continue;
      this.#put(Buffer.concat(slice));
      slice = [];
      bytes = 0;
      yield;
    }
    slice.push(frames.frame(encodeEnd(head, count), 0));
    this.#put(Buffer.concat(slice));
  }

  #put(bytes: Buffer): void {
    writeAll(this.#file, bytes, this.#size);
    this.#size += bytes.length;
  }

  syncNow(): void {
    this.#file.syncNow();
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  /**
   * Renames the file to its final name. Returns its size. Throws {@link PartialWriteError} when the rename may or may
   * not be durable.
   */
  finish(): number {
    const { files, folder, generation } = this.#place;
    this.#close();
    try {
      files.rename(this.#path, join(folder, checkpointName(generation)));
      files.syncFolder(folder);
    } catch (error) {
      throw new PartialWriteError(messageOf(error), { cause: error });
    }
    return this.#size;
  }

  discard(): undefined {
    this.#close();
    this.#place.files.remove(this.#path);
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#file.close();
  }
}
