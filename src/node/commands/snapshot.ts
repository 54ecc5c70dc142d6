/**
 * The command `orchplane snapshot`: writes a cluster as an etcd snapshot.
 */
import { readCluster } from '../../etcd/read-cluster.js';
import { type ClusterContent, writeContent } from '../../etcd/write-snapshot.js';
import { type DialectName, dialectNamed } from '../../meta/dialect.js';
import type { PlacedObject } from '../../storage/state.js';
import { keyText } from '../../storage/types.js';
import { kubeconfigTransport } from '../kubeconfig-transport.js';
import { PREFIX_FLAG } from '../snapshot-flags.js';
import { type CommandInput, type CommandOptions, defineCommand, UsageError } from './command.js';
import { loadDataFolder } from './saved-cluster.js';

const OPTIONS = {
  output: { type: 'string', short: 'o', value: 'FILE', help: 'the file to write' },
  kubeconfig: { type: 'string', value: 'FILE', help: 'read a running cluster through its API, at one version' },
  data: { type: 'string', value: 'DIR', help: 'read the folder of a cluster that is not being served' },
  dialect: {
    type: 'string',
    choices: ['kubernetes', 'orch'],
    help: 'the dialect of the running cluster; default: kubernetes',
  },
  ...PREFIX_FLAG,
} as const satisfies CommandOptions;

export const command = defineCommand({
  usage: ['snapshot -o FILE --kubeconfig FILE [options]', 'snapshot -o FILE --data DIR [options]'],
  summary: 'Writes a cluster as an etcd snapshot, for a real kube-apiserver.',
  options: OPTIONS,
  async run(input, { writeOut }) {
    const { output, source, prefix } = readSettings(input);
    const content =
      'data' in source
        ? await readFolder(source.data)
        : await readCluster(kubeconfigTransport(source.kubeconfig, { dialect: source.dialect }));
    const count = await writeContent(output, content, { prefix });
    writeOut(`wrote ${count} objects at resourceVersion ${content.revision} to ${output}\n`);
    return 0;
  },
});

interface SnapshotSettings {
  readonly output: string;
  /** What to read: the folder of a cluster that is not served, or a cluster that is. */
  readonly source: { readonly data: string } | { readonly kubeconfig: string; readonly dialect: DialectName };
  readonly prefix: string | undefined;
}

/** Throws UsageError. */
function readSettings({ values, positionals }: CommandInput<typeof OPTIONS>): SnapshotSettings {
  const { output = '', kubeconfig, data, dialect, 'etcd-prefix': prefix } = values;
  const [rest] = positionals;
  if (rest !== undefined) throw new UsageError(`unexpected "${rest}"; the file of a snapshot is given with --output`);
  if (output === '') throw new UsageError('snapshot needs --output, the file to write');
  if ((data === undefined) === (kubeconfig === undefined)) {
    throw new UsageError('snapshot takes either --kubeconfig, for a running cluster, or --data, for a folder');
  }
  if (kubeconfig !== undefined) return { output, source: { kubeconfig, dialect: dialect ?? 'kubernetes' }, prefix };
  if (dialect !== undefined) throw new UsageError('--dialect is for --kubeconfig; a folder has its dialect');
  return { output, source: { data: data ?? '' }, prefix };
}

/** The objects in the folder of `orchplane serve --data`, which no other process may use at the same time. */
async function readFolder(data: string): Promise<ClusterContent> {
  const { journal, content } = await loadDataFolder(data);
  const { checkpoint, records } = content;
  const objects = new Map<string, PlacedObject>();
  for (const placed of checkpoint.objects) objects.set(keyText(placed.key), placed);
  for (const { type, key, object } of records) {
    if (type === 'DELETED') objects.delete(keyText(key));
    else objects.set(keyText(key), { key, object });
  }
  await journal.close();
  return {
    dialect: dialectNamed(checkpoint.dialect as DialectName),
    revision: records.at(-1)?.revision ?? checkpoint.revision,
    objects: objects.values(),
  };
}
