/**
 * The claims that pods use: those they name, and those of their ephemeral volumes.
 */
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ControllerContext } from '../runtime/controller.js';
import { isControlledBy } from '../runtime/owners.js';
import type { Lookup } from '../runtime/shared-informer.js';
import type { StoredClaim, StoredPod } from './matching.js';

type Volume = NonNullable<StoredPod['spec']['volumes']>[number];

/** The name of the claim of an ephemeral volume. */
export function ephemeralClaimName(pod: StoredPod, volume: Volume): string {
  return `${pod.metadata.name}-${volume.name}`;
}

/** The error message if an existing claim does not belong to the pod's ephemeral volume; undefined if it does. */
export function ephemeralOwnerProblem(pod: StoredPod, claim: StoredClaim): string | undefined {
  if (claim.metadata.namespace === pod.metadata.namespace && isControlledBy(claim, pod)) return undefined;
  return (
    `PVC ${claim.metadata.namespace}/${claim.metadata.name} was not created for pod ` +
    `${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`
  );
}

/** The keys of all claims that a pod uses. */
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

/** An index of pods by the key of a claim that they use. */
export function podsByClaim(context: ControllerContext): Lookup<StoredPod> {
  return context.informer(Pod).index('claims that it uses', claimKeysOf);
}

/** Whether no container of the pod runs any more. */
export function isShutDown({ metadata, status }: StoredPod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true;
  if (metadata.deletionTimestamp === undefined) return false;
  return (status.containerStatuses ?? []).every(
    ({ state }) => state?.terminated !== undefined || state?.waiting !== undefined,
  );
}
