/**
 * The VolumeBinding plugin: bound volumes must be reachable from the node, and claims that wait for their first consumer
 * must find a volume there, or a provisioner that can create one.
 */
import {
  annotationOf,
  capacityOf,
  classOfClaim,
  classOfVolume,
  isBoundTo,
  offersModes,
  requestOf,
  type StoredVolume,
  sameAttributes,
  sameVolumeMode,
  sizeOf,
  volumeNames,
} from '../../../controllers/volumes/matching.js';
import { matchesTerm } from '../../../controllers/workloads/daemon-set/placement.js';
import { PersistentVolume } from '../../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { CSIDriver } from '../../../kinds/storage/v1/csi-driver.js';
import { CSIStorageCapacity } from '../../../kinds/storage/v1/csi-storage-capacity.js';
import { StorageClass } from '../../../kinds/storage/v1/storage-class.js';
import { everything, labelSelectorFromObject, matchesLabels, selectsLabels } from '../../../meta/labels.js';
import { quote } from '../../../text/go/go-text.js';
import { own } from '../../../util/json.js';
import { type FilterPlugin, type Rejection, SchedulingError, unresolvable } from '../plugin.js';
import type { NodeInfo, Snapshot, StoredPod } from '../snapshot.js';
import { type ClaimUse, claimUses, missing, ownerProblem, type StoredClaim } from './pod-volumes.js';

export const volumeBinding: FilterPlugin = {
  name: 'VolumeBinding',
  prepare({ pod }, snapshot) {
    const claims = podClaims(pod, snapshot);
    if (claims === undefined || 'reasons' in claims) return claims;
    return {
      check(node) {
        const { reasons } = placeVolumes(claims, node, snapshot);
        return reasons.length === 0 ? undefined : unresolvable(...reasons);
      },
    };
  },
};

/** The claims of a pod by their state. */
export interface PodClaims {
  readonly bound: readonly StoredClaim[];
  /** Unbound claims that wait for their first consumer. */
  readonly waiting: readonly StoredClaim[];
}

/** Undefined: the pod has no claims. */
export function podClaims(pod: StoredPod, snapshot: Snapshot): PodClaims | Rejection | undefined {
  const uses = claimUses(pod, snapshot);
  if (uses.length === 0) return undefined;
  const bound: StoredClaim[] = [];
  const waiting: StoredClaim[] = [];
  let hasUnbound = false;
  for (const use of uses) {
    const problem = claimProblem(pod, use, snapshot);
    if (problem !== undefined) return unresolvable(problem);
  }
  for (const { claim } of uses) {
    if (claim === undefined) continue;
    if (isFullyBound(claim, snapshot)) bound.push(claim);
    else if (waitsForConsumer(claim, snapshot)) waiting.push(claim);
    else hasUnbound = true;
  }
  return hasUnbound ? unresolvable('pod has unbound immediate PersistentVolumeClaims') : { bound, waiting };
}

