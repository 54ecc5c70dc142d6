/**
 * The file system interface of the journal: small, so that tests can simulate a power loss at any point.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The file system operations of a journal. */
export interface JournalFiles {
  /** Creates a folder and its parents if necessary, and syncs their names to disk. */
  makeFolder(folder: string): void;
  /** The names in a folder. */
  list(folder: string): readonly string[];
  read(path: string): Buffer;
  /** `new`: creates the file or truncates an existing one. */
  open(path: string, how: 'new' | 'existing'): JournalFile;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Syncs the directory: created, renamed and removed names. */
  syncFolder(folder: string): void;
}

/** An open file. */
export interface JournalFile {
  /** Writes at a position. Returns the number of bytes written, which may be less than requested. */
  write(bytes: Buffer, position: number): number;
  truncate(size: number): void;
  /** Syncs content and size to disk. */
  syncNow(): void;
  sync(): Promise<void>;
  size(): number;
  /** Whether its path still leads to it: a file that was removed can be written and synced without an error. */
  isInPlace(): boolean;
  close(): void;
}

/** Readable by the owner only: the journal contains secrets. */
const MODE = 0o600;
const FOLDER_MODE = 0o700;

/** A folder from others may contain a link to any file of the user. Windows has no such flag. */
const NO_LINKS: number = constants.O_NOFOLLOW ?? 0;
/** The same for a pipe, which would be waited for without an end. */
const NO_WAITING: number = constants.O_NONBLOCK ?? 0;

/** The file system of Node. */
export const nodeFiles: JournalFiles = {
  makeFolder(folder) {
    const first = mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    if (first === undefined) return;
    const top = resolve(first);
    for (let made = resolve(folder); made.startsWith(top); made = dirname(made)) syncFolder(dirname(made));
  },
  list: (folder) => readdirSync(folder),
  read(path) {
    const descriptor = openSync(path, constants.O_RDONLY | NO_LINKS | NO_WAITING);
    try {
      if (!fstatSync(descriptor).isFile()) {
        throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EFTYPE' });
      }
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
  open(path, how) {
    const create = how === 'new' ? constants.O_CREAT | constants.O_TRUNC : 0;
    const descriptor = openSync(path, constants.O_RDWR | create | NO_LINKS, MODE);
    const { dev, ino } = fstatSync(descriptor);
    return {
      write: (bytes, position) => writeSync(descriptor, bytes, 0, bytes.length, position),
      truncate: (size) => ftruncateSync(descriptor, size),
      syncNow: () => fdatasyncSync(descriptor),
      sync: () => syncData(descriptor),
      size: () => fstatSync(descriptor).size,
      isInPlace: () => {
        const present = statSync(path, { throwIfNoEntry: false });
        return present !== undefined && present.ino === ino && present.dev === dev;
      },
      close: () => closeSync(descriptor),
    };
  },
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
  syncFolder,
};

function syncFolder(folder: string): void {
  // Windows cannot open folders and needs no directory sync.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const syncData = promisify(fdatasync);
