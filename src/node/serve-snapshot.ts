/**
 * `orchplane serve --etcd-snapshot`: the cluster starts from a snapshot, and is read-only unless `--writable` is given.
 */
import type { Cluster } from '../cluster/cluster.js';
import { createCluster, type FullCluster } from '../cluster/full-cluster.js';
import type { ClusterOptions } from '../cluster/options.js';
import { type EtcdSnapshot, openEtcdSnapshot } from '../etcd/open-snapshot.js';
import type { DialectName } from '../meta/dialect.js';
import { translateError } from '../util/catch-error.js';
import { UsageError } from './commands/command.js';
import { readOnlyJournal, refuseWrites } from './read-only.js';
import type { OpenedSnapshot } from './snapshot-flags.js';

const READ_ONLY =
  'the cluster is an etcd snapshot that is served read-only; "orchplane serve --writable" allows changes';
const NAMED_AT_MOST = 5;

/** A snapshot that a cluster is to be created from. */
export interface SnapshotStart {
  /** Creates the cluster. Throws UsageError for kinds that are not served. */
  create(options: ClusterOptions): FullCluster;
  /** Reports what the snapshot has and the cluster has not, and makes the cluster read-only. */
  attach(cluster: Cluster, warn: (text: string) => void): Disposable;
}

export async function startFromSnapshot(settings: OpenedSnapshot, dialect: DialectName): Promise<SnapshotStart> {
  const { file, isWritable, ...options } = settings;
  const from = await openEtcdSnapshot(file, { ...options, dialect });
  return {
    create: (given) => create({ ...given, ...(isWritable ? { from } : { from, journal: readOnlyJournal(READ_ONLY) }) }),
    attach(cluster, warn) {
      reportSkipped(from, cluster, warn);
      return isWritable ? { [Symbol.dispose]: () => undefined } : refuseWrites(cluster, READ_ONLY);
    },
  };
}

function create(options: ClusterOptions): FullCluster {
  return translateError(
    TypeError,
    () => createCluster(options),
    (error) =>
      error.message.includes('this cluster serves no')
        ? new UsageError(
            `${error.message}; --runtime-config serves more kinds, --snapshot-skip unserved leaves them out`,
          )
        : error,
  );
}

function reportSkipped({ objects, skipped }: EtcdSnapshot, cluster: Cluster, warn: (text: string) => void): void {
  const present = new Set(cluster.storageReader.everything().map(({ metadata }) => metadata.uid));
  const unserved = objects.filter(({ metadata }) => !present.has(metadata.uid));
  const kinds = [...new Set(unserved.map(({ kind, apiVersion }) => `${kind} in ${apiVersion}`))];
  if (unserved.length > 0)
    warn(`${unserved.length} objects of kinds that are not served are left out: ${listed(kinds)}`);
  if (skipped.length > 0) warn(`${skipped.length} keys are left out: ${listed(skipped)}`);
}

function listed(names: readonly string[]): string {
  const more = names.length > NAMED_AT_MOST ? ` and ${names.length - NAMED_AT_MOST} more` : '';
  return names.slice(0, NAMED_AT_MOST).join(', ') + more;
}
