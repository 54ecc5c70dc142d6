/**
 * Writing down a whole state: under another name, made durable, and only then given its own. A crash leaves the one before.
 */
import { join } from 'node:path';
import { encodePlaced } from '../../storage/journal/record.js';
import type { JournalState } from '../../storage/journal/types.js';
import { messageOf } from '../../util/message-of.js';
import type { JournalFile, JournalFiles } from './files.js';
import { checkpointName, endText, HEADER, headOf, headText } from './folder.js';
import { FrameWriter } from './frame.js';
import { HalfWritten, writeAll } from './segment.js';

export interface CheckpointPlace {
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
