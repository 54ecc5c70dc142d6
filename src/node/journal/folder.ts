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
  /** The number of the checkpoint. */
  readonly oldest: number;
  readonly checkpointBytes: number;
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
  if (generation === undefined) {
    if (journals.length === 0) return undefined;
    throw broken(place, journalName(journals[0] ?? 0), 'the checkpoint that it goes on from is missing');
  }
  const { checkpoint, bytes } = readCheckpoint(place, generation);
  const numbers = journals.filter((each) => each >= generation);
  const contents = numbers.map((each) => place.files.read(join(place.folder, journalName(each))));
  // One that was made and never written to does not make what is before it any older.
  const newest = Math.max(
    0,
    contents.findLastIndex((content) => findFrame(content, 0) !== undefined),
  );
  const records: JournalRecord[] = [];
  let last = { generation, size: 0 };
  let journalBytes = 0;
  for (const [index, content] of contents.slice(0, newest + 1).entries()) {
    const number = generation + index;
    if (numbers[index] !== number) throw broken(place, journalName(number), 'it is missing');
    const revision = checkpoint.revision + records.length;
    const read = readJournal(place, content, { number, revision, isLast: index === newest });
    for (const record of read.records) records.push(record);
    journalBytes += content.length;
    last = { generation: number, size: read.size };
    if (!read.isCut) continue;
    dropAfter(place, number, numbers);
    break;
  }
  return { checkpoint, records, ...last, oldest: generation, checkpointBytes: bytes, journalBytes };
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

const NAME = /^(checkpoint|journal)-(\d+)$/;
const UNFINISHED = /^checkpoint-\d+\.tmp$/;

function numbersOf(kind: string, names: readonly string[]): number[] {
  const numbers = names.flatMap((name) => {
    const [, of, digits] = NAME.exec(name) ?? [];
    return of === kind ? [Number(digits)] : [];
  });
  return numbers.sort((left, right) => left - right);
}

function readCheckpoint(place: OpenFolder, generation: number): { checkpoint: JournalState; bytes: number } {
  const name = checkpointName(generation);
  const bytes = place.files.read(join(place.folder, name));
  checkHeader(place, name, bytes);
  const scan = scanFrames(bytes, HEADER.length);
  const frames = [...scan.frames];
  let { end } = scan;
  // It was durable before it got its name: whatever is amiss was done to it later.
  while (end < bytes.length) {
    if (!place.salvage) throw broken(place, name, `damaged at byte ${end}`);
    place.warn(`${join(place.folder, name)} is damaged at byte ${end}: at least one object is lost`);
    const next = findFrame(bytes, end + 1);
    if (next === undefined) break;
    const more = scanFrames(bytes, next.start);
    frames.push(...more.frames);
    end = more.end;
  }
  const head = frames[0] === undefined ? undefined : decode(place, name, frames[0], JSON.parse);
  if (!isHead(head)) throw broken(place, name, 'it does not begin with what it is of');
  const placed = frames.filter(({ text }) => text.startsWith('['));
  const isWhole = frames[frames.length - 1]?.text === endText(placed.length);
  if (!isWhole && !place.salvage) throw broken(place, name, `it ends too early, at byte ${bytes.length}`);
  const objects = placed.map((frame): PlacedObject => decode(place, name, frame, decodePlaced));
  return { checkpoint: { ...head, objects }, bytes: bytes.length };
}

/** The first frame of a checkpoint. */
export function headText({ revision, dialect }: Pick<JournalState, 'revision' | 'dialect'>): string {
  return JSON.stringify({ revision, dialect });
}

/** The last one: by it a checkpoint is known to be whole. */
export function endText(count: number): string {
  return JSON.stringify({ end: count });
}

function isHead(head: unknown): head is { readonly revision: number; readonly dialect: string } {
  return typeof head === 'object' && head !== null && 'revision' in head && 'dialect' in head;
}

interface ReadJournal {
  readonly records: readonly JournalRecord[];
  /** How much of the file is good. */
  readonly size: number;
  /** What comes after it does not count any more. */
  readonly isCut: boolean;
}

function readJournal(
  place: OpenFolder,
  bytes: Buffer,
  about: { readonly number: number; readonly revision: number; readonly isLast: boolean },
): ReadJournal {
  const name = journalName(about.number);
  const isBegun = bytes.subarray(0, HEADER.length).equals(HEADER);
  // The power went before its first bytes were durable, so nothing after them can have been.
  if (!isBegun && about.isLast && findFrame(bytes, 0) === undefined && isUnwritten(bytes)) {
    return { records: [], size: 0, isCut: false };
  }
  if (!isBegun) checkHeader(place, name, bytes);
  const { frames, end, rest } = scanFrames(bytes, HEADER.length);
  const isDamaged = rest === 'damaged' || (rest === 'torn' && !about.isLast);
  if (isDamaged && !place.salvage) {
    throw broken(place, name, `damaged at byte ${end}, and more was written after that`);
  }
  if (isDamaged) setAside(place, name, { bytes, end });
  const records = frames.map((frame) => decode(place, name, frame, decodeRecord));
  records.forEach((record, index) => {
    if (record.revision === about.revision + index + 1) return;
    const expected = about.revision + index + 1;
    throw broken(place, name, `version ${record.revision} at byte ${frames[index]?.start} should be ${expected}`);
  });
  return { records, size: end, isCut: isDamaged };
}

/** A header of which the disk has kept no more than a part. */
function isUnwritten(bytes: Buffer): boolean {
  const written = bytes.subarray(0, HEADER.length);
  return written.every((byte, index) => byte === 0 || byte === HEADER[index]);
}

/** Later journals go on from what is lost. */
function dropAfter({ files, folder }: OpenFolder, generation: number, journals: readonly number[]): void {
  for (const number of journals.filter((each) => each > generation)) {
    const path = join(folder, journalName(number));
    files.rename(path, `${path}.damaged`);
  }
}

function setAside({ files, folder, warn }: OpenFolder, name: string, { bytes, end }: { bytes: Buffer; end: number }) {
  const copy = join(folder, `${name}.damaged`);
  const file = files.open(copy, 'new');
  try {
    for (let at = 0; at < bytes.length; ) at += file.write(bytes.subarray(at), at);
    file.syncNow();
  } finally {
    file.close();
  }
  warn(`${join(folder, name)} is damaged at byte ${end}: what was written after that is lost; a copy is in ${copy}`);
}

function checkHeader(place: OpenFolder, name: string, bytes: Buffer): void {
  if (bytes.subarray(0, HEADER.length).equals(HEADER)) return;
  const isOurs = bytes.subarray(0, HEADER.length - 1).equals(HEADER.subarray(0, -1));
  throw broken(place, name, isOurs ? 'it is of another version of orchplane' : 'it is no file of a journal');
}

function decode<Value>(place: OpenFolder, name: string, { text, start }: Frame, read: (text: string) => Value): Value {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw broken(place, name, `what stands at byte ${start} cannot be read: ${error.message}`);
  }
}

function broken({ folder }: OpenFolder, name: string, why: string): JournalError {
  const advice = 'restore the folder from a copy, or open it with { salvage: true } to go on with what is whole';
  return new JournalError(`orchplane: journal ${join(folder, name)}: ${why}; ${advice}`);
}
