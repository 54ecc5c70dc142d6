/**
 * The DynamicResources plugin: allocates devices to the resource claims of a pod.
 * upstream: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go
 */
import { isControlledBy } from '../../../controllers/runtime/owners.js';
import { matchesTerm } from '../../../controllers/workloads/daemon-set/placement.js';
import { DeviceClass } from '../../../kinds/resource/v1beta2/device-class.js';
import { ResourceClaim } from '../../../kinds/resource/v1beta2/resource-claim.js';
import { quote } from '../../../text/go/go-text.js';
import { getOrInsertComputed } from '../../../util/once.js';
import { type FilterPlugin, type Rejection, unresolvable } from '../plugin.js';
import type { Failure } from '../rank.js';
import type { NodeInfo, Snapshot, StoredPod } from '../snapshot.js';
import { type Allocation, allocateDevices, type StoredResourceClaim } from './device-allocator.js';
import { SearchBudget } from './device-search-budget.js';

const NOT_AVAILABLE = 'resourceclaim not available on the node';

export const dynamicResources: FilterPlugin = {
  name: 'DynamicResources',
  prepare({ pod }, snapshot) {
    const claims = podResourceClaims(pod, snapshot);
    if ('reasons' in claims) return claims;
    if (claims.length === 0) return undefined;
    const toAllocate = claims.filter(({ status }) => status?.allocation === undefined);
    const problem = toAllocate.map((claim) => requestProblem(claim, snapshot)).find((each) => each !== undefined);
    if (problem !== undefined) return unresolvable(problem);
    const budget = new SearchBudget();
    // The pods on a node do not matter, so dry runs of preemption have the same result.
    const canAllocate = new Map<string, boolean>();
    const hasDevices = (node: NodeInfo) =>
      toAllocate.length === 0 || allocateDevices(toAllocate, node, snapshot, budget) !== undefined;
    return {
      check(node) {
        if (!getOrInsertComputed(canAllocate, node.name, () => hasDevices(node))) {
          return unresolvable('cannot allocate all claims');
        }
        return claims.every((claim) => isAvailable(claim, node)) ? undefined : unresolvable(NOT_AVAILABLE);
      },
    };
  },
};

/** The claims of a pod, or why the pod has to wait for one of them. */
export function podResourceClaims(pod: StoredPod, { objects }: Snapshot): readonly StoredResourceClaim[] | Rejection {
  const { name: podName, namespace } = pod.metadata;
  const found: StoredResourceClaim[] = [];
  const statuses = new Map(pod.status.resourceClaimStatuses?.map((status) => [status.name, status]));
  for (const { name, resourceClaimName, resourceClaimTemplateName } of pod.spec.resourceClaims ?? []) {
    const created = statuses.get(name);
    if (resourceClaimName === undefined && resourceClaimTemplateName !== undefined && created === undefined) {
      return unresolvable(`pod "${namespace}/${podName}": ResourceClaim not created yet`);
    }
    const claimName = resourceClaimName ?? created?.resourceClaimName;
    // The controller decided that no claim is needed.
    if (claimName === undefined) continue;
    const claim = objects.get(ResourceClaim, claimName, namespace);
    if (claim === undefined) return unresolvable(`could not find ResourceClaim ${quote(`${namespace}/${claimName}`)}`);
    if (claim.metadata.deletionTimestamp !== undefined) {
      return unresolvable(`resourceclaim ${quote(claimName)} is being deleted`);
    }
    if (resourceClaimName === undefined && !isControlledBy(claim, pod)) {
      const key = `${namespace}/${claimName}`;
      return unresolvable(`ResourceClaim ${key} was not created for pod ${namespace}/${podName} (pod is not owner)`);
    }
    found.push(claim);
  }
  return found;
}

function requestProblem({ metadata, spec }: StoredResourceClaim, { objects }: Snapshot): string | undefined {
  for (const { name, exactly, firstAvailable = [] } of spec.devices?.requests ?? []) {
    if (firstAvailable.length > 0) {
      const text = 'has subrequests, but the DRAPrioritizedList feature is disabled';
      return `resource claim ${metadata.namespace}/${metadata.name}, request ${name}: ${text}`;
    }
    const { deviceClassName = '' } = exactly ?? {};
    if (objects.get(DeviceClass, deviceClassName) === undefined) {
      return `request ${name}: device class ${deviceClassName} does not exist`;
    }
  }
  return undefined;
}

function isAvailable({ status }: StoredResourceClaim, { name, labels }: NodeInfo): boolean {
  const terms = status?.allocation?.nodeSelector?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(term, name, labels));
}

/** A claim that a pod needs, with the allocation that must be written for it. */
export interface ClaimPlan {
  readonly claim: StoredResourceClaim;
  /** Undefined: it is allocated already. */
  readonly allocation: Allocation | undefined;
}

/** The claims that are not reserved for the pod yet. */
export function planClaims(pod: StoredPod, node: NodeInfo, snapshot: Snapshot): readonly ClaimPlan[] {
  const claims = podResourceClaims(pod, snapshot);
  if ('reasons' in claims) return [];
  const toAllocate = claims.filter(({ status }) => status?.allocation === undefined);
  const allocations = allocateDevices(toAllocate, node, snapshot) ?? [];
  return claims
    .filter((claim) => !isReservedFor(claim, pod))
    .map((claim) => ({ claim, allocation: allocations[toAllocate.indexOf(claim)] }));
}

function isReservedFor({ status }: StoredResourceClaim, { metadata }: StoredPod): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === metadata.uid) ?? false;
}

export interface ClaimRelease {
  /** For the message about the pod. */
  readonly message: string;
  /** The claim whose allocation must be removed. */
  readonly claim?: StoredResourceClaim | undefined;
}

/** Decides whether a claim must be allocated again: it is allocated to other nodes, and no other pod uses it. */
export function claimRelease(pod: StoredPod, { statuses, podProblem }: Failure, snapshot: Snapshot): ClaimRelease {
  const claims = podResourceClaims(pod, snapshot);
  if (podProblem !== undefined || 'reasons' in claims || claims.length === 0) {
    return { message: 'no new claims to deallocate' };
  }
  const isCause = ({ name }: NodeInfo) => statuses.rejections.get(name)?.reasons.includes(NOT_AVAILABLE) === true;
  const nodes = snapshot.nodes.filter(isCause);
  const claim = claims.find((each) => {
    const users = each.status?.reservedFor ?? [];
    const isUnused = users.length === 0 || (users.length === 1 && isReservedFor(each, pod));
    return isUnused && nodes.some((node) => !isAvailable(each, node));
  });
  return { claim, message: claim === undefined ? 'still not schedulable' : 'deallocation of ResourceClaim completed' };
}
