/**
 * Reads the folder of a journal.
 *
 *   checkpoint-7      the whole state when journal-7 began
 *   journal-7         the writes since
 *   journal-8         the writes since checkpoint-8 was begun, which is not finished yet
 *   checkpoint-8.tmp  the unfinished checkpoint
 *
 * The newest finished checkpoint counts, and all journals from its number on. Older files are obsolete.
 */
import { join } from 'node:path';
import { type DecodedRecord, decodePlaced, decodeRecord, withDeletedObjects } from '../../storage/journal/record.js';
import { type JournalContent, JournalError, type JournalState } from '../../storage/journal/types.js';
import type { PlacedObject } from '../../storage/state.js';
import { isRecord } from '../../util/json.js';
import type { JournalFiles } from './files.js';
import { type Frame, findFrame, scanFrames } from './frame.js';

/** The first bytes of every file; the last byte is the format version. */
const MAGIC = Buffer.from('orchplane jrnl\n\x01', 'latin1');

export const FILE_HEADER: Buffer = MAGIC;

/** The folder to read, and how. */
export interface JournalFolder {
  readonly files: JournalFiles;
  readonly folder: string;
  /** Recover from damage by discarding it and everything after it, instead of throwing. */
  readonly salvage: boolean;
  /** Called with what was discarded. */
  readonly warn: (warning: string) => void;
}

/** The content of a journal folder and where to continue. */
export interface FolderContent extends JournalContent {
  /** The number of the journal to append to. */
  readonly generation: number;
  /** The length of its intact part; 0: not even the header is intact. */
  readonly size: number;
  /** Whether it ends with {@link CLOSED_MARK}. */
  readonly isMarked: boolean;
  /** The number of the checkpoint. */
  readonly oldest: number;
  readonly checkpointBytes: number;
  /** Whether the checkpoint must be written again because part of it was damaged. */
  readonly isCheckpointRepaired: boolean;
  /** The total size of the journals since the checkpoint. */
  readonly journalBytes: number;
}

export function checkpointName(generation: number): string {
  return `checkpoint-${generation}`;
}

export function journalName(generation: number): string {
  return `journal-${generation}`;
}

/** Reads the folder; undefined when it contains no journal. Throws JournalError. */
export function readFolder(place: JournalFolder): FolderContent | undefined {
  const names = place.files.list(place.folder);
  const generation = numbersOf('checkpoint', names).pop();
  const journals = numbersOf('journal', names);
  const isBegun = (number: number): boolean =>
    place.files.read(join(place.folder, journalName(number))).length > FILE_HEADER.length;
  if (generation === undefined) {
    // The first journal is created before its checkpoint, so an empty journal without a checkpoint is valid.
    const orphan = journals.find(isBegun);
    if (orphan === undefined) return undefined;
    throw unrecoverableError(place, journalName(orphan), 'the checkpoint that it goes on from is missing');
  }
  const { checkpoint, bytes, isRepaired } = readCheckpoint(place, generation);
  const contents = new Map<number, Buffer>();
  for (const number of journals.filter((each) => each >= generation)) {
    contents.set(number, place.files.read(join(place.folder, journalName(number))));
  }
  // A journal that was created but never written does not make earlier ones obsolete: its creation may have failed, and
  // writes continued in the earlier one.
  const newest = Math.max(
    generation,
    ...[...contents].flatMap(([each, { length }]) => (length > FILE_HEADER.length ? each : [])),
  );
  const records: DecodedRecord[] = [];
  let last = { generation, size: 0, isMarked: false };
  let journalBytes = 0;
  let continuedAt: number | undefined;
  for (let number = generation; number <= newest || continuedAt !== undefined; number++) {
    const revision = checkpoint.revision + records.length;
    const read = readJournal(place, contents.get(number), { number, revision, isLast: number >= newest });
    if (read.size === 0 && number > generation) {
      // It is missing: continue with the previous one and remove its continuation mark.
      last = { ...last, size: continuedAt ?? last.size };
      break;
    }
    for (const record of read.records) records.push(record);
    journalBytes += read.size;
    last = { generation: number, size: read.size, isMarked: read.isMarked };
    continuedAt = read.continuedAt;
    if (read.isCut) break;
  }
  if (last.generation < newest) setAsideLaterJournals(place, last.generation, [...contents.keys()]);
  const details = { oldest: generation, checkpointBytes: bytes, isCheckpointRepaired: isRepaired, journalBytes };
  return { checkpoint, records: withDeletedObjects(checkpoint, records), ...last, ...details };
}

