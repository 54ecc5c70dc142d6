/**
 * The command `orchplane restore`: creates a cluster from an etcd snapshot or from a file of `orchplane import`.
 */
import { existsSync } from 'node:fs';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.js';
import { createCluster } from '../../cluster/full-cluster.js';
import type { ClusterOptions } from '../../cluster/options.js';
import { openEtcdSnapshot, type Skippable } from '../../etcd/open-snapshot.js';
import { readCapture } from '../../manifests/parse-capture.js';
import { type ManifestPlace, placeText } from '../../manifests/read.js';
import type { ClusterState } from '../../storage/state.js';
import { messageOf } from '../../util/message-of.js';
import { fileJournal } from '../journal/open.js';
import { readSkippable, SNAPSHOT_FLAGS } from '../snapshot-flags.js';
import {
  type CommandOptions,
  type CommandValues,
  defineCommand,
  refuseBeside,
  refuseWithout,
  UsageError,
} from './command.js';
import { KUBECONFIG_OPTIONS, openCluster } from './open-cluster.js';
import { counted } from './output.js';
import { progressBar } from './progress.js';
import { RESTORE_RETRIES, restoreInto } from './restore-into.js';

const OPTIONS = {
  data: { type: 'string', value: 'DIR', help: 'the folder of the new cluster, for "orchplane serve --data"' },
  ...KUBECONFIG_OPTIONS,
  overwrite: { type: 'boolean', help: 'replace objects that exist in the running cluster' },
  'snapshot-skip': SNAPSHOT_FLAGS['snapshot-skip'],
  'skip-hash-check': SNAPSHOT_FLAGS['skip-hash-check'],
  'etcd-prefix': SNAPSHOT_FLAGS['etcd-prefix'],
  'runtime-config': { type: 'string', multiple: true, value: 'LIST', help: 'with --data: as for "orchplane serve"' },
} as const satisfies CommandOptions;

type RestoreValues = CommandValues<typeof OPTIONS>;

export const command = defineCommand({
  usage: ['restore FILE --data DIR [options]', 'restore FILE [--kubeconfig FILE] [options]'],
  summary:
    'Restores an etcd snapshot (of "orchplane snapshot" or etcdctl) or a file of "orchplane import". In a new folder, every object is as it was: uids, versions, managers and status. In a running cluster, objects are created through the API: they get new uids and versions, and objects that exist stay as they are. The exit code is 1 if the running cluster rejects objects.',
  options: OPTIONS,
  async run({ values, positionals }, environment) {
    const file = checkValues(values, positionals);
    if (values.data !== undefined) {
      await checkFolder(values.data);
      const source = await readState(file, values);
      const { state } = source;
      await createFolder(values.data, source, values);
      environment.writeOut(
        `restored ${counted(state.objects.length, 'object')} at resourceVersion ${state.resourceVersion} to ${values.data}\n`,
      );
      return 0;
    }
    const { state } = await readState(file, values);
    await using cluster = await openCluster(values, environment, RESTORE_RETRIES);
    using bar = progressBar(environment);
    return (await restoreInto(cluster, state.objects, values, bar, environment)) === 0 ? 0 : 1;
  },
});

/** Returns the file. Throws UsageError. */
function checkValues(values: RestoreValues, [file = '', ...others]: readonly string[]): string {
  if (file === '' || others.length > 0) throw new UsageError('restore takes one file');
  if (values.data === undefined) {
    refuseWithout('--data', values, ['runtime-config']);
    if (skippedBy(values).includes('unserved')) {
      throw new UsageError('--snapshot-skip unserved needs --data; a running cluster reports what it does not serve');
    }
    return file;
  }
  if (values.data === '') throw new UsageError('--data takes a folder');
  refuseBeside('--data', values, ['kubeconfig', 'context', 'token', 'overwrite']);
  return file;
}

async function checkFolder(data: string): Promise<void> {
  const content = await readdir(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`--data ${data}: ${error.message}`);
  });
  if (content.length > 0) throw new UsageError(`--data ${data} is not empty; a cluster is restored to a new folder`);
}

function skippedBy(values: RestoreValues): readonly Skippable[] {
  return (values['snapshot-skip'] ?? []).flatMap((list) => list.split(',')).map(readSkippable);
}

/** A state and where it comes from. */
export interface StateSource {
  readonly file: string;
  readonly state: ClusterState;
  /** Where the objects are in the file; empty for a snapshot. */
  readonly places: readonly ManifestPlace[];
}

/** Reads an etcd snapshot or a file of objects. Rejects with UsageError. */
export async function readState(file: string, values: RestoreValues): Promise<StateSource> {
  const skip = skippedBy(values);
  if (await isSnapshot(file)) {
    const state = await openEtcdSnapshot(file, {
      skip,
      prefix: values['etcd-prefix'],
      skipHashCheck: values['skip-hash-check'],
      dialect: values.dialect,
    });
    return { file, state, places: [] };
  }
  refuseWithout(`an etcd snapshot, and ${file} is none`, values, ['etcd-prefix', 'skip-hash-check']);
  const { state, places } = readDump(file, await readFile(file, 'utf8'));
  if (state.objects.length === 0) throw new UsageError(`${file} contains no objects`);
  return { file, state: { ...state, skipsUnserved: skip.includes('unserved') }, places };
}

/** Creates a cluster with the state. Throws UsageError with the place of an object that it does not take. */
export function createFrom({ file, state, places }: StateSource, options: ClusterOptions): Cluster {
  try {
    return createCluster({ ...options, from: state });
  } catch (error) {
    const why = error instanceof TypeError ? /^orchplane: from: (.*)$/s.exec(error.message)?.[1] : undefined;
    if (why === undefined) throw error;
    const at = state.objects.findIndex(({ kind, metadata: { namespace, name } }) =>
      why.startsWith(`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} `),
    );
    const place = places[at];
    if (place === undefined) throw new UsageError(`${file}: ${why}`);
    const hint = 'the file is to contain objects as a server returns them, as those of "orchplane import" do';
    throw new UsageError(`${placeText({ ...place, file })}: ${why}; ${hint}`);
  }
}

function readDump(file: string, text: string) {
  try {
    return readCapture(text);
  } catch (error) {
    throw new UsageError(`${file} is neither an etcd snapshot nor a file of objects: ${messageOf(error)}`);
  }
}

/** A database has zero bytes in its first page; a text has none. */
async function isSnapshot(file: string): Promise<boolean> {
  await using handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === 'ENOENT' ? `${file}: no such file` : error.message);
  });
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0).catch((error: unknown) => {
    throw new UsageError(`${file}: ${messageOf(error)}`);
  });
  return buffer.subarray(0, bytesRead).includes(0);
}

async function createFolder(data: string, source: StateSource, values: RestoreValues): Promise<void> {
  const isNew = !existsSync(data);
  const folder = join(data, 'journal');
  const runtimeConfig = values['runtime-config']?.join(',');
  try {
    await createFrom(source, {
      dialect: values.dialect ?? 'kubernetes',
      ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
      journal: fileJournal(folder),
    }).close();
  } catch (error) {
    await rm(isNew ? data : folder, { recursive: true, force: true });
    if (!(error instanceof TypeError || error instanceof UsageError)) throw error;
    const hint = '; --runtime-config serves more kinds, --snapshot-skip unserved leaves them out';
    throw new UsageError(`${error.message}${error.message.includes('serves no') ? hint : ''}`);
  }
}
