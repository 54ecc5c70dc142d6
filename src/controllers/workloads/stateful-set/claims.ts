/**
 * The claims of a StatefulSet's pods: made before the pod that needs them, kept when it goes, and owned by whoever takes
 * them along when it goes, as the set's retention policy says.
 *
 *   whenScaled  whenDeleted   owner of a claim that is asked for   of one whose pod is scaled away
 *   Retain      Retain        nobody                               nobody
 *   Retain      Delete        the set                              the set
 *   Delete      Retain        nobody                               the pod
 *   Delete      Delete        the set                              the pod
 */

import {
  PersistentVolumeClaim,
  type PersistentVolumeClaimInput,
} from '../../../kinds/core/v1/persistent-volume-claim.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { StatusError } from '../../../meta/errors.js';
import type { OwnerReference } from '../../../meta/object.js';
import { copyJson } from '../../../util/json.js';
import { messageOf } from '../../../util/message-of.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { type AnyObject, controllerReference } from '../../runtime/owners.js';
import { isNamespaceTerminating } from '../../runtime/refusals.js';
import type { SharedInformer } from '../../runtime/shared-informer.js';
import type { StoredPod } from '../pod-state.js';
import { claimName, isAskedFor, ordinalOf, type StoredSet } from './pods.js';

type StoredClaim = ObjectOf<typeof PersistentVolumeClaim>;

/** A pod and its number, where there is one, or the pod that is to be made. */
export interface Replica {
  readonly ordinal: number;
  readonly name: string;
  readonly pod?: StoredPod | undefined;
}

