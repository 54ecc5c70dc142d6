/**
 * The claims of a pod, for the volume plugins.
 */
import { ephemeralClaimName, ephemeralOwnerProblem } from '../../../controllers/volumes/pod-claims.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import type { Kind, ObjectOf } from '../../../kinds/kind.js';
import type { Dialect } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import type { Snapshot, StoredPod } from '../snapshot.js';

export type StoredClaim = ObjectOf<typeof PersistentVolumeClaim>;

/** A volume of a pod that uses a claim. */
export interface ClaimUse {
  readonly claimName: string;
  readonly isEphemeral: boolean;
  /** Undefined if the claim does not exist. */
  readonly claim: StoredClaim | undefined;
}

export function claimUses(pod: StoredPod, { objects }: Snapshot): readonly ClaimUse[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const { persistentVolumeClaim, ephemeral } = volume;
    const isEphemeral = persistentVolumeClaim === undefined && ephemeral !== undefined;
    const claimName = persistentVolumeClaim?.claimName ?? (isEphemeral ? ephemeralClaimName(pod, volume) : undefined);
    if (claimName === undefined) return [];
    return [{ claimName, isEphemeral, claim: objects.get(PersistentVolumeClaim, claimName, pod.metadata.namespace) }];
  });
}

/** Why the pod cannot use an ephemeral claim: another pod owns it. */
export function ownerProblem(pod: StoredPod, { isEphemeral, claim }: ClaimUse): string | undefined {
  return isEphemeral && claim !== undefined ? ephemeralOwnerProblem(pod, claim) : undefined;
}

/** The message about an object that does not exist, with the name of the kind in lower case. */
export function missing(kind: Kind, name: string, dialect: Dialect): string {
  return errors.notFound({ group: dialect.group(kind.group), resource: kind.kind.toLowerCase() }, name).message;
}
