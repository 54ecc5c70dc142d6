/**
 * Opens a journal with the file system of Node.
 */
import type { Journal } from '../../storage/journal/types.js';
import { FileJournal } from './file-journal.js';
import { nodeFiles } from './files.js';
import { lockFolder } from './lock.js';
import type { FileJournalOptions } from './options.js';

/**
 * Creates a journal in a folder, which is created if necessary. Only one cluster at a time may use it.
 *
 * @example
 * await using cluster = createCluster({ journal: fileJournal('./data') });
 */
export function fileJournal(folder: string, options: FileJournalOptions = {}): Journal {
  return new FileJournal(folder, options, { files: nodeFiles, lock: lockFolder });
}
