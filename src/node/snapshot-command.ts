/**
 * The command `orchplane snapshot`: writes a cluster as an etcd snapshot.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readCluster } from '../etcd/read-cluster.js';
import { type ClusterContent, writeContent } from '../etcd/write-snapshot.js';
import { type DialectName, dialectNamed } from '../meta/dialect.js';
import type { PlacedObject } from '../storage/state.js';
import { keyText } from '../storage/types.js';
import { fileJournal } from './journal/file-journal.js';
import { kubeconfigTransport } from './kubeconfig-transport.js';
import { UsageError } from './server-flags.js';
import type { SnapshotSettings } from './snapshot-flags.js';

/** Writes the file and returns a message about it. */
export async function runSnapshot({ output, source, prefix }: SnapshotSettings): Promise<string> {
  const content =
    'data' in source
      ? await readFolder(source.data)
      : await readCluster(kubeconfigTransport(source.kubeconfig, { dialect: source.dialect }));
  const count = await writeContent(output, content, { prefix });
  return `wrote ${count} objects at resourceVersion ${content.revision} to ${output}\n`;
}

/** The objects in the folder of `orchplane serve --data`, which no other process may use at the same time. */
async function readFolder(data: string): Promise<ClusterContent> {
  const folder = join(data, 'journal');
  // Opening a journal creates its folder.
  const isPresent = (await stat(folder).catch(() => undefined))?.isDirectory() === true;
  if (!isPresent) throw new UsageError(`--data ${data} is not the folder of a cluster`);
  const journal = fileJournal(folder);
  try {
    const content = journal.load();
    if (content === undefined) throw new UsageError(`--data ${data} contains no cluster`);
    const { checkpoint, records } = content;
    const objects = new Map<string, PlacedObject>();
    for (const placed of checkpoint.objects) objects.set(keyText(placed.key), placed);
    for (const { type, key, object } of records) {
      if (type === 'DELETED') objects.delete(keyText(key));
      else objects.set(keyText(key), { key, object });
    }
    return {
      dialect: dialectNamed(checkpoint.dialect as DialectName),
      revision: records.at(-1)?.revision ?? checkpoint.revision,
      objects: objects.values(),
    };
  } finally {
    await journal.close();
  }
}
