/**
 * The command `orchplane snapshot`: writes a cluster as an etcd snapshot.
 */
import { readCluster } from '../../etcd/read-cluster.js';
import { requireReplaceable } from '../../etcd/replaceable-file.js';
import { type ClusterContent, writeContent } from '../../etcd/write-snapshot.js';
import { type DialectName, dialectNamed } from '../../meta/dialect.js';
import type { PlacedObject } from '../../storage/state.js';
import { keyText } from '../../storage/types.js';
import { PREFIX_FLAG } from '../snapshot-flags.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  defineCommand,
  UsageError,
} from './command.js';
import { CLUSTER_OPTIONS, openCluster, refuseRunning } from './open-cluster.js';
import { counted } from './output.js';
import { loadDataFolder } from './saved-cluster.js';

const OPTIONS = {
  output: { type: 'string', short: 'o', value: 'FILE', writes: 'file', help: 'the file to write' },
  ...CLUSTER_OPTIONS,
  ...PREFIX_FLAG,
} as const satisfies CommandOptions;

export const command = defineCommand({
  usage: ['snapshot -o FILE [--kubeconfig FILE] [options]', 'snapshot -o FILE --data DIR [options]'],
  summary:
    'Writes a cluster as an etcd snapshot, for a real kube-apiserver. A running cluster is read through its API, at one version.',
  options: OPTIONS,
  async run({ values, positionals: [rest] }, environment) {
    const { output = '', data, 'etcd-prefix': prefix } = values;
    if (rest !== undefined) throw new UsageError(`unexpected "${rest}"; the file of a snapshot is given with --output`);
    if (output === '') throw new UsageError('snapshot needs --output, the file to write');
    if (data !== undefined) refuseRunning('--data', values);
    await requireReplaceable(output);
    const content = data === undefined ? await readRunning(values, environment) : await readFolder(data);
    const count = await writeContent(output, content, { prefix });
    environment.writeOut(`wrote ${counted(count, 'object')} at resourceVersion ${content.revision} to ${output}\n`);
    return 0;
  },
});

async function readRunning(
  values: CommandValues<typeof CLUSTER_OPTIONS>,
  environment: CommandEnvironment,
): Promise<ClusterContent> {
  await using cluster = await openCluster(values, environment);
  // Rejects a dialect that is not that of the cluster.
  await cluster.discover();
  return await readCluster(cluster.transport);
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
