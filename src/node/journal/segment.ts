/**
 * A file that grows by whole frames: a write that fails half-way is taken back.
 */
import { join } from 'node:path';
import type { JournalFile, JournalFiles } from './files.js';
import { HEADER, journalName } from './folder.js';
import type { FrameWriter } from './frame.js';

/** What was half written could not be taken back: the end of the file is unknown. */
export class HalfWritten extends Error {
  override readonly name = 'HalfWritten';
}

export class Segment {
  readonly generation: number;
  readonly #file: JournalFile;
  #size: number;
  /** Up to here everything is durable. */
  #synced: number;

  private constructor(generation: number, file: JournalFile, size: number) {
    this.generation = generation;
    this.#file = file;
    this.#size = size;
    this.#synced = size;
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
    return new Segment(generation, file, HEADER.length);
  }

  /** One that is there; what is behind `size` is cut away. */
  static open(files: JournalFiles, folder: string, about: { generation: number; size: number }): Segment {
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
    return new Segment(generation, file, size);
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

  close(): void {
    this.#file.close();
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
