/**
 * The options of a journal in files.
 */
import { refuseUnknownOptions } from '../../util/options.js';
import type { JournalFiles } from './files.js';
import type { FolderLock } from './lock.js';

/** The options of `fileJournal`. */
export interface FileJournalOptions {
  /**
   * When writes are synced to disk. `group` (the default): before they are acknowledged, many at once. `each`: one by
   * one. `never`: the operating system decides; a killed process loses nothing, a power loss may lose the last seconds.
   */
  readonly sync?: 'group' | 'each' | 'never' | undefined;
  /**
   * Opens a damaged journal with its intact part and saves a copy of the damaged files. By default damage is an error.
   */
  readonly salvage?: boolean | undefined;
  /**
   * The size of the journal, in bytes, after which a checkpoint of the whole state is written: at least this, and at
   * least the size of the last checkpoint. 1 MiB by default.
   */
  readonly compactAfter?: number | undefined;
  /**
   * The disk space, in bytes, that is kept for deletions on a full disk: with less free space, other writes are refused.
   * 4 MiB by default.
   */
  readonly reserve?: number | undefined;
  /** Called with problems that have no consequences yet. Absent: they are logged to the console. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

const OPTIONS = [
  'sync',
  'salvage',
  'compactAfter',
  'reserve',
  'onWarning',
] as const satisfies readonly (keyof FileJournalOptions)[];
const SYNCS = ['group', 'each', 'never'];
const MEBIBYTE = 1024 * 1024;
const DEFAULT_RESERVE = 4 * MEBIBYTE;

/** The options with their defaults. */
export interface JournalSettings {
  readonly sync: 'group' | 'each' | 'never';
  readonly salvage: boolean;
  readonly compactAfter: number;
  readonly reserve: number;
  readonly warn: (warning: string) => void;
}

/** Throws TypeError or RangeError for invalid options. */
export function readOptions(options: FileJournalOptions): JournalSettings {
  refuseUnknownOptions('fileJournal', options, OPTIONS);
  const { sync = 'group', salvage = false, compactAfter = MEBIBYTE, reserve = DEFAULT_RESERVE } = options;
  if (!SYNCS.includes(sync)) throw new TypeError(`orchplane: sync of fileJournal is one of ${SYNCS.join(', ')}`);
  if (!(compactAfter > 0)) throw new RangeError('orchplane: compactAfter of fileJournal is a number of bytes');
  if (!(reserve >= 0)) throw new RangeError('orchplane: reserve of fileJournal is a number of bytes');
  const { onWarning: warn = (text: string) => console.warn(`orchplane: ${text}`) } = options;
  return { sync, salvage, compactAfter, reserve, warn };
}

/** The file system and lock that the journal uses; tests replace them. */
export interface JournalPlatform {
  readonly files: JournalFiles;
  readonly lock: (folder: string) => FolderLock;
}
