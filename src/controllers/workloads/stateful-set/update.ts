/**
 * One reconcile of a StatefulSet's pods: creates missing ones, deletes excess ones, replaces those of an old revision, and
 * computes the status. With OrderedReady each step waits until the previous pod is ready.
 */

import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { PodInput } from '../../../kinds/generated/core-v1.js';
import { StatusError } from '../../../meta/errors.js';
import { scaleIntOrString } from '../../../meta/int-or-string.js';
import { messageOf } from '../../../util/message-of.js';
import { type ControllerContext, ControllerPart } from '../../runtime/controller.js';
import { isNamespaceTerminating } from '../../runtime/expected-errors.js';
import { matchesSelector } from '../dependents.js';
import type { PodTemplateLike } from '../pod-control.js';
import { slowStart } from '../pod-control.js';
import { isPodAvailable, isPodFinished, isTerminating, type StoredPod } from '../pod-state.js';
import type { StoredRevision } from '../revisions.js';
import { templateOf } from '../revisions.js';
import {
  type Claims,
  firstOrdinal,
  hasIdentity,
  hasStorage,
  isHealthy,
  isRunningAndReady,
  isWantedOrdinal,
  newPod,
  podName,
  type Replica,
  replicaOf,
  revisionOf,
  type StoredSet,
  withIdentity,
} from './pods.js';

export interface SetStatus {
  readonly observedGeneration: number;
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly currentReplicas: number;
  readonly updatedReplicas: number;
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  readonly availableReplicas: number;
}

/** The two revisions of a set's pods. They are equal unless the set is being updated. */
export interface Revisions {
  readonly current: StoredRevision;
  readonly update: StoredRevision;
  readonly collisions: number;
}

export interface SetUpdate {
  readonly claims: Claims;
  readonly set: StoredSet;
  readonly revisions: Revisions;
  /** The pods that the set controls. */
  readonly pods: readonly StoredPod[];
}

/** The new status, also after a failure. */
export interface Outcome {
  readonly status: SetStatus;
  readonly failure?: { readonly error: unknown };
}

/** The result of a step: whether an ordered set must wait before the next one. */
type Step = 'wait' | 'continue';

const MAX_BATCH_SIZE = 500;

export async function updateSet(context: ControllerContext, update: SetUpdate): Promise<Outcome> {
  return new SetUpdater(context, update).run();
}

class SetUpdater extends ControllerPart<SetUpdate> {
  readonly #claims = this.options.claims;
  readonly #set = this.options.set;
  readonly #revisions = this.options.revisions;
  readonly #pods = this.options.pods;
  readonly #isOrdered = this.#set.spec.podManagementPolicy !== 'Parallel';
  /** Wanted replicas by ordinal, including missing ones. Up to the first {@link MAX_BATCH_SIZE} missing ones. */
  readonly #replicas: readonly Replica[];
  /** Excess pods, highest ordinal first. */
  readonly #excess: readonly Replica[];
  /** Pods deleted in this reconcile for an update: they no longer count for the current revision. */
  #replaced = 0;

  constructor(context: ControllerContext, update: SetUpdate) {
    super(context, update);
    const { set, pods } = update;
    const all = pods.map((pod) => replicaOf(set, pod));
    const existing = new Map(
      all.filter(({ ordinal }) => isWantedOrdinal(set, ordinal)).map((each) => [each.ordinal, each]),
    );
    this.#replicas = wantedReplicas(set, existing);
    this.#excess = all
      .filter(({ ordinal }) => ordinal >= 0 && !isWantedOrdinal(set, ordinal))
      .sort((left, right) => right.ordinal - left.ordinal);
  }

