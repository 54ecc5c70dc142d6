/**
 * Which claims pods use: those they name, and those that are made for them.
 */
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ControllerContext } from '../runtime/controller.js';
import { isControlledBy } from '../runtime/owners.js';
import type { Lookup } from '../runtime/shared-informer.js';
import type { StoredClaim, StoredPod } from './objects.js';

type Volume = NonNullable<StoredPod['spec']['volumes']>[number];

/** The name of the claim that is made for a volume of a pod. */
export function ephemeralClaimName(pod: StoredPod, volume: Volume): string {
  return `${pod.metadata.name}-${volume.name}`;
}

/** Why a claim of that name cannot be what was made for the pod; undefined when it is. */
export function notMadeFor(pod: StoredPod, claim: StoredClaim): string | undefined {
  if (claim.metadata.namespace === pod.metadata.namespace && isControlledBy(claim, pod)) return undefined;
  return (
    `PVC ${claim.metadata.namespace}/${claim.metadata.name} was not created for pod ` +
    `${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`
  );
}

/** The keys of all claims that a pod names or has made for it. */
export function claimKeysOf(pod: StoredPod): readonly string[] {
  const keys: string[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    const name =
      volume.persistentVolumeClaim?.claimName ??
      (volume.ephemeral === undefined ? undefined : ephemeralClaimName(pod, volume));
    if (name !== undefined) keys.push(`${pod.metadata.namespace}/${name}`);
  }
  return keys;
}

/** Finds pods by the key of a claim. */
export function podsByClaim(context: ControllerContext): Lookup<StoredPod> {
  return context.informer(Pod).index('claims that it uses', claimKeysOf);
}

/** Whether nothing of the pod runs any more. */
export function isOver({ metadata, status }: StoredPod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true;
  if (metadata.deletionTimestamp === undefined) return false;
  return (status.containerStatuses ?? []).every(
    ({ state }) => state?.terminated !== undefined || state?.waiting !== undefined,
  );
}
