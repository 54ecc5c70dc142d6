/**
 * What a journal needs of a file system: little, so that tests can have one that loses power at any moment.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface JournalFiles {
  /** Makes a folder, with those above it, unless it is there. They are durable with their names. */
  makeFolder(folder: string): void;
  /** The names in a folder. */
  list(folder: string): readonly string[];
  read(path: string): Buffer;
  /** `new`: there must be none, or an old one is emptied. */
  open(path: string, how: 'new' | 'existing'): JournalFile;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Makes the names in a folder durable: what was made, renamed or removed. */
  syncFolder(folder: string): void;
}

export interface JournalFile {
  /** Writes some of the bytes at a position, and says how many. */
  write(bytes: Buffer, position: number): number;
  truncate(size: number): void;
  /** Makes content and size durable. */
  syncNow(): void;
  sync(): Promise<void>;
  close(): void;
}

/** Only the owner reads what is in a cluster: there are secrets among it. */
const MODE = 0o600;
const FOLDER_MODE = 0o700;

export const nodeFiles: JournalFiles = {
  makeFolder(folder) {
    const first = mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    if (first === undefined) return;
    const top = resolve(first);
    for (let made = resolve(folder); made.startsWith(top); made = dirname(made)) syncFolder(dirname(made));
  },
  list: (folder) => readdirSync(folder),
  read: (path) => readFileSync(path),
  open(path, how) {
    const descriptor = openSync(path, how === 'new' ? 'w' : 'r+', MODE);
    return {
      write: (bytes, position) => writeSync(descriptor, bytes, 0, bytes.length, position),
      truncate: (size) => ftruncateSync(descriptor, size),
      syncNow: () => fdatasyncSync(descriptor),
      sync: () => syncData(descriptor),
      close: () => closeSync(descriptor),
    };
  },
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
  syncFolder,
};

function syncFolder(folder: string): void {
  // Windows opens no folders, and needs no such thing.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const syncData = promisify(fdatasync);
