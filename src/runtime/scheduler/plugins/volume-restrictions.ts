/**
 * The VolumeRestrictions plugin: disks that only one pod may use on a node, and claims that only one pod may use at all.
 */
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import { type Filter, type FilterPlugin, type Rejection, unresolvable, unschedulable } from '../plugin.js';
import type { NodeInfo, PodInfo, Snapshot, StoredPod } from '../snapshot.js';
import { claimUses, missing } from './pod-volumes.js';

type Volume = NonNullable<StoredPod['spec']['volumes']>[number];

const DISK_CONFLICT = unschedulable('node(s) had no available disk');
const CLAIM_CONFLICT = unschedulable(
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
);

export const volumeRestrictions: FilterPlugin = {
  name: 'VolumeRestrictions',
  prepare({ pod }, snapshot) {
    const disks = (pod.spec.volumes ?? []).filter(isDisk);
    const exclusive = new Set<string>();
    for (const { claimName, claim, isEphemeral } of claimUses(pod, snapshot)) {
      if (isEphemeral) continue;
      if (claim === undefined) return unresolvable(missing(PersistentVolumeClaim, claimName, snapshot.dialect));
      if (claim.spec.accessModes?.includes('ReadWriteOncePod')) exclusive.add(claimName);
    }
    const inUse = exclusive.size === 0 ? [] : [...exclusive].filter((name) => isUsed(name, pod, snapshot));
    if (disks.length === 0 && inUse.length === 0) return undefined;
    return new RestrictionsFilter(disks, exclusive, inUse.length);
  },
};

function isUsed(claimName: string, { metadata }: StoredPod, { nodes }: Snapshot): boolean {
  return nodes.some(({ pods }) =>
    pods.some(({ pod }) => pod.metadata.namespace === metadata.namespace && claimNames(pod).includes(claimName)),
  );
}

function claimNames({ spec }: StoredPod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

class RestrictionsFilter implements Filter {
  readonly #disks: readonly Volume[];
  readonly #exclusive: ReadonlySet<string>;
  #conflicts: number;

  constructor(disks: readonly Volume[], exclusive: ReadonlySet<string>, conflicts: number) {
    this.#disks = disks;
    this.#exclusive = exclusive;
    this.#conflicts = conflicts;
  }

  check({ pods }: NodeInfo): Rejection | undefined {
    const hasConflict = this.#disks.some((disk) =>
      pods.some(({ pod }) => (pod.spec.volumes ?? []).some((other) => isSameDisk(disk, other))),
    );
    if (hasConflict) return DISK_CONFLICT;
    return this.#conflicts > 0 ? CLAIM_CONFLICT : undefined;
  }

  update({ pod }: PodInfo, _node: NodeInfo, sign: 1 | -1): void {
    this.#conflicts += sign * claimNames(pod).filter((name) => this.#exclusive.has(name)).length;
  }

  clone(): RestrictionsFilter {
    return new RestrictionsFilter(this.#disks, this.#exclusive, this.#conflicts);
  }
}

function isDisk({ gcePersistentDisk, awsElasticBlockStore, rbd, iscsi }: Volume): boolean {
  return [gcePersistentDisk, awsElasticBlockStore, rbd, iscsi].some((source) => source !== undefined);
}

interface ReadOnlySource {
  readonly readOnly?: boolean;
}

/** Whether the volumes are the same disk and at least one of them is writable. */
function isSameDisk(left: Volume, right: Volume): boolean {
  const isWritable = (a: ReadOnlySource, b: ReadOnlySource) => a.readOnly !== true || b.readOnly !== true;
  const [gce, otherGce] = [left.gcePersistentDisk, right.gcePersistentDisk];
  if (gce !== undefined && otherGce !== undefined && gce.pdName === otherGce.pdName && isWritable(gce, otherGce)) {
    return true;
  }
  const [aws, otherAws] = [left.awsElasticBlockStore, right.awsElasticBlockStore];
  if (aws !== undefined && aws.volumeID === otherAws?.volumeID) return true;
  const [iscsi, otherIscsi] = [left.iscsi, right.iscsi];
  if (
    iscsi !== undefined &&
    otherIscsi !== undefined &&
    iscsi.iqn === otherIscsi.iqn &&
    isWritable(iscsi, otherIscsi)
  ) {
    return true;
  }
  const [rbd, otherRbd] = [left.rbd, right.rbd];
  if (rbd === undefined || otherRbd === undefined || !isWritable(rbd, otherRbd)) return false;
  const hasSharedMonitor = rbd.monitors.some((monitor) => otherRbd.monitors.includes(monitor));
  return hasSharedMonitor && rbd.pool === otherRbd.pool && rbd.image === otherRbd.image;
}