export class Claims {
  readonly #context: ControllerContext;
  readonly #claims: SharedInformer<typeof PersistentVolumeClaim>;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#claims = context.informer(PersistentVolumeClaim);
  }

  /** Makes the claims that are missing. Rejects when a pod could not have them all. */
  async create(set: StoredSet, replica: Replica): Promise<void> {
    const problems: string[] = [];
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      const name = claimName(set, template.metadata.name, replica.ordinal);
      const there = this.#claims.get(name, set.metadata.namespace);
      if (there === undefined) problems.push(...(await this.#createOne(set, replica, newClaim(set, template, name))));
      else if (there.metadata.deletionTimestamp !== undefined) problems.push(`pvc ${name} is being deleted`);
    }
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
  }

  /** Whether each claim that is there has the owner that the policy wants. */
  areOwned(set: StoredSet, replica: Replica): boolean {
    return this.#of(set, replica).every((claim) => isOwnerRight(claim, set, replica));
  }

  /** Gives each claim the owner that the policy wants. */
  async own(set: StoredSet, replica: Replica): Promise<void> {
    for (const claim of this.#of(set, replica)) {
      if (hasOtherController(claim, set, replica)) {
        this.#context.events.record(
          set,
          'Warning',
          'ConflictingController',
          `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
        );
      }
      if (isOwnerRight(claim, set, replica)) continue;
      const ownerReferences = rightOwners(claim, set, replica);
      try {
        await this.#context.client
          .api(PersistentVolumeClaim, claim.metadata.namespace)
          .update({ ...claim, metadata: { ...claim.metadata, ownerReferences } });
      } catch (error) {
        if (StatusError.is(error, 'Conflict')) throw error;
        throw new Error(
          `could not update claim ${claim.metadata.name} for delete policy ownerRefs: ${messageOf(error)}`,
          { cause: error },
        );
      }
    }
  }

  /** Whether a claim is about to go with a former pod of this name: until it is gone no new pod may use it. */
  areStale(set: StoredSet, replica: Replica): boolean {
    if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false;
    return this.#of(set, replica).some((claim) => hasStaleReference(claim, podReference(replica)));
  }

  #of(set: StoredSet, { ordinal }: Replica): StoredClaim[] {
    return (set.spec.volumeClaimTemplates ?? []).flatMap(({ metadata }) => {
      const claim = this.#claims.get(claimName(set, metadata.name, ordinal), set.metadata.namespace);
      return claim === undefined ? [] : [claim];
    });
  }

  async #createOne(set: StoredSet, replica: Replica, claim: PersistentVolumeClaimInput): Promise<string[]> {
    const { client, events } = this.#context;
    const name = claim.metadata?.name ?? '';
    try {
      await client.api(PersistentVolumeClaim, set.metadata.namespace).create(claim);
      const message = `create Claim ${name} Pod ${replica.name} in StatefulSet ${set.metadata.name} success`;
      events.record(set, 'Normal', 'SuccessfulCreate', message);
      return [];
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error;
      const why = messageOf(error);
      if (!StatusError.is(error, 'AlreadyExists')) {
        const about = `create Claim ${name} for Pod ${replica.name} in StatefulSet ${set.metadata.name}`;
        events.record(set, 'Warning', 'FailedCreate', `${about} failed error: ${why}`);
      }
      return [`failed to create PVC ${name}: ${why}`];
    }
  }
}

type ClaimTemplate = NonNullable<StoredSet['spec']['volumeClaimTemplates']>[number];

function newClaim(set: StoredSet, template: ClaimTemplate, name: string): PersistentVolumeClaimInput {
  const { metadata, spec } = template;
  const { annotations, finalizers, generateName, ownerReferences } = metadata;
  const labels = { ...metadata.labels, ...set.spec.selector.matchLabels };
  return {
    metadata: {
      name,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ...(generateName === undefined ? {} : { generateName }),
      ...(ownerReferences === undefined ? {} : { ownerReferences: ownerReferences.map((owner) => ({ ...owner })) }),
    },
    spec: copyJson(spec) as NonNullable<PersistentVolumeClaimInput['spec']>,
  };
}

/** Whom a reference would name, whatever its uid. */
interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined: it does not exist yet. */
  readonly uid: string | undefined;
}

function setReference({ apiVersion, kind, metadata }: AnyObject): Named {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

function podReference({ name, pod }: Replica): Named {
  return { apiVersion: 'v1', kind: 'Pod', name, uid: pod?.metadata.uid };
}

type Reference = Readonly<OwnerReference>;

function names(reference: Reference, { apiVersion, kind, name }: Named): boolean {
  return reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name;
}

function referencesOf({ metadata }: StoredClaim): readonly Reference[] {
  return metadata.ownerReferences ?? [];
}

function hasStaleReference(claim: StoredClaim, named: Named): boolean {
  const reference = referencesOf(claim).find((each) => names(each, named));
  return reference !== undefined && reference.uid !== named.uid;
}

function isOwnedBy(claim: StoredClaim, { uid }: Named): boolean {
  return referencesOf(claim).some((reference) => reference.uid === uid);
}

/** Somebody else manages the claim. Where the policy keeps claims anyway that is nobody's concern. */
function hasOtherController(claim: StoredClaim, set: StoredSet, replica: Replica): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  const ours = [setReference(set), podReference(replica)];
  return referencesOf(claim).some((reference) => {
    const us = ours.find((named) => names(reference, named));
    return us === undefined ? reference.controller === true : reference.uid !== us.uid;
  });
}

function isOwnerRight(claim: StoredClaim, set: StoredSet, replica: Replica): boolean {
  const [ofSet, ofPod] = [setReference(set), podReference(replica)];
  // What belongs to a former set or pod is about to be collected.
  if (hasStaleReference(claim, ofSet) || hasStaleReference(claim, ofPod)) return true;
  if (hasOtherController(claim, set, replica)) return !isOwnedBy(claim, ofSet) && !isOwnedBy(claim, ofPod);
  const isLoose = referencesOf(claim).some(
    ({ uid, controller }) => (uid === ofSet.uid || uid === ofPod.uid) && controller !== true,
  );
  if (isLoose) return false;
  const wanted = wantedOwner(set, replica);
  return isOwnedBy(claim, ofSet) === (wanted === 'set') && isOwnedBy(claim, ofPod) === (wanted === 'pod');
}

function rightOwners(claim: StoredClaim, set: StoredSet, replica: Replica): Reference[] {
  const [ofSet, ofPod] = [setReference(set), podReference(replica)];
  const others = referencesOf(claim).filter((reference) => !names(reference, ofSet) && !names(reference, ofPod));
  if (hasOtherController(claim, set, replica)) return others;
  const wanted = wantedOwner(set, replica);
  if (wanted === 'set') return [...others, controllerReference(set)];
  return wanted === 'pod' && replica.pod !== undefined ? [...others, controllerReference(replica.pod)] : others;
}

function wantedOwner(set: StoredSet, { ordinal }: Replica): 'set' | 'pod' | 'nobody' {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && !isAskedFor(set, ordinal)) return 'pod';
  return whenDeleted === 'Delete' ? 'set' : 'nobody';
}

function policyOf({ spec }: StoredSet) {
  return spec.persistentVolumeClaimRetentionPolicy ?? { whenDeleted: 'Retain', whenScaled: 'Retain' };
}

/** A pod that is there, with its number. */
export function replicaOf(set: StoredSet, pod: StoredPod): Replica {
  const { name } = pod.metadata;
  return { ordinal: ordinalOf(set, name) ?? -1, name, pod };
}