/** Removes obsolete generations, unfinished checkpoints, and journals after `newest`, which were created but not written. */
export function removeObsoleteFiles(
  { files, folder }: Pick<JournalFolder, 'files' | 'folder'>,
  oldest: number,
  newest = Number.POSITIVE_INFINITY,
): void {
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
  /** The checkpoint was damaged and must be written again. */
  readonly isRepaired: boolean;
}

function readCheckpoint(place: JournalFolder, generation: number): ReadCheckpoint {
  const name = checkpointName(generation);
  const bytes = place.files.read(join(place.folder, name));
  const holes: number[] = hasHeader(place, name, bytes) ? [] : [0];
  const frames: Frame[] = [];
  // It was synced before it was renamed, so every defect is later damage.
  for (let from: number | undefined = FILE_HEADER.length; from !== undefined && from < bytes.length; ) {
    const more = scanFrames(bytes, from);
    for (const frame of more.frames) frames.push(frame);
    if (more.end >= bytes.length) break;
    holes.push(more.end);
    from = findFrame(bytes, more.end + 1)?.start;
  }
  const placed = frames.filter(({ text }) => text.startsWith('['));
  const others = frames.filter(({ text }) => !text.startsWith('['));
  // The head is stored at both ends.
  const heads = others.map((frame) => decode(place, name, frame, JSON.parse) as unknown);
  const head = heads.find(isCheckpointHead);
  if (head === undefined) throw unrecoverableError(place, name, 'neither its first nor its last frame can be read');
  if (head.generation !== undefined && head.generation !== generation) {
    throw unrecoverableError(place, name, `it is a copy of ${checkpointName(head.generation)} under another name`);
  }
  const isEnded = heads.some((each) => isRecord(each) && each['end'] === placed.length);
  const problem =
    holes.length > 0
      ? `damaged at byte ${holes.join(', ')}`
      : !isEnded
        ? `it ends too early, at byte ${bytes.length}`
        : undefined;
  if (problem !== undefined && !place.salvage) throw damagedError(place, name, problem);
  if (problem !== undefined) saveDamagedCopy(place, name, { bytes, problem: `${problem}: objects may be lost` });
  const objects = placed.map((frame): PlacedObject => decode(place, name, frame, decodePlaced));
  const { revision, dialect, highest = revision } = head;
  return {
    checkpoint: { revision, dialect, highest, objects },
    bytes: bytes.length,
    isRepaired: problem !== undefined,
  };
}

/** The metadata of a checkpoint. */
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
export function encodeHead(head: CheckpointHead): string {
  return JSON.stringify(head);
}

/** The last frame, which proves that the checkpoint is complete. It repeats the head. */
export function encodeEnd({ revision, highest, dialect, generation }: CheckpointHead, count: number): string {
  return JSON.stringify({ end: count, revision, highest, dialect, generation });
}

function isCheckpointHead(head: unknown): head is CheckpointHead {
  return isRecord(head) && 'revision' in head && 'dialect' in head;
}

/**
 * The end mark of a closed journal: everything before it was durable. It is written twice, and is so long that no
 * sector contains parts of a record and of both marks.
 */
export const CLOSED_MARK = `{"mark":"closed","room":"${' '.repeat(512)}"}`;

/** The last frame of a journal that is continued by the next one, which already exists. */
export const NEXT_MARK = '{"mark":"next"}';

interface ReadJournal {
  readonly records: readonly DecodedRecord[];
  /** The length of the intact part; 0: none. */
  readonly size: number;
  readonly isMarked: boolean;
  /** The position of its {@link NEXT_MARK}. */
  readonly continuedAt: number | undefined;
  /** Later journals are invalid. */
  readonly isCut: boolean;
}

const MISSING_JOURNAL: ReadJournal = { records: [], size: 0, isMarked: false, continuedAt: undefined, isCut: true };