function claimProblem(pod: StoredPod, use: ClaimUse, { dialect }: Snapshot): string | undefined {
  const { claim, claimName, isEphemeral } = use;
  if (claim === undefined) {
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quote(claimName)}`
      : missing(PersistentVolumeClaim, claimName, dialect);
  }
  if (claim.status.phase === 'Lost') {
    const volume = quote(claim.spec.volumeName ?? '');
    return `persistentvolumeclaim ${quote(claimName)} bound to non-existent persistentvolume ${volume}`;
  }
  if (claim.metadata.deletionTimestamp !== undefined) {
    return `persistentvolumeclaim ${quote(claimName)} is being deleted`;
  }
  return ownerProblem(pod, use);
}

export function isFullyBound(claim: StoredClaim, { dialect }: Pick<Snapshot, 'dialect'>): boolean {
  const isCompleted = annotationOf(claim, volumeNames(dialect).bindCompleted) !== undefined;
  return (claim.spec.volumeName ?? '') !== '' && isCompleted;
}

function waitsForConsumer(claim: StoredClaim, { objects, dialect }: Snapshot): boolean {
  const storageClass = objects.get(StorageClass, classOfClaim(claim, volumeNames(dialect)));
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && (claim.spec.volumeName ?? '') === '';
}

/** How the waiting claims of a pod get their volumes on a node. */
export interface VolumePlan {
  /** Why the node is not usable; empty: it is. */
  readonly reasons: readonly string[];
  readonly bindings: readonly VolumeMatch[];
  /** Claims whose volumes a provisioner creates. */
  readonly provisions: readonly StoredClaim[];
}

export interface VolumeMatch {
  readonly claim: StoredClaim;
  readonly volume: StoredVolume;
}

const NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity";
const BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind";
const NOT_ENOUGH_SPACE = 'node(s) did not have enough free storage';
const NO_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';

export function placeVolumes({ bound, waiting }: PodClaims, node: NodeInfo, snapshot: Snapshot): VolumePlan {
  const isBoundHere = boundProblem(bound, node, snapshot);
  const plan = waiting.length === 0 ? { reasons: [], bindings: [], provisions: [] } : planFor(waiting, node, snapshot);
  // The order of reasons does not matter: they are counted and sorted.
  return isBoundHere === undefined ? plan : { ...plan, reasons: [isBoundHere, ...plan.reasons] };
}

function boundProblem(claims: readonly StoredClaim[], node: NodeInfo, { objects }: Snapshot): string | undefined {
  for (const { spec } of claims) {
    const volume = objects.get(PersistentVolume, spec.volumeName ?? '');
    if (volume === undefined) return NO_VOLUME;
    if (!isReachable(volume, node)) return NODE_CONFLICT;
  }
  return undefined;
}

export function isReachable({ spec }: StoredVolume, { name, labels }: Pick<NodeInfo, 'name' | 'labels'>): boolean {
  const required = spec.nodeAffinity?.required;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, name, labels));
}

function planFor(waiting: readonly StoredClaim[], node: NodeInfo, snapshot: Snapshot): VolumePlan {
  const { selectedNode } = volumeNames(snapshot.dialect);
  const selections = waiting.map((claim) => ({ claim, selected: annotationOf(claim, selectedNode) }));
  if (selections.some(({ selected }) => selected !== undefined && selected !== node.name)) {
    return { reasons: [BIND_CONFLICT], bindings: [], provisions: [] };
  }
  const provisions = selections.filter(({ selected }) => selected !== undefined).map(({ claim }) => claim);
  const unselected = selections.filter(({ selected }) => selected === undefined).map(({ claim }) => claim);
  const bindings: VolumeMatch[] = [];
  // The smallest claim first, so that it does not take a larger volume than it needs.
  for (const claim of unselected.sort((left, right) => requestOf(left).cmp(requestOf(right)))) {
    const volume = matchingVolume(claim, node, { snapshot, taken: bindings.map((each) => each.volume) });
    if (volume === undefined) provisions.push(claim);
    else bindings.push({ claim, volume });
  }
  for (const claim of provisions) {
    const problem = provisionProblem(claim, node, snapshot);
    if (problem !== undefined) return { reasons: [problem], bindings, provisions: [] };
  }
  return { reasons: [], bindings, provisions };
}

interface MatchingContext {
  readonly snapshot: Snapshot;
  /** Volumes that other claims of the pod get. */
  readonly taken: readonly StoredVolume[];
}

/** The smallest volume for a claim that the node can reach; a volume that is reserved for the claim is preferred. */
function matchingVolume(
  claim: StoredClaim,
  node: NodeInfo,
  { snapshot, taken }: MatchingContext,
): StoredVolume | undefined {
  const names = volumeNames(snapshot.dialect);
  const terms = { names, features: snapshot.features };
  const className = classOfClaim(claim, names);
  const selector = claim.spec.selector === undefined ? everything : labelSelectorFromObject(claim.spec.selector);
  let smallest: StoredVolume | undefined;
  for (const volume of snapshot.objects.list(PersistentVolume)) {
    const isReserved = isBoundTo(volume, claim);
    if (taken.includes(volume) || (volume.spec.claimRef !== undefined && !isReserved)) continue;
    if (classOfVolume(volume, names) !== className || volume.metadata.deletionTimestamp !== undefined) continue;
    const size = sizeOf(capacityOf(volume));
    if (size.cmp(requestOf(claim)) < 0 || !sameVolumeMode(claim, volume)) continue;
    if (!sameAttributes(claim, volume, terms)) continue;
    if (isReserved) return isReachable(volume, node) ? volume : undefined;
    if (volume.status.phase !== 'Available' || !matchesLabels(selector, volume.metadata.labels)) continue;
    if (!isReachable(volume, node) || !offersModes(claim, volume)) continue;
    if (smallest === undefined || sizeOf(capacityOf(smallest)).cmp(size) > 0) smallest = volume;
  }
  return smallest;
}

/** Why no volume can be created for a claim on a node. */
function provisionProblem(claim: StoredClaim, node: NodeInfo, snapshot: Snapshot): string | undefined {
  const names = volumeNames(snapshot.dialect);
  const className = classOfClaim(claim, names);
  const storageClass = snapshot.objects.get(StorageClass, className);
  if (storageClass === undefined) throw new SchedulingError(`failed to find storage class ${quote(className)}`);
  const { provisioner, allowedTopologies = [] } = storageClass;
  if (provisioner === '' || provisioner === `${names.builtInPrefix}no-provisioner`) return BIND_CONFLICT;
  const isAllowed = allowedTopologies.some(
    ({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.length > 0 &&
      matchLabelExpressions.every(({ key, values }) => values.includes(own(node.labels, key) ?? NO_VALUE)),
  );
  if (allowedTopologies.length > 0 && !isAllowed) return BIND_CONFLICT;
  return hasCapacity(claim, node, { snapshot, storageClass }) ? undefined : NOT_ENOUGH_SPACE;
}

/** Not a valid value of a label. */
const NO_VALUE = '\0';

interface CapacityContext {
  readonly snapshot: Snapshot;
  readonly storageClass: ObjectOf<typeof StorageClass>;
}

/** True if the driver does not report its capacity. */
function hasCapacity(claim: StoredClaim, node: NodeInfo, { snapshot, storageClass }: CapacityContext): boolean {
  const { objects } = snapshot;
  const { provisioner, metadata } = storageClass;
  if (own(claim.spec.resources.requests ?? {}, 'storage') === undefined) return true;
  if (objects.get(CSIDriver, provisioner)?.spec.storageCapacity !== true) return true;
  const size = requestOf(claim).value();
  return objects.list(CSIStorageCapacity).some((each) => {
    const limit = each.maximumVolumeSize ?? each.capacity;
    if (each.storageClassName !== metadata.name || limit === undefined || sizeOf(limit).value() < size) return false;
    return selectsLabels(each.nodeTopology, node.labels);
  });
}
