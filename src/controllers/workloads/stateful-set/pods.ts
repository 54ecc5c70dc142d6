/**
 * The pods of a StatefulSet: their ordinals, the contents of new ones, checks of existing ones, and their
 * PersistentVolumeClaims.
 */
import type { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import type { PersistentVolumeClaimInput, PodInput } from '../../../kinds/generated/core-v1.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import type { Dialect } from '../../../meta/dialect.js';
import { StatusError } from '../../../meta/errors.js';
import type { OwnerReference } from '../../../meta/object.js';
import { copyJson } from '../../../util/json.js';
import { messageOf } from '../../../util/message-of.js';
import { ControllerPart } from '../../runtime/controller.js';
import { isNamespaceTerminating } from '../../runtime/expected-errors.js';
import { type AnyObject, controllerReference } from '../../runtime/owners.js';
import { type PodTemplateLike, podFromTemplate } from '../pod-control.js';
import { isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';

export type StoredSet = ObjectOf<typeof StatefulSet>;

const POD_NAME = /^(.*)-([0-9]+)$/s;
const MAX_ORDINAL = 2 ** 31 - 1;

/** The ordinal of a pod; undefined if its name is not one of the set's. */
export function ordinalOf(set: StoredSet, podName: string): number | undefined {
  const [, parent, digits] = POD_NAME.exec(podName) ?? [];
  const ordinal = Number(digits);
  return parent === set.metadata.name && ordinal <= MAX_ORDINAL ? ordinal : undefined;
}

export function podName(set: StoredSet, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`;
}

export function firstOrdinal({ spec }: StoredSet): number {
  return spec.ordinals?.start ?? 0;
}

export function isWantedOrdinal(set: StoredSet, ordinal: number): boolean {
  const first = firstOrdinal(set);
  return ordinal >= first && ordinal < first + set.spec.replicas;
}

export function isRunningAndReady(pod: StoredPod): boolean {
  return pod.status.phase === 'Running' && isPodReady(pod);
}

export function isHealthy(pod: StoredPod | undefined): boolean {
  return pod !== undefined && isRunningAndReady(pod) && !isTerminating(pod);
}

export function revisionOf({ metadata }: StoredPod): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}

/** The labels with the pod's name and ordinal. */
function identityLabels(set: StoredSet, ordinal: number, dialect: Dialect): Record<string, string> {
  return {
    [dialect.subkey('statefulset', 'pod-name')]: podName(set, ordinal),
    [dialect.subkey('apps', 'pod-index')]: String(ordinal),
  };
}

export function hasIdentity(set: StoredSet, pod: StoredPod, dialect: Dialect): boolean {
  const ordinal = ordinalOf(set, pod.metadata.name);
  if (ordinal === undefined || pod.metadata.name !== podName(set, ordinal)) return false;
  return pod.metadata.labels?.[dialect.subkey('statefulset', 'pod-name')] === pod.metadata.name;
}

/** Whether the pod mounts the claims of its ordinal. */
export function hasStorage(set: StoredSet, pod: StoredPod): boolean {
  const ordinal = ordinalOf(set, pod.metadata.name);
  if (ordinal === undefined) return false;
  const volumes = pod.spec.volumes ?? [];
  const claims = new Map(volumes.map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim?.claimName]));
  return (set.spec.volumeClaimTemplates ?? []).every(
    ({ metadata }) => claims.get(metadata.name ?? '') === claimName(set, metadata.name, ordinal),
  );
}

export function claimName(set: StoredSet, template: string | undefined, ordinal: number): string {
  return `${template ?? ''}-${set.metadata.name}-${ordinal}`;
}

export interface NewPod {
  readonly set: StoredSet;
  readonly ordinal: number;
  readonly template: PodTemplateLike;
  readonly revision: string;
  readonly dialect: Dialect;
}

export function newPod({ set, ordinal, template, revision, dialect }: NewPod): PodInput {
  const pod = podFromTemplate(template, set);
  const name = podName(set, ordinal);
  const labels = { ...pod.metadata?.labels, ...identityLabels(set, ordinal, dialect), [REVISION_LABEL]: revision };
  const { serviceName } = set.spec;
  const { spec = { containers: [] } } = pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, name, labels },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName === '' ? {} : { subdomain: serviceName }),
      ...volumesWith(set, ordinal, spec.volumes),
    },
  };
}

/** The pod with the labels and volumes of its ordinal, for an update. */
export function withIdentity(set: StoredSet, pod: StoredPod, dialect: Dialect): StoredPod {
  const ordinal = ordinalOf(set, pod.metadata.name);
  if (ordinal === undefined) return pod;
  const labels = { ...pod.metadata.labels, ...identityLabels(set, ordinal, dialect) };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: hasStorage(set, pod) ? pod.spec : { ...pod.spec, ...volumesWith(set, ordinal, pod.spec.volumes) },
  };
}

/** The set's claims come first and replace volumes with the same names. */
function volumesWith<Volume extends { readonly name: string }>(
  set: StoredSet,
  ordinal: number,
  volumes: readonly Volume[] = [],
): { volumes?: (Volume | ClaimVolume)[] } {
  const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, metadata.name, ordinal) },
  }));
  const replaced = new Set(claims.map(({ name }) => name));
  const all = [...claims, ...volumes.filter(({ name }) => !replaced.has(name))];
  return all.length === 0 ? {} : { volumes: all };
}

interface ClaimVolume {
  name: string;
  persistentVolumeClaim: { claimName: string };
}

type StoredClaim = ObjectOf<typeof PersistentVolumeClaim>;

/** An existing pod with its ordinal, or a pod to create. */
export interface Replica {
  readonly ordinal: number;
  readonly name: string;
  readonly pod?: StoredPod | undefined;
}

/**
 * Claims are created before the pod that uses them and kept when it is deleted. The set's retention policy decides which owner
 * reference, and so which deletion, they have.
 *
 *   whenScaled  whenDeleted   owner of a wanted pod's claim   owner when the pod is scaled down
 *   Retain      Retain        none                            none
 *   Retain      Delete        the set                         the set
 *   Delete      Retain        none                            the pod
 *   Delete      Delete        the set                         the pod
 */
export class Claims extends ControllerPart {
  readonly #claims = this.context.informer(PersistentVolumeClaim);

  /** Creates missing claims. Rejects if a claim cannot be used. */
  async create(set: StoredSet, replica: Replica): Promise<void> {
    const problems: string[] = [];
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      const name = claimName(set, template.metadata.name, replica.ordinal);
      const existing = this.#claims.get(name, set.metadata.namespace);
      if (existing === undefined)
        problems.push(...(await this.#createOne(set, replica, newClaim(set, template, name))));
      else if (existing.metadata.deletionTimestamp !== undefined) problems.push(`pvc ${name} is being deleted`);
    }
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
  }

  /** Whether all existing claims have the owner that the policy demands. */
  areOwned(set: StoredSet, replica: Replica): boolean {
    return this.#of(set, replica).every((claim) => hasWantedOwner(claim, set, replica));
  }

  /** Sets the owner that the policy demands. */
  async setOwners(set: StoredSet, replica: Replica): Promise<void> {
    for (const claim of this.#of(set, replica)) {
      if (hasOtherController(claim, set, replica)) {
        this.context.events.record(
          set,
          'Warning',
          'ConflictingController',
          `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
        );
      }
      if (hasWantedOwner(claim, set, replica)) continue;
      const ownerReferences = wantedOwnerReferences(claim, set, replica);
      try {
        await this.context.client
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

  /** Whether a claim is to be deleted with an earlier pod of this name. No new pod may use it until it is gone. */
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
    const { client, events } = this.context;
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
        const subject = `create Claim ${name} for Pod ${replica.name} in StatefulSet ${set.metadata.name}`;
        events.record(set, 'Warning', 'FailedCreate', `${subject} failed error: ${why}`);
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

/** The identity of an owner, with or without uid. */
interface OwnerIdentity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined: the owner does not exist yet. */
  readonly uid: string | undefined;
}

function setReference({ apiVersion, kind, metadata }: AnyObject): OwnerIdentity {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

function podReference({ name, pod }: Replica): OwnerIdentity {
  return { apiVersion: 'v1', kind: 'Pod', name, uid: pod?.metadata.uid };
}

type Reference = Readonly<OwnerReference>;

function refersTo(reference: Reference, { apiVersion, kind, name }: OwnerIdentity): boolean {
  return reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name;
}

function referencesOf({ metadata }: StoredClaim): readonly Reference[] {
  return metadata.ownerReferences ?? [];
}

function hasStaleReference(claim: StoredClaim, owner: OwnerIdentity): boolean {
  const reference = referencesOf(claim).find((each) => refersTo(each, owner));
  return reference !== undefined && reference.uid !== owner.uid;
}

function isOwnedBy(claim: StoredClaim, { uid }: OwnerIdentity): boolean {
  return referencesOf(claim).some((reference) => reference.uid === uid);
}

/** Whether another controller manages the claim. Irrelevant if the policy retains claims in all cases. */
function hasOtherController(claim: StoredClaim, set: StoredSet, replica: Replica): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  const owners = [setReference(set), podReference(replica)];
  return referencesOf(claim).some((reference) => {
    const owner = owners.find((each) => refersTo(reference, each));
    return owner === undefined ? reference.controller === true : reference.uid !== owner.uid;
  });
}

function hasWantedOwner(claim: StoredClaim, set: StoredSet, replica: Replica): boolean {
  const [ofSet, ofPod] = [setReference(set), podReference(replica)];
  // Claims of an earlier set or pod are left to the garbage collector.
  if (hasStaleReference(claim, ofSet) || hasStaleReference(claim, ofPod)) return true;
  if (hasOtherController(claim, set, replica)) return !isOwnedBy(claim, ofSet) && !isOwnedBy(claim, ofPod);
  const lacksControllerFlag = referencesOf(claim).some(
    ({ uid, controller }) => (uid === ofSet.uid || uid === ofPod.uid) && controller !== true,
  );
  if (lacksControllerFlag) return false;
  const wanted = wantedOwner(set, replica);
  return isOwnedBy(claim, ofSet) === (wanted === 'set') && isOwnedBy(claim, ofPod) === (wanted === 'pod');
}

function wantedOwnerReferences(claim: StoredClaim, set: StoredSet, replica: Replica): Reference[] {
  const [ofSet, ofPod] = [setReference(set), podReference(replica)];
  const others = referencesOf(claim).filter((reference) => !refersTo(reference, ofSet) && !refersTo(reference, ofPod));
  if (hasOtherController(claim, set, replica)) return others;
  const wanted = wantedOwner(set, replica);
  if (wanted === 'set') return [...others, controllerReference(set)];
  return wanted === 'pod' && replica.pod !== undefined ? [...others, controllerReference(replica.pod)] : others;
}

function wantedOwner(set: StoredSet, { ordinal }: Replica): 'set' | 'pod' | 'none' {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && !isWantedOrdinal(set, ordinal)) return 'pod';
  return whenDeleted === 'Delete' ? 'set' : 'none';
}

function policyOf({ spec }: StoredSet) {
  return spec.persistentVolumeClaimRetentionPolicy ?? { whenDeleted: 'Retain', whenScaled: 'Retain' };
}

export function replicaOf(set: StoredSet, pod: StoredPod): Replica {
  const { name } = pod.metadata;
  return { ordinal: ordinalOf(set, name) ?? -1, name, pod };
}
