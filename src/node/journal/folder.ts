/**
 * What stands in the folder of a journal, and how it is read.
 *
 *   checkpoint-7     everything at the moment when journal-7 began
 *   journal-7        the writes since
 *   journal-8        the writes since checkpoint-8 was begun, which is not finished yet
 *   checkpoint-8.tmp what there is of it
 *
 * The newest finished checkpoint counts, and all journals from its number on. Older ones are on their way out.
 */
import { join } from 'node:path';
import { decodePlaced, decodeRecord } from '../../storage/journal/record.js';
import {
  type JournalContent,
  JournalError,
  type JournalRecord,
  type JournalState,
} from '../../storage/journal/types.js';
import type { PlacedObject } from '../../storage/state.js';
import { isRecord } from '../../util/json.js';
import type { JournalFiles } from './files.js';
import { type Frame, findFrame, scanFrames } from './frame.js';

/** The first bytes of every file; the last one is the version of the format. */
const MAGIC = Buffer.from('orchplane jrnl\n\x01', 'latin1');

export const HEADER: Buffer = MAGIC;

export interface OpenFolder {
  readonly files: JournalFiles;
  readonly folder: string;
  /** Damage is cut away, with all that was written after it, instead of being refused. */
  readonly salvage: boolean;
  /** Told of what was cut away. */
  readonly warn: (warning: string) => void;
}

export interface FolderContent extends JournalContent {
  /** The number of the journal to go on with. */
  readonly generation: number;
  /** How much of that is good; 0: not even its header. */
  readonly size: number;
  /** Whether it ends with {@link MARK}. */
  readonly isMarked: boolean;
  /** The number of the checkpoint. */
  readonly oldest: number;
  readonly checkpointBytes: number;
  /** Whether the checkpoint has to be written again: not all of it could be read. */
  readonly isCheckpointMended: boolean;
  /** Of all journals since that. */
  readonly journalBytes: number;
}

export function checkpointName(generation: number): string {
  return `checkpoint-${generation}`;
}

export function journalName(generation: number): string {
  return `journal-${generation}`;
}

/** Undefined when nothing was ever kept there. Throws JournalError. */
export function readFolder(place: OpenFolder): FolderContent | undefined {
  const names = place.files.list(place.folder);
  const generation = numbersOf('checkpoint', names).pop();
  const journals = numbersOf('journal', names);
  const isBegun = (number: number): boolean =>
    place.files.read(join(place.folder, journalName(number))).length > HEADER.length;
  if (generation === undefined) {
    // Before the first checkpoint is there, its journal is.
    const orphan = journals.find(isBegun);
    if (orphan === undefined) return undefined;
    throw lost(place, journalName(orphan), 'the checkpoint that it goes on from is missing');
  }
  const { checkpoint, bytes, isMended } = readCheckpoint(place, generation);
  const contents = new Map<number, Buffer>();
  for (const number of journals.filter((each) => each >= generation)) {
    contents.set(number, place.files.read(join(place.folder, journalName(number))));
  }
  // One that was made and never written to does not make what is before it any older: making it may have failed, and what
  // is before it was gone on with.
  const newest = Math.max(
    generation,
    ...[...contents].flatMap(([each, { length }]) => (length > HEADER.length ? each : [])),
  );
  const records: JournalRecord[] = [];
  let last = { generation, size: 0, isMarked: false };
  let journalBytes = 0;
  let continuedAt: number | undefined;
  for (let number = generation; number <= newest || continuedAt !== undefined; number++) {
    const revision = checkpoint.revision + records.length;
    const read = readJournal(place, contents.get(number), { number, revision, isLast: number >= newest });
    if (read.size === 0 && number > generation) {
      // It is missing: the one before it is gone on with, and no longer says that there is another.
      last = { ...last, size: continuedAt ?? last.size };
      break;
    }
    for (const record of read.records) records.push(record);
    journalBytes += read.size;
    last = { generation: number, size: read.size, isMarked: read.isMarked };
    continuedAt = read.continuedAt;
    if (read.isCut) break;
  }
  if (last.generation < newest) dropAfter(place, last.generation, [...contents.keys()]);
  const about = { oldest: generation, checkpointBytes: bytes, isCheckpointMended: isMended, journalBytes };
  return { checkpoint, records, ...last, ...about };
}

/** Removes what counts no longer: older generations, and what was never finished. */
export function sweep({ files, folder }: Pick<OpenFolder, 'files' | 'folder'>, oldest: number, newest: number): void {
  for (const name of files.list(folder)) {
    const [, kind, digits] = NAME.exec(name) ?? [];
    const generation = Number(digits);
    const isOld = kind !== undefined && (generation < oldest || (kind === 'journal' && generation > newest));
    if (isOld || UNFINISHED.test(name)) files.remove(join(folder, name));
  }
}

