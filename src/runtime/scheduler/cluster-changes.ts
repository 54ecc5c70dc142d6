/**
 * Which changes of the cluster may help a pod that did not fit: for each kind, the plugins whose decision may change.
 * upstream: EventsToRegister in pkg/scheduler/framework/plugins
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { isBound } from '../../controllers/stages/pod-selection.js';
import { ReplicaSet } from '../../kinds/apps/v1/replica-set.js';
import { StatefulSet } from '../../kinds/apps/v1/stateful-set.js';
import { Namespace } from '../../kinds/core/v1/namespace.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { ReplicationController } from '../../kinds/core/v1/replication-controller.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import type { Kind } from '../../kinds/kind.js';
import { PodDisruptionBudget } from '../../kinds/policy/v1/pod-disruption-budget.js';
import { DeviceClass } from '../../kinds/resource/v1beta2/device-class.js';
import { ResourceClaim } from '../../kinds/resource/v1beta2/resource-claim.js';
import { ResourceSlice } from '../../kinds/resource/v1beta2/resource-slice.js';
import { CSIDriver } from '../../kinds/storage/v1/csi-driver.js';
import { CSINode } from '../../kinds/storage/v1/csi-node.js';
import { CSIStorageCapacity } from '../../kinds/storage/v1/csi-storage-capacity.js';
import { StorageClass } from '../../kinds/storage/v1/storage-class.js';
import { VolumeAttachment } from '../../kinds/storage/v1/volume-attachment.js';
import { deepEqual } from '../../util/json.js';
import { isConsidered, type StoredNode, type StoredPod } from './snapshot.js';

const OTHER_PODS = new Set(['PodTopologySpread', 'InterPodAffinity']);
const FREED = new Set([
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'PodTopologySpread',
  'InterPodAffinity',
  'DynamicResources',
]);
const NODE = new Set([
  'NodeUnschedulable',
  'NodeName',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'VolumeBinding',
  'VolumeZone',
  'PodTopologySpread',
  'InterPodAffinity',
  'DynamicResources',
]);

/** Kinds whose changes may help, with the plugins. */
const OTHER_KINDS: readonly (readonly [Kind, readonly string[]])[] = [
  [PersistentVolumeClaim, ['VolumeRestrictions', 'NodeVolumeLimits', 'VolumeBinding', 'VolumeZone']],
  [PersistentVolume, ['VolumeBinding', 'VolumeZone']],
  [StorageClass, ['VolumeBinding', 'VolumeZone']],
  [CSINode, ['NodeVolumeLimits', 'VolumeBinding']],
  [CSIDriver, ['VolumeBinding']],
  [CSIStorageCapacity, ['VolumeBinding']],
  [VolumeAttachment, ['NodeVolumeLimits']],
  [ResourceClaim, ['DynamicResources']],
  [ResourceSlice, ['DynamicResources']],
  [DeviceClass, ['DynamicResources']],
];

const DEVICE_KINDS: readonly Kind[] = [ResourceClaim, ResourceSlice, DeviceClass];

/** Kinds that plugins read, but whose changes do not help a waiting pod. */
const READ_KINDS: readonly Kind[] = [
  Namespace,
  Service,
  ReplicationController,
  ReplicaSet,
  StatefulSet,
  PodDisruptionBudget,
];

/** Whether the scheduler reads objects of a kind. It is unknown whether a remote server serves those of devices. */
export function isRead(kind: Kind, { serves, features }: Pick<ControllerContext, 'serves' | 'features'>): boolean {
  if (DEVICE_KINDS.includes(kind) && features?.enabled('DynamicResourceAllocation') !== true) return false;
  return serves(kind);
}

/** Calls the listener with the plugins whose decision a change may change. */
export function watchCluster(context: ControllerContext, listener: (plugins: ReadonlySet<string>) => void): void {
  const { informer } = context;
  for (const kind of READ_KINDS) if (isRead(kind, context)) informer(kind);
  for (const [kind, names] of OTHER_KINDS) {
    const plugins = new Set(names);
    if (isRead(kind, context)) informer(kind).subscribe(() => listener(plugins));
  }
  informer(Node).subscribe((event) => {
    if (event.type !== 'MODIFIED' || isNodeChange(event.previous, event.object)) listener(NODE);
  });
  informer(Pod).subscribe((event) => {
    const plugins = podChange(
      event.type === 'ADDED' ? undefined : event.previous,
      event.object,
      event.type === 'DELETED',
    );
    if (plugins !== undefined) listener(plugins);
  });
}

function isNodeChange(before: StoredNode, after: StoredNode): boolean {
  return (
    before.spec.unschedulable !== after.spec.unschedulable ||
    !deepEqual(before.spec.taints, after.spec.taints) ||
    !deepEqual(before.metadata.labels, after.metadata.labels) ||
    !deepEqual(before.status.allocatable, after.status.allocatable)
  );
}

/** Only pods on nodes matter to others, and pods for which room was made. */
function podChange(
  before: StoredPod | undefined,
  after: StoredPod,
  isDeleted: boolean,
): ReadonlySet<string> | undefined {
  const [from, to] = [before === undefined ? '' : placeOf(before), isDeleted ? '' : placeOf(after)];
  if (from !== '' && from !== to) return FREED;
  if (!isBound(after)) return undefined;
  if (before === undefined || !isBound(before)) return OTHER_PODS;
  if (!deepEqual(before.spec.containers, after.spec.containers)) return FREED;
  if (!deepEqual(before.status.containerStatuses, after.status.containerStatuses)) return resized(before, after);
  return deepEqual(before.metadata.labels, after.metadata.labels) ? undefined : OTHER_PODS;
}

/** The node of a pod, or the one where room was made for it; empty: none. */
function placeOf(pod: StoredPod): string {
  if (!isConsidered(pod)) return '';
  return isBound(pod) ? (pod.spec.nodeName ?? '') : (pod.status.nominatedNodeName ?? '');
}

/** Kubelet may have reduced the resources of a container. */
function resized(before: StoredPod, after: StoredPod): ReadonlySet<string> | undefined {
  const resourcesOf = ({ status }: StoredPod) =>
    (status.containerStatuses ?? []).map(({ resources, allocatedResources }) => ({ resources, allocatedResources }));
  return deepEqual(resourcesOf(before), resourcesOf(after)) ? undefined : FREED;
}