function readJournal(
  place: JournalFolder,
  bytes: Buffer | undefined,
  position: { readonly number: number; readonly revision: number; readonly isLast: boolean },
): ReadJournal {
  const name = journalName(position.number);
  const path = join(place.folder, name);
  // It was synced before its checkpoint, and before any later journal, was written.
  if (bytes === undefined) {
    if (!place.salvage) throw damagedError(place, name, 'it is missing');
    place.warn(`${path} is missing: what was written to it is lost`);
    return MISSING_JOURNAL;
  }
  const isBegun = hasHeader(place, name, bytes);
  const { frames, end, rest } = scanFrames(bytes, FILE_HEADER.length);
  const written = frames.filter(({ text }) => text !== CLOSED_MARK && text !== NEXT_MARK);
  const records = written.map((frame) => decode(place, name, frame, decodeRecord));
  const unexpected = records.findIndex(({ revision }, index) => revision !== position.revision + index + 1);
  let size = Math.min(end, bytes.length);
  let problem: string | undefined;
  if (unexpected >= 0) {
    size = written[unexpected]?.start ?? 0;
    const expected = position.revision + unexpected + 1;
    problem = `version ${records[unexpected]?.revision} at byte ${size} should be ${expected}`;
    records.length = unexpected;
  } else if (rest === 'damaged' || (rest === 'torn' && !position.isLast)) {
    problem = `damaged at byte ${end}, which had been whole`;
  } else if (!isBegun) {
    problem = 'damaged at byte 0';
  }
  if (problem !== undefined && !place.salvage) throw damagedError(place, name, problem);
  const cut = bytes.length - size;
  if (problem !== undefined)
    saveDamagedCopy(place, name, {
      bytes,
      problem: `${problem}: ${cut === 0 ? 'no write is' : `${cut} bytes from ${size} on are`} lost`,
    });
  else if (cut > 0) {
    place.warn(`${path} was not finished when the power went: the ${cut} bytes from ${size} on are cut away`);
  }
  if (!isBegun) repairHeader(place, path, size);
  const [secondToLast, last] = unexpected < 0 ? frames.slice(-2) : [];
  return {
    records,
    size: Math.max(size, FILE_HEADER.length),
    isMarked: secondToLast?.text === CLOSED_MARK && last?.text === CLOSED_MARK,
    continuedAt: (last ?? secondToLast)?.text === NEXT_MARK ? (last ?? secondToLast)?.start : undefined,
    // If only the header was damaged, later journals are still valid.
    isCut: problem !== undefined && (cut > 0 || size < FILE_HEADER.length),
  };
}

function repairHeader({ files }: JournalFolder, path: string, size: number): void {
  const file = files.open(path, size < FILE_HEADER.length ? 'new' : 'existing');
  try {
    for (let at = 0; at < FILE_HEADER.length; ) at += file.write(FILE_HEADER.subarray(at), at);
    file.syncNow();
  } finally {
    file.close();
  }
}

/** Renames later journals, which continue from lost writes. */
function setAsideLaterJournals(
  { files, folder }: JournalFolder,
  generation: number,
  journals: readonly number[],
): void {
  for (const number of journals.filter((each) => each > generation)) {
    const path = join(folder, journalName(number));
    files.rename(path, `${path}.damaged`);
  }
}

function saveDamagedCopy(
  { files, folder, warn }: JournalFolder,
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

/** Whether a file has the expected header. Throws when nothing of it can be recovered. */
function hasHeader(place: JournalFolder, name: string, bytes: Buffer): boolean {
  const header = bytes.subarray(0, FILE_HEADER.length);
  if (header.equals(FILE_HEADER)) return true;
  if (header.subarray(0, -1).equals(FILE_HEADER.subarray(0, -1)) && header.length === FILE_HEADER.length) {
    throw unrecoverableError(place, name, 'it is of another version of orchplane');
  }
  const isEmpty = bytes.every((byte) => byte === 0);
  if (isEmpty && NAME.exec(name)?.[1] === 'journal') {
    if (place.salvage) return false;
    throw damagedError(place, name, 'it is empty');
  }
  if (findFrame(bytes, 0) !== undefined) return false;
  throw unrecoverableError(place, name, isEmpty ? 'it is empty' : 'it is no file of a journal');
}

function decode<Value>(
  place: JournalFolder,
  name: string,
  { text, start }: Frame,
  read: (text: string) => Value,
): Value {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw unrecoverableError(place, name, `the frame at byte ${start} cannot be read: ${error.message}`);
  }
}

/** An error that the option `salvage` can recover from. */
function damagedError(place: JournalFolder, name: string, why: string): JournalError {
  return unrecoverableError(
    place,
    name,
    why,
    ', or open it with { salvage: true } (serve: --salvage) to go on with what is whole',
  );
}

function unrecoverableError({ folder }: JournalFolder, name: string, why: string, orElse = ''): JournalError {
  return new JournalError(`orchplane: journal ${join(folder, name)}: ${why}; restore the folder from a copy${orElse}`);
}
