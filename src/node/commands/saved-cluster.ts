/**
 * Opens the folder of `orchplane serve --data` for a command, without serving it.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createCluster } from '../../cluster/full-cluster.js';
import { createFetchHandler } from '../../http/handler.js';
import type { DialectName } from '../../meta/dialect.js';
import type { Journal, JournalContent } from '../../storage/journal/types.js';
import { fileJournal } from '../journal/open.js';
import { UsageError } from './command.js';
import type { ClusterConnection } from './open-cluster.js';

/** The journal of a data folder and its content. The caller must close the journal. Throws UsageError. */
export async function loadDataFolder(
  data: string,
): Promise<{ readonly journal: Journal; readonly content: JournalContent }> {
  if (data === '') throw new UsageError('--data takes a folder');
  const folder = join(data, 'journal');
  // Opening a journal creates its folder.
  const isPresent = (await stat(folder).catch(() => undefined))?.isDirectory() === true;
  if (!isPresent) throw new UsageError(`--data ${data} is not the folder of a cluster`);
  const journal = fileJournal(folder);
  const content = journal.load();
  if (content !== undefined) return { journal, content };
  await journal.close();
  throw new UsageError(`--data ${data} contains no cluster`);
}

/** Opens a cluster without controllers. Its writes are in the folder when the connection is closed. Throws UsageError. */
export async function openSavedCluster(data: string): Promise<ClusterConnection> {
  const { journal, content } = await loadDataFolder(data);
  const dialect = content.checkpoint.dialect as DialectName;
  const cluster = createCluster({ dialect, journal: loadedJournal(journal, content) });
  const handler = createFetchHandler(cluster);
  return {
    url: 'http://saved-cluster',
    namespace: 'default',
    dialect,
    folder: data,
    fetch: handler,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** The journal with content that has been read already: its dialect is that of the cluster. */
function loadedJournal(journal: Journal, content: JournalContent): Journal {
  return {
    load: () => content,
    reset: (state) => journal.reset(state),
    append: (record, stateBefore) => journal.append(record, stateBefore),
    whenDurable: () => journal.whenDurable(),
    get durableRevision() {
      return journal.durableRevision;
    },
    close: () => journal.close(),
  };
}