const NAME = /^(checkpoint|journal)-([1-9]\d{0,14})$/;
const UNFINISHED = /^checkpoint-\d+\.tmp$/;

function numbersOf(kind: string, names: readonly string[]): number[] {
  const numbers = names.flatMap((name) => {
    const [, of, digits] = NAME.exec(name) ?? [];
    return of === kind ? [Number(digits)] : [];
  });
  return numbers.sort((left, right) => left - right);
}

interface ReadCheckpoint {
  readonly checkpoint: JournalState;
  readonly bytes: number;
  /** What was read is not what is there: it has to be written again. */
  readonly isMended: boolean;
}

function readCheckpoint(place: OpenFolder, generation: number): ReadCheckpoint {
  const name = checkpointName(generation);
  const bytes = place.files.read(join(place.folder, name));
  const holes: number[] = hasHeader(place, name, bytes) ? [] : [0];
  const frames: Frame[] = [];
  // It was durable before it got its name: whatever is amiss was done to it later.
  for (let from: number | undefined = HEADER.length; from !== undefined && from < bytes.length; ) {
    const more = scanFrames(bytes, from);
    for (const frame of more.frames) frames.push(frame);
    if (more.end >= bytes.length) break;
    holes.push(more.end);
    from = findFrame(bytes, more.end + 1)?.start;
  }
  const placed = frames.filter(({ text }) => text.startsWith('['));
  const others = frames.filter(({ text }) => !text.startsWith('['));
  // It stands at both ends.
  const told = others.map((frame) => decode(place, name, frame, JSON.parse) as unknown);
  const head = told.find(isHead);
  if (head === undefined) throw lost(place, name, 'neither its beginning nor its end tells what it is of');
  if (head.generation !== undefined && head.generation !== generation) {
    throw lost(place, name, `it is a copy of ${checkpointName(head.generation)} under another name`);
  }
  const isEnded = told.some((each) => isRecord(each) && each['end'] === placed.length);
  const problem =
    holes.length > 0
      ? `damaged at byte ${holes.join(', ')}`
      : !isEnded
        ? `it ends too early, at byte ${bytes.length}`
        : undefined;
  if (problem !== undefined && !place.salvage) throw broken(place, name, problem);
  if (problem !== undefined) setAside(place, name, { bytes, problem: `${problem}: objects may be lost` });
  const objects = placed.map((frame): PlacedObject => decode(place, name, frame, decodePlaced));
  const { revision, dialect, highest = revision } = head;
  return { checkpoint: { revision, dialect, highest, objects }, bytes: bytes.length, isMended: problem !== undefined };
}

/** What a checkpoint is of. */
interface CheckpointHead {
  readonly revision: number;
  readonly highest?: number | undefined;
  readonly dialect: string;
  /** The number in its name. */
  readonly generation?: number | undefined;
}

export function headOf({ revision, highest = revision, dialect }: JournalState, generation: number): CheckpointHead {
  return { revision, highest, dialect, generation };
}

/** The first frame of a checkpoint. */
export function headText(head: CheckpointHead): string {
  return JSON.stringify(head);
}

/** The last one: by it a checkpoint is known to be whole. It says all over again what the checkpoint is of. */
export function endText({ revision, highest, dialect, generation }: CheckpointHead, count: number): string {
  return JSON.stringify({ end: count, revision, highest, dialect, generation });
}

function isHead(head: unknown): head is CheckpointHead {
  return isRecord(head) && 'revision' in head && 'dialect' in head;
}

/**
 * A frame that is no record: what stands before it was durable when it was written. There are two, so long that no sector
 * holds something of a record and of both.
 */
export const MARK = `{"mark":"closed","room":"${' '.repeat(512)}"}`;

/** The last frame of a journal that another one goes on from, which was there before. */
export const NEXT = '{"mark":"next"}';

interface ReadJournal {
  readonly records: readonly JournalRecord[];
  /** How much of the file is good; 0: nothing. */
  readonly size: number;
  readonly isMarked: boolean;
  /** Where it says that another one goes on from it. */
  readonly continuedAt: number | undefined;
  /** What comes after it does not count any more. */
  readonly isCut: boolean;
}

const NOTHING: ReadJournal = { records: [], size: 0, isMarked: false, continuedAt: undefined, isCut: true };

