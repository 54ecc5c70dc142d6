/**
 * The NodeVolumeLimits plugin: the number of volumes of a CSI driver on a node.
 */
import { classOfClaim, volumeNames } from '../../../controllers/volumes/matching.js';
import { PersistentVolume } from '../../../kinds/core/v1/persistent-volume.js';
import { CSINode } from '../../../kinds/storage/v1/csi-node.js';
import { StorageClass } from '../../../kinds/storage/v1/storage-class.js';
import { VolumeAttachment } from '../../../kinds/storage/v1/volume-attachment.js';
import { oncePerKey } from '../../../util/once.js';
import { type FilterPlugin, unschedulable } from '../plugin.js';
import type { NodeInfo, Snapshot, StoredPod } from '../snapshot.js';
import { claimUses, type StoredClaim } from './pod-volumes.js';

/** Names of drivers by the unique name of a volume. */
type DriverVolumes = Map<string, string>;

const EXCEEDED = unschedulable('node(s) exceed max volume count');

export const volumeLimits: FilterPlugin = {
  name: 'NodeVolumeLimits',
  prepare({ pod }, snapshot) {
    const wanted = driverVolumes(pod, snapshot);
    if (wanted.size === 0) return undefined;
    // Preemption checks the same pods several times.
    const volumesOf = oncePerKey((other: StoredPod) => driverVolumes(other, snapshot));
    return { check: (node) => (exceedsLimits(wanted, node, { snapshot, volumesOf }) ? EXCEEDED : undefined) };
  },
};

interface LimitContext {
  readonly snapshot: Snapshot;
  readonly volumesOf: (pod: StoredPod) => DriverVolumes;
}

function exceedsLimits(wanted: DriverVolumes, node: NodeInfo, { snapshot, volumesOf }: LimitContext): boolean {
  const limits = new Map<string, number>();
  for (const { name, allocatable } of snapshot.objects.get(CSINode, node.name)?.spec.drivers ?? []) {
    if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
  }
  if (limits.size === 0) return false;
  const attached: DriverVolumes = new Map();
  for (const { pod } of node.pods) for (const [id, driver] of volumesOf(pod)) attached.set(id, driver);
  const added = new Map([...wanted].filter(([id]) => !attached.has(id)));
  for (const [id, driver] of attachments(node, snapshot)) attached.set(id, driver);
  for (const [driver, limit] of limits) {
    const count = (volumes: DriverVolumes) => [...volumes.values()].filter((name) => name === driver).length;
    const more = count(added);
    if (more > 0 && count(attached) + more > limit) return true;
  }
  return false;
}

function driverVolumes(pod: StoredPod, snapshot: Snapshot): DriverVolumes {
  const volumes: DriverVolumes = new Map();
  for (const { claim } of claimUses(pod, snapshot)) {
    const used = claim === undefined ? undefined : driverOf(claim, snapshot);
    if (used !== undefined) volumes.set(`${used.driver}/${used.handle}`, used.driver);
  }
  return volumes;
}

interface DriverVolume {
  readonly driver: string;
  readonly handle: string;
}

/** The driver of a claim's volume or, as long as it has none, of its class. Built-in provisioners have no driver. */
function driverOf(claim: StoredClaim, { objects, dialect }: Snapshot): DriverVolume | undefined {
  const { namespace, name } = claim.metadata;
  const volume = objects.get(PersistentVolume, claim.spec.volumeName ?? '');
  if (volume !== undefined) {
    const { csi } = volume.spec;
    return csi === undefined ? undefined : { driver: csi.driver, handle: csi.volumeHandle };
  }
  const names = volumeNames(dialect);
  const provisioner = objects.get(StorageClass, classOfClaim(claim, names))?.provisioner;
  if (provisioner === undefined || MIGRATED.some((plugin) => provisioner === `${names.builtInPrefix}${plugin}`)) {
    return undefined;
  }
  return { driver: provisioner, handle: `claim ${namespace}/${name}` };
}

/** Built-in provisioners whose volumes a CSI driver manages today. */
const MIGRATED = ['aws-ebs', 'gce-pd', 'cinder', 'azure-disk', 'azure-file', 'vsphere-volume', 'portworx-volume'];

function attachments({ name }: NodeInfo, { objects }: Snapshot): DriverVolumes {
  const volumes: DriverVolumes = new Map();
  for (const { spec } of objects.list(VolumeAttachment)) {
    const { attacher, nodeName, source } = spec;
    if (nodeName !== name || attacher === '') continue;
    const csi = objects.get(PersistentVolume, source.persistentVolumeName ?? '')?.spec.csi;
    if (csi !== undefined) volumes.set(`${attacher}/${csi.volumeHandle}`, attacher);
  }
  return volumes;
}