  async run(): Promise<Outcome> {
    // The pods of a deleted set are left to the garbage collector.
    if (this.#set.metadata.deletionTimestamp !== undefined) return { status: this.#status() };
    try {
      const step = await this.#forAll(this.#replicas, (each) => this.#ensureReplica(each));
      if (step === 'continue') await this.#scaleDownAndUpdate();
    } catch (error) {
      return { status: this.#status(), failure: { error } };
    }
    return { status: this.#status() };
  }

  /** Runs after all wanted pods exist. */
  async #scaleDownAndUpdate(): Promise<void> {
    if ((await this.#forAll(this.#excess, (each) => this.#correctClaimOwners(each))) === 'wait') return;
    const firstUnhealthy = [...this.#replicas, ...this.#excess.toReversed()].find(({ pod }) => !isHealthy(pod));
    const remove = (each: Replica) => this.#remove(each, each === firstUnhealthy);
    if ((await this.#forAll(this.#excess, remove)) === 'wait') return;
    if (this.#set.spec.updateStrategy.type === 'OnDelete') return;
    if (this.context.features?.enabled('MaxUnavailableStatefulSet') === true) await this.#replaceMany();
    else await this.#replaceOne();
  }

  /** An ordered set stops at the first step that must wait; a parallel one performs the step for all replicas. */
  async #forAll(all: readonly Replica[], act: (each: Replica) => Promise<Step>): Promise<Step> {
    if (!this.#isOrdered) {
      await slowStart(all, act, MAX_BATCH_SIZE);
      return 'continue';
    }
    for (const each of all) if ((await act(each)) === 'wait') return 'wait';
    return 'continue';
  }

  /** Ensures that a wanted pod exists and has the right identity and storage. */
  async #ensureReplica(replica: Replica): Promise<Step> {
    const { pod } = replica;
    if (pod === undefined) {
      // The claim of an earlier pod must be deleted first; that deletion queues the set.
      if (this.#claims.areStale(this.#set, replica)) return 'wait';
      await this.#create(replica);
      return 'wait';
    }
    if (isPodFinished(pod)) {
      if (!isTerminating(pod)) await this.#delete(pod);
      return 'wait';
    }
    if (pod.status.phase === 'Pending') {
      await this.#claims.create(this.#set, replica);
      await this.#setClaimOwners(replica);
    }
    if (this.#isOrdered && (isTerminating(pod) || !isRunningAndReady(pod) || !this.#isAvailable(pod))) return 'wait';
    await this.#correct(replica, pod);
    return 'continue';
  }

  async #create(replica: Replica): Promise<void> {
    const { client } = this.context;
    const pod = this.#newPod(replica.ordinal);
    if (!matchesSelector(this.context, this.#set, pod.metadata?.labels)) return;
    try {
      await this.#claims.create(this.#set, replica);
      await client.api(Pod, this.#set.metadata.namespace).create(pod);
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      // Another object has the name; the informer will show it.
      if (!StatusError.is(error, 'AlreadyExists')) this.#record('create', replica.name, error);
      throw error;
    }
    await this.#setClaimOwners(replica);
    this.#record('create', replica.name);
  }

  #newPod(ordinal: number): PodInput {
    const { current, update } = this.#revisions;
    const set = this.#set;
    const revision = this.#isStillCurrent(ordinal) ? current : update;
    const template: PodTemplateLike = templateOf(revision) ?? set.spec.template;
    return newPod({ set, ordinal, template, revision: revision.metadata.name, dialect: this.context.dialect });
  }

  /** Whether the update has not reached this ordinal, so that a new pod uses the current revision. */
  #isStillCurrent(ordinal: number): boolean {
    const { spec, status } = this.#set;
    const { type, rollingUpdate } = spec.updateStrategy;
    const index = ordinal - firstOrdinal(this.#set);
    if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0);
    return type === 'RollingUpdate' && index < (status.currentReplicas ?? 0);
  }

  /** Sets the labels of an adopted pod and the owners of claims. */
  async #correct(replica: Replica, pod: StoredPod): Promise<void> {
    const set = this.#set;
    const { client, dialect } = this.context;
    const isConsistent = hasIdentity(set, pod, dialect) && hasStorage(set, pod);
    if (isConsistent && this.#claims.areOwned(set, replica)) return;
    try {
      if (!hasStorage(set, pod)) await this.#claims.create(set, replica);
      await this.#claims.setOwners(set, replica);
      if (!isConsistent) await client.api(Pod, pod.metadata.namespace).update(withIdentity(set, pod, dialect));
    } catch (error) {
      if (!StatusError.is(error, 'Conflict')) this.#record('update', replica.name, error);
      throw error;
    }
    this.#record('update', replica.name);
  }

  async #setClaimOwners(replica: Replica): Promise<void> {
    try {
      await this.#claims.setOwners(this.#set, replica);
    } catch (error) {
      if (!StatusError.is(error, 'Conflict')) this.#record('update', replica.name, error);
      throw error;
    }
  }

  async #correctClaimOwners(replica: Replica): Promise<Step> {
    if (!this.#claims.areOwned(this.#set, replica)) await this.#claims.setOwners(this.#set, replica);
    return 'continue';
  }

  /** Deletes one excess pod, unless a healthy pod would be deleted while another one is unhealthy. */
  async #remove({ pod }: Replica, isFirstUnhealthy: boolean): Promise<Step> {
    if (pod === undefined) return 'continue';
    if (isTerminating(pod)) return 'wait';
    const isReadyAndAvailable = isRunningAndReady(pod) && this.#isAvailable(pod);
    if (this.#isOrdered && !isReadyAndAvailable && !isFirstUnhealthy) return 'wait';
    await this.#delete(pod);
    return 'wait';
  }

  /** Replaces the outdated pod with the highest ordinal if all pods above it are updated and healthy. */
  async #replaceOne(): Promise<void> {
    const from = this.#set.spec.updateStrategy.rollingUpdate?.partition ?? 0;
    for (const { pod } of this.#replicas.slice(from).reverse()) {
      if (pod !== undefined && this.#isOutdated(pod)) {
        await this.#replace(pod);
        return;
      }
      if (!isHealthy(pod)) return;
    }
  }

  /** Replaces as many pods at once as maxUnavailable allows. */
  async #replaceMany(): Promise<void> {
    const { replicas, updateStrategy } = this.#set.spec;
    const { partition = 0, maxUnavailable = 1 } = updateStrategy.rollingUpdate ?? {};
    const allowed = Math.max(1, scaleIntOrString(maxUnavailable, { total: replicas, round: 'down' }));
    const unhealthy = replicas - this.#replicas.filter(({ pod }) => isHealthy(pod)).length;
    const outdated = this.#replicas
      .slice(partition)
      .flatMap(({ pod }) => (pod !== undefined && this.#isOutdated(pod) ? [pod] : []))
      .reverse();
    for (const pod of outdated.slice(0, Math.max(0, allowed - unhealthy))) await this.#replace(pod);
  }

  #isOutdated(pod: StoredPod): boolean {
    return revisionOf(pod) !== this.#revisions.update.metadata.name && !isTerminating(pod);
  }

  async #replace(pod: StoredPod): Promise<void> {
    await this.#delete(pod);
    this.#replaced++;
  }

  async #delete(pod: StoredPod): Promise<void> {
    const { name, namespace } = pod.metadata;
    try {
      await this.context.client.api(Pod, namespace).delete(name);
    } catch (error) {
      this.#record('delete', name, error);
      if (StatusError.is(error, 'NotFound')) return;
      throw error;
    }
    this.#record('delete', name);
  }

  #isAvailable(pod: StoredPod): boolean {
    return isPodAvailable(pod, this.#set.spec.minReadySeconds ?? 0, this.context.clock.now());
  }

  #status(): SetStatus {
    const nowMs = this.context.clock.now();
    const status = countedStatus(this.#set, this.#pods, { ...this.#revisions, nowMs });
    return { ...status, currentReplicas: Math.max(0, status.currentReplicas - this.#replaced) };
  }

  #record(verb: 'create' | 'update' | 'delete', pod: string, error?: unknown): void {
    const subject = `${verb} Pod ${pod} in StatefulSet ${this.#set.metadata.name}`;
    const reason = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
    const { events } = this.context;
    if (error === undefined) events.record(this.#set, 'Normal', `Successful${reason}`, `${subject} successful`);
    else events.record(this.#set, 'Warning', `Failed${reason}`, `${subject} failed error: ${messageOf(error)}`);
  }
}

/** Pods that are created cause another reconcile, which continues: a set may want two billion. */
function wantedReplicas(set: StoredSet, existing: ReadonlyMap<number, Replica>): readonly Replica[] {
  const wanted: Replica[] = [];
  const first = firstOrdinal(set);
  const end = first + set.spec.replicas;
  let missing = 0;
  for (let ordinal = first; ordinal < end && missing < MAX_BATCH_SIZE; ordinal++) {
    const replica = existing.get(ordinal);
    if (replica === undefined) missing++;
    wanted.push(replica ?? { ordinal, name: podName(set, ordinal) });
  }
  return wanted;
}

function countedStatus(
  set: StoredSet,
  pods: readonly StoredPod[],
  { current, update, collisions, nowMs }: Revisions & { readonly nowMs: number },
): SetStatus {
  const ready = pods.filter(isRunningAndReady);
  const { minReadySeconds = 0 } = set.spec;
  const revisions = pods.filter((pod) => !isTerminating(pod)).map(revisionOf);
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    currentReplicas: revisions.filter((revision) => revision === current.metadata.name).length,
    updatedReplicas: revisions.filter((revision) => revision === update.metadata.name).length,
    currentRevision: current.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: collisions,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
  };
}

/** Completes an update: when all pods are updated and ready, the update revision becomes the current one. */
export function withUpdateCompleted({ spec }: StoredSet, status: SetStatus): SetStatus {
  const isCompleted =
    spec.updateStrategy.type === 'RollingUpdate' &&
    status.updatedReplicas === spec.replicas &&
    status.readyReplicas === spec.replicas &&
    status.replicas === spec.replicas;
  if (!isCompleted) return status;
  return { ...status, currentReplicas: status.updatedReplicas, currentRevision: status.updateRevision };
}

/** Whether the status must be written. A changed collision count alone is not written. */
export function isStatusChanged({ status: written }: StoredSet, status: SetStatus): boolean {
  return (
    status.observedGeneration > (written.observedGeneration ?? 0) ||
    status.replicas !== written.replicas ||
    status.currentReplicas !== (written.currentReplicas ?? 0) ||
    status.readyReplicas !== (written.readyReplicas ?? 0) ||
    status.updatedReplicas !== (written.updatedReplicas ?? 0) ||
    status.currentRevision !== (written.currentRevision ?? '') ||
    status.availableReplicas !== written.availableReplicas ||
    status.updateRevision !== (written.updateRevision ?? '')
  );
}
