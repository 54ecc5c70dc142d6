/**
 * The VolumeRestrictions plugin: disks that only one pod may use on a node, and claims that only one pod may use at all.
 */
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import { getOrInsertComputed, oncePerKey } from '../../../util/once.js';
import { type Filter, type FilterPlugin, type Rejection, unresolvable, unschedulable } from '../plugin.js';
import type { NodeInfo, PodInfo, Snapshot, StoredPod } from '../snapshot.js';
import { claimUses, missing } from './pod-volumes.js';

const DISK_CONFLICT = unschedulable('node(s) had no available disk');
const CLAIM_CONFLICT = unschedulable(
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
);

export const volumeRestrictions: FilterPlugin = {
  name: 'VolumeRestrictions',
  prepare({ pod }, snapshot) {
    const disks = disksOf(pod);
    const exclusive = new Set<string>();
    for (const { claimName, claim, isEphemeral } of claimUses(pod, snapshot)) {
      if (isEphemeral) continue;
      if (claim === undefined) return unresolvable(missing(PersistentVolumeClaim, claimName, snapshot.dialect));
      if (claim.spec.accessModes?.includes('ReadWriteOncePod')) exclusive.add(claimName);
    }
    const inUse = exclusive.size === 0 ? [] : claimsInUse(pod, snapshot).filter((name) => exclusive.has(name));
    if (disks.length === 0 && inUse.length === 0) return undefined;
    return new RestrictionsFilter(diskConflicts(disks), exclusive, inUse.length);
  },
};

/** The names of the claims that pods in the namespace of the pod use. */
function claimsInUse({ metadata }: StoredPod, { nodes }: Snapshot): readonly string[] {
  const names = new Set<string>();
  for (const { pods } of nodes) {
    for (const { pod } of pods) {
      if (pod.metadata.namespace === metadata.namespace) for (const name of claimNames(pod)) names.add(name);
    }
  }
  return [...names];
}

function claimNames({ spec }: StoredPod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

class RestrictionsFilter implements Filter {
  readonly #hasDiskOf: (pod: PodInfo) => boolean;
  readonly #exclusive: ReadonlySet<string>;
  #conflicts: number;

  constructor(hasDiskOf: (pod: PodInfo) => boolean, exclusive: ReadonlySet<string>, conflicts: number) {
    this.#hasDiskOf = hasDiskOf;
    this.#exclusive = exclusive;
    this.#conflicts = conflicts;
  }

  check({ pods }: NodeInfo): Rejection | undefined {
    if (pods.some(this.#hasDiskOf)) return DISK_CONFLICT;
    return this.#conflicts > 0 ? CLAIM_CONFLICT : undefined;
  }

  update({ pod }: PodInfo, _node: NodeInfo, sign: 1 | -1): void {
    this.#conflicts += sign * claimNames(pod).filter((name) => this.#exclusive.has(name)).length;
  }

  clone(): RestrictionsFilter {
    return new RestrictionsFilter(this.#hasDiskOf, this.#exclusive, this.#conflicts);
  }
}

/** The use of a disk by a pod. */
interface Disk {
  readonly name: string;
  /** Where it is. It is the same disk as another one with the same name if they have an address in common. */
  readonly addresses: readonly string[];
  readonly isWritable: boolean;
}

const ANYWHERE: readonly string[] = [''];

function disksOf({ spec }: StoredPod): readonly Disk[] {
  return (spec.volumes ?? []).flatMap(({ gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd }): Disk[] => {
    const disk = (name: readonly unknown[], isReadOnly: boolean | undefined, addresses = ANYWHERE) => [
      { name: JSON.stringify(name), addresses, isWritable: isReadOnly !== true },
    ];
    if (gce !== undefined) return disk(['gce', gce.pdName], gce.readOnly);
    // Not even readers share it.
    if (aws !== undefined) return disk(['aws', aws.volumeID], false);
    if (iscsi !== undefined) return disk(['iscsi', iscsi.iqn], iscsi.readOnly);
    return rbd === undefined ? [] : disk(['rbd', rbd.pool, rbd.image], rbd.readOnly, rbd.monitors);
  });
}

/** A test whether a pod has one of the disks and one of the two can write to it. A pod may have tens of thousands of disks. */
function diskConflicts(wanted: readonly Disk[]): (other: PodInfo) => boolean {
  // By name and address: whether it is writable.
  const byName = new Map<string, Map<string, boolean>>();
  for (const { name, addresses, isWritable } of wanted) {
    const known = getOrInsertComputed(byName, name, () => new Map<string, boolean>());
    for (const address of addresses) known.set(address, isWritable || known.get(address) === true);
  }
  const isTaken = ({ name, addresses, isWritable }: Disk) => {
    const known = byName.get(name);
    return addresses.some((each) => known?.has(each) === true && (isWritable || known.get(each) === true));
  };
  // Preemption checks the same pods several times.
  return oncePerKey(({ pod }) => disksOf(pod).some(isTaken));
}