function readJournal(
  place: OpenFolder,
  bytes: Buffer | undefined,
  about: { readonly number: number; readonly revision: number; readonly isLast: boolean },
): ReadJournal {
  const name = journalName(about.number);
  const path = join(place.folder, name);
  // It was durable before there was a checkpoint of its number, or anything in a later one.
  if (bytes === undefined) {
    if (!place.salvage) throw broken(place, name, 'it is missing');
    place.warn(`${path} is missing: what was written to it is lost`);
    return NOTHING;
  }
  const isBegun = hasHeader(place, name, bytes);
  const { frames, end, rest } = scanFrames(bytes, HEADER.length);
  const written = frames.filter(({ text }) => text !== MARK && text !== NEXT);
  const records = written.map((frame) => decode(place, name, frame, decodeRecord));
  const strange = records.findIndex(({ revision }, index) => revision !== about.revision + index + 1);
  let size = Math.min(end, bytes.length);
  let problem: string | undefined;
  if (strange >= 0) {
    size = written[strange]?.start ?? 0;
    const expected = about.revision + strange + 1;
    problem = `version ${records[strange]?.revision} at byte ${size} should be ${expected}`;
    records.length = strange;
  } else if (rest === 'damaged' || (rest === 'torn' && !about.isLast)) {
    problem = `damaged at byte ${end}, which had been whole`;
  } else if (!isBegun) {
    problem = 'damaged at byte 0';
  }
  if (problem !== undefined && !place.salvage) throw broken(place, name, problem);
  const cut = bytes.length - size;
  if (problem !== undefined)
    setAside(place, name, {
      bytes,
      problem: `${problem}: ${cut === 0 ? 'no write is' : `${cut} bytes from ${size} on are`} lost`,
    });
  else if (cut > 0) {
    place.warn(`${path} was not finished when the power went: the ${cut} bytes from ${size} on are cut away`);
  }
  if (!isBegun) mendHeader(place, path, size);
  const [secondToLast, last] = strange < 0 ? frames.slice(-2) : [];
  return {
    records,
    size: Math.max(size, HEADER.length),
    isMarked: secondToLast?.text === MARK && last?.text === MARK,
    continuedAt: (last ?? secondToLast)?.text === NEXT ? (last ?? secondToLast)?.start : undefined,
    // A header alone was damaged: what comes after it goes on from what is whole.
    isCut: problem !== undefined && (cut > 0 || size < HEADER.length),
  };
}

function mendHeader({ files }: OpenFolder, path: string, size: number): void {
  const file = files.open(path, size < HEADER.length ? 'new' : 'existing');
  try {
    for (let at = 0; at < HEADER.length; ) at += file.write(HEADER.subarray(at), at);
    file.syncNow();
  } finally {
    file.close();
  }
}

/** Later journals go on from what is lost. */
function dropAfter({ files, folder }: OpenFolder, generation: number, journals: readonly number[]): void {
  for (const number of journals.filter((each) => each > generation)) {
    const path = join(folder, journalName(number));
    files.rename(path, `${path}.damaged`);
  }
}

function setAside(
  { files, folder, warn }: OpenFolder,
  name: string,
  { bytes, problem }: { readonly bytes: Buffer; readonly problem: string },
): void {
  const copy = join(folder, `${name}.damaged`);
  const file = files.open(copy, 'new');
  try {
    for (let at = 0; at < bytes.length; ) at += file.write(bytes.subarray(at), at);
    file.syncNow();
  } finally {
    file.close();
  }
  files.syncFolder(folder);
  warn(`${join(folder, name)}: ${problem}; a copy is in ${copy}`);
}

/** Whether a file begins as it should. Throws where there is nothing to be had of it. */
function hasHeader(place: OpenFolder, name: string, bytes: Buffer): boolean {
  const header = bytes.subarray(0, HEADER.length);
  if (header.equals(HEADER)) return true;
  if (header.subarray(0, -1).equals(HEADER.subarray(0, -1)) && header.length === HEADER.length) {
    throw lost(place, name, 'it is of another version of orchplane');
  }
  const isEmpty = bytes.every((byte) => byte === 0);
  if (isEmpty && NAME.exec(name)?.[1] === 'journal') {
    if (place.salvage) return false;
    throw broken(place, name, 'it is empty');
  }
  if (findFrame(bytes, 0) !== undefined) return false;
  throw lost(place, name, isEmpty ? 'it is empty' : 'it is no file of a journal');
}

function decode<Value>(place: OpenFolder, name: string, { text, start }: Frame, read: (text: string) => Value): Value {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw lost(place, name, `what stands at byte ${start} cannot be read: ${error.message}`);
  }
}

/** Damage that salvage helps with. */
function broken(place: OpenFolder, name: string, why: string): JournalError {
  return lost(place, name, why, ', or open it with { salvage: true } to go on with what is whole');
}

function lost({ folder }: OpenFolder, name: string, why: string, orElse = ''): JournalError {
  return new JournalError(`orchplane: journal ${join(folder, name)}: ${why}; restore the folder from a copy${orElse}`);
}
