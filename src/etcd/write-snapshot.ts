/**
 * Writes the objects of a cluster to a file that `etcdutl snapshot restore` accepts, for a real kube-apiserver.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../cluster/contract.js';
import { allNodePortsOf } from '../kinds/core/v1/service/node-ports.js';
import type { Dialect } from '../meta/dialect.js';
import { parseApiVersion } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { PlacedObject } from '../storage/state.js';
import { refuseUnknownOptions } from '../util/options.js';
import { writeBolt } from './bolt-writer.js';
import { builtInKindsIn } from './built-in-kinds.js';
import { DEFAULT_PREFIX, etcdLayout } from './layout.js';
import { type KeyValue, keySpaceBuckets, type Lease } from './mvcc.js';
import { encodeNodePorts, NODE_PORTS_PATH } from './node-port-range.js';
import { PRIVATE, replaceFile } from './replaceable-file.js';
import { encodeCustomValue, encodeStored } from './values.js';

export interface WriteSnapshotOptions {
  /** The flag `--etcd-prefix` of the kube-apiserver. Default: `/registry`. */
  readonly prefix?: string | undefined;
}

/** All objects of a cluster at one revision, in the versions in which this library stores them. */
export interface ClusterContent {
  readonly dialect: Dialect;
  readonly revision: number;
  readonly objects: Iterable<PlacedObject>;
}

/** The members of a cluster that a snapshot uses. */
export type SnapshotSource = Pick<Cluster, 'resourceVersion' | 'storageReader' | 'kinds' | 'dialect'>;

/**
 * Writes all objects of a cluster as an etcd snapshot and returns their number. Only the current state is written: etcd
 * considers all earlier revisions compacted. The file contains secrets and is readable by its owner only. Rejects for a
 * symbolic link or a device.
 *
 * @example
 * await writeEtcdSnapshot('cluster.db', cluster);
 */
export async function writeEtcdSnapshot(
  file: string,
  cluster: SnapshotSource,
  options: WriteSnapshotOptions = {},
): Promise<number> {
  refuseUnknownOptions('writeEtcdSnapshot', options, ['prefix']);
  return writeContent(file, contentOf(cluster), options);
}

function contentOf(cluster: SnapshotSource): ClusterContent {
  const { dialect } = cluster;
  const groupKind = (apiVersion: string, kind: string): string => `${parseApiVersion(apiVersion)?.group ?? ''} ${kind}`;
  const custom = new Map(
    cluster.kinds().map((served) => [groupKind(served.apiVersion, served.gvk.kind), served.storageKey]),
  );
  const keyOf = ({ apiVersion, kind, metadata }: ApiObject): PlacedObject['key'] => {
    const storageKey =
      builtInKindsIn(dialect).version(apiVersion, kind)?.storageKey ?? custom.get(groupKind(apiVersion, kind));
    if (storageKey === undefined) throw new TypeError(`orchplane: the cluster serves no ${kind} in ${apiVersion}`);
    return { storageKey, namespace: metadata.namespace ?? '', name: metadata.name };
  };
  const objects = cluster.storageReader.everything().map((object) => ({ key: keyOf(object), object }));
  return { dialect, revision: Number(cluster.resourceVersion), objects };
}

/** The lease of all events. kube-apiserver deletes events after an hour, counted from the restore. */
const EVENT_LEASE: Lease = { id: 1, ttl: 3600 };

/** Writes a file and returns the number of objects in it. */
export async function writeContent(
  file: string,
  { dialect, revision, objects }: ClusterContent,
  { prefix = DEFAULT_PREFIX }: WriteSnapshotOptions = {},
): Promise<number> {
  const layout = etcdLayout(prefix, dialect);
  const { storageKinds } = builtInKindsIn(dialect);
  const entries: KeyValue[] = [];
  const nodePorts: number[] = [];
  for (const { key, object } of objects) {
    const served = storageKinds.get(key.storageKey);
    entries.push({
      key: layout.keyOf(key),
      value: served === undefined ? encodeCustomValue(object) : encodeStored(object, served),
      revision: Number(object.metadata.resourceVersion),
      ...(key.storageKey === 'events' ? { lease: EVENT_LEASE.id } : {}),
    });
    if (key.storageKey === 'services') nodePorts.push(...allNodePortsOf(object));
  }
  const count = entries.length;
  entries.push({ key: layout.prefix + NODE_PORTS_PATH, value: encodeNodePorts(nodePorts, dialect), revision });
  await writeWithHash(file, writeBolt(keySpaceBuckets({ revision, entries }, [EVENT_LEASE])));
  return count;
}

async function writeWithHash(file: string, parts: readonly Uint8Array[]): Promise<void> {
  await replaceFile(file, PRIVATE, async (append) => {
    const hash = createHash('sha256');
    for (const part of parts) {
      hash.update(part);
      await append(part);
    }
    await append(hash.digest());
  });
}
