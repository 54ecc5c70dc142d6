/**
 * A file that grows by whole frames: a write that fails half-way is taken back.
 */
import { join } from 'node:path';
import { encodePlaced } from '../../storage/journal/record.js';
import type { JournalState } from '../../storage/journal/types.js';
import { messageOf } from '../../util/message-of.js';
import type { JournalFile, JournalFiles } from './files.js';
import { checkpointName, endText, HEADER, headOf, headText, journalName, MARK } from './folder.js';
import { FrameWriter } from './frame.js';

/** About as much as is encoded and written in a millisecond. */
const SLICE_BYTES = 128 * 1024;

class Draft {
  readonly #place: CheckpointPlace;
  readonly #path: string;
  readonly #file: JournalFile;
  #size = 0;
  #isOpen = true;

  constructor(place: CheckpointPlace) {
    this.#place = place;
    this.#path = join(place.folder, `${checkpointName(place.generation)}.tmp`);
    this.#file = place.files.open(this.#path, 'new');
  }

  /** Comes up for air after every slice. */
  *write(state: JournalState): Iterable<void> {
    const frames = new FrameWriter();
    const head = headOf(state, this.#place.generation);
    let slice: Buffer[] = [Buffer.from(HEADER), Buffer.from(frames.frame(headText(head), 0))];
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
    slice.push(frames.frame(endText(head, count), 0));
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

  /** Gives it its name. Returns its size. Throws {@link HalfWritten}: it may have it, or not. */
  finish(): number {
    const { files, folder, generation } = this.#place;
    this.#close();
    try {
      files.rename(this.#path, join(folder, checkpointName(generation)));
      files.syncFolder(folder);
    } catch (error) {
      throw new HalfWritten(messageOf(error), { cause: error });
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

/** What was half written could not be taken back: the end of the file is unknown. */
export class HalfWritten extends Error {
  override readonly name = 'HalfWritten';
}

/** How far a segment is good. */
export interface SegmentEnd {
  readonly generation: number;
  /** 0: not even its header. */
  readonly size: number;
  /** Whether it ends with a mark. */
  readonly isMarked: boolean;
}

export class Segment {
  readonly generation: number;
  readonly #file: JournalFile;
  #size: number;
  /** Up to here everything is durable. */
  #synced: number;
  /** Whether a mark says so, and nothing comes after it. */
  #isMarked: boolean;

  private constructor(generation: number, file: JournalFile, about: { size: number; isMarked: boolean }) {
    this.generation = generation;
    this.#file = file;
    this.#size = about.size;
    this.#synced = about.size;
    this.#isMarked = about.isMarked;
  }

  /** A new one, durable with its name. */
  static create(files: JournalFiles, folder: string, generation: number): Segment {
    const path = join(folder, journalName(generation));
    const file = files.open(path, 'new');
    try {
      writeAll(file, HEADER, 0);
      file.syncNow();
      files.syncFolder(folder);
    } catch (error) {
      file.close();
      files.remove(path);
      throw error;
    }
    return new Segment(generation, file, { size: HEADER.length, isMarked: false });
  }

  /** One that is there; what is behind `size` is cut away. */
  static open(files: JournalFiles, folder: string, about: SegmentEnd): Segment {
    const { generation, size } = about;
    if (size === 0) return Segment.create(files, folder, generation);
    const file = files.open(join(folder, journalName(generation)), 'existing');
    try {
      file.truncate(size);
      // Also what was there before: it may have been written by a process that was killed before it could do this.
      file.syncNow();
      files.syncFolder(folder);
    } catch (error) {
      file.close();
      throw error;
    }
    return new Segment(generation, file, about);
  }

  get size(): number {
    return this.#size;
  }

  /** Throws what the file system threw, or {@link HalfWritten}. In the first case nothing has changed. */
  append(text: string, writer: FrameWriter): void {
    const start = this.#size;
    const frame = writer.frame(text, this.#synced);
    try {
      writeAll(this.#file, frame, start);
    } catch (error) {
      this.#takeBack(start, error);
      throw error;
    }
    this.#size = start + frame.length;
    this.#isMarked = false;
  }

  /** Throws as {@link append}: the last frame is taken back, as far as that is possible. */
  appendNow(text: string, writer: FrameWriter): void {
    const start = this.#size;
    this.append(text, writer);
    try {
      this.syncNow();
    } catch (error) {
      this.#size = start;
      this.#takeBack(start, error);
      // Whether it is durable without that frame is just as unknown.
      throw new HalfWritten(messageOf(error), { cause: error });
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
   * Makes everything durable, and says so at its end. Throws when it is not durable. Returns why there is no mark, should
   * there be no room for one: nothing is lost by that.
   */
  mark(writer: FrameWriter): unknown {
    if (this.#synced < this.#size) this.syncNow();
    if (this.#isMarked) return undefined;
    try {
      this.append(MARK, writer);
      this.append(MARK, writer);
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

  /** It was never written to, and is not wanted any more. */
  discard(files: JournalFiles, folder: string): void {
    this.#file.close();
    files.remove(join(folder, journalName(this.generation)));
  }

  #takeBack(size: number, why: unknown): void {
    try {
      this.#file.truncate(size);
    } catch (error) {
      throw new HalfWritten(`${messageOf(why)}; then ${messageOf(error)}`, { cause: why });
    }
  }
}

export function writeAll(file: JournalFile, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += file.write(written === 0 ? bytes : bytes.subarray(written), position + written);
  }
}

interface CheckpointPlace {
  readonly files: JournalFiles;
  readonly folder: string;
  readonly generation: number;
}

/** In one go, while everybody waits. Returns its size. Throws {@link HalfWritten} when it may count or not. */
export function writeCheckpointNow(place: CheckpointPlace, state: JournalState): number {
  const draft = new Draft(place);
  try {
    for (const _slice of draft.write(state));
    draft.syncNow();
    return draft.finish();
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/** In slices, between which others get their turn. Undefined when `isWanted` said no in the meantime. */
export async function writeCheckpoint(
  place: CheckpointPlace,
  state: JournalState,
  isWanted: () => boolean,
): Promise<number | undefined> {
  const draft = new Draft(place);
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
