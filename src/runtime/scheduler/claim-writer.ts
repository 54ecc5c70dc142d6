/**
 * Writes the allocations of resource claims: reserves the claims of a pod that has a node, and releases a claim that keeps
 * its pod from fitting.
 */
import { ControllerPart } from '../../controllers/runtime/controller.js';
import { keyOf } from '../../controllers/runtime/shared-informer.js';
import { ResourceClaim } from '../../kinds/resource/v1beta2/resource-claim.js';
import { StatusError } from '../../meta/errors.js';
import { SchedulingError } from './plugin.js';
import type { StoredResourceClaim } from './plugins/device-allocator.js';
import { type ClaimPlan, planClaims } from './plugins/dynamic-resources.js';
import type { Snapshot, StoredPod } from './snapshot.js';

export class ClaimWriter extends ControllerPart {
  /** Writes allocations and reservations at once, so that no other pod gets the devices. */
  async reserve(pod: StoredPod, nodeName: string, snapshot: Snapshot): Promise<void> {
    const node = snapshot.nodesByName.get(nodeName);
    if (node === undefined || (pod.spec.resourceClaims ?? []).length === 0) return;
    for (const plan of planClaims(pod, node, snapshot)) {
      try {
        await this.#reserve(pod, plan);
      } catch (error) {
        if (!StatusError.is(error)) throw error;
        const what = plan.allocation === undefined ? 'reservation' : 'allocation and reservation';
        const text = `add ${what} to claim ${keyOf(plan.claim)}: ${error.message}`;
        throw new SchedulingError(`running PreBind plugin "DynamicResources": ${text}`);
      }
    }
  }

  async #reserve({ metadata }: StoredPod, { claim, allocation }: ClaimPlan): Promise<void> {
    const api = this.context.client.api(ResourceClaim, claim.metadata.namespace);
    const finalizer = this.context.dialect.subkey('resource', 'delete-protection');
    const { finalizers = [] } = claim.metadata;
    const isProtected = allocation === undefined || finalizers.includes(finalizer);
    const current = isProtected
      ? claim
      : await api.update({ ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers, finalizer] } });
    const consumer = { resource: 'pods', name: metadata.name, uid: metadata.uid };
    await api.status.update(claim.metadata.name, {
      ...current,
      status: {
        ...current.status,
        ...(allocation === undefined ? {} : { allocation }),
        reservedFor: [...(current.status?.reservedFor ?? []), consumer],
      },
    });
  }

  /** Removes the allocation of a claim, so that it can be allocated for another node. */
  async release(claim: StoredResourceClaim): Promise<void> {
    const { allocation: _allocation, reservedFor: _reservedFor, ...status } = claim.status ?? {};
    await this.context.client
      .api(ResourceClaim, claim.metadata.namespace)
      .status.update(claim.metadata.name, { ...claim, status });
  }
}
