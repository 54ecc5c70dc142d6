/**
 * One look at a StatefulSet: the pods that are missing are made, those that are too many go, and those of an old revision
 * are replaced; in order where the set wants order, each only when the one before it is ready.
 */

import { Pod, type PodInput } from '../../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../../meta/errors.js';
import { scaleIntOrString } from '../../../meta/int-or-string.js';
import { messageOf } from '../../../util/message-of.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { isNamespaceTerminating } from '../../runtime/refusals.js';
import type { PodTemplateLike } from '../new-pod.js';
import { isPodAvailable, isPodFinished, isTerminating, type StoredPod } from '../pod-state.js';
import { templateOf } from '../revisions.js';
import { slowStart } from '../slow-start.js';
import { type Claims, type Replica, replicaOf } from './claims.js';
import {
  firstOrdinal,
  hasIdentity,
  hasStorage,
  isAskedFor,
  isHealthy,
  isRunningAndReady,
  newPod,
  podName,
  revisionOf,
  type StoredSet,
  withIdentity,
} from './pods.js';
import { countedStatus, type Revisions, type SetStatus } from './status.js';

export interface Update {
  readonly context: ControllerContext;
  readonly claims: Claims;
  readonly set: StoredSet;
  readonly revisions: Revisions;
  /** The set's own. */
  readonly pods: readonly StoredPod[];
}

/** What came of it. Where something failed, the status still tells what is there. */
export interface Outcome {
  readonly status: SetStatus;
  readonly failure?: { readonly error: unknown };
}

/** What a step says: whether an ordered set has to wait before it goes on. */
type Step = 'wait' | 'go on';

const LARGEST_BATCH = 500;

export async function updateSet(update: Update): Promise<Outcome> {
  return new Updating(update).run();
}

class Updating {
  readonly #context: ControllerContext;
  readonly #claims: Claims;
  readonly #set: StoredSet;
  readonly #revisions: Revisions;
  readonly #pods: readonly StoredPod[];
  readonly #isOrdered: boolean;
  /** By number, with gaps for those that are missing. */
  readonly #replicas: readonly Replica[];
  /** The highest number first. */
  readonly #condemned: readonly Replica[];
  /** Deleted in this look for an update: their revision counts no longer. */
  #replaced = 0;

  constructor({ context, claims, set, revisions, pods }: Update) {
    this.#context = context;
    this.#claims = claims;
    this.#set = set;
    this.#revisions = revisions;
    this.#pods = pods;
    this.#isOrdered = set.spec.podManagementPolicy !== 'Parallel';
    const all = pods.map((pod) => replicaOf(set, pod));
    const asked = new Map(all.filter(({ ordinal }) => isAskedFor(set, ordinal)).map((each) => [each.ordinal, each]));
    const first = firstOrdinal(set);
    this.#replicas = Array.from({ length: set.spec.replicas }, (_, index) => {
      const ordinal = first + index;
      return asked.get(ordinal) ?? { ordinal, name: podName(set, ordinal) };
    });
    this.#condemned = all
      .filter(({ ordinal }) => ordinal >= 0 && !isAskedFor(set, ordinal))
      .sort((left, right) => right.ordinal - left.ordinal);
  }

  async run(): Promise<Outcome> {
    // The pods of a set that is going away are the garbage collector's.
    if (this.#set.metadata.deletionTimestamp !== undefined) return { status: this.#status() };
    try {
      if ((await this.#forAll(this.#replicas, (each) => this.#keep(each))) === 'go on') await this.#goOn();
    } catch (error) {
      return { status: this.#status(), failure: { error } };
    }
    return { status: this.#status() };
  }

  /** Everyone who is asked for is there. */
  async #goOn(): Promise<void> {
    if ((await this.#forAll(this.#condemned, (each) => this.#ownClaims(each))) === 'wait') return;
    const firstUnhealthy = [...this.#replicas, ...this.#condemned.toReversed()].find(({ pod }) => !isHealthy(pod));
    const remove = (each: Replica) => this.#remove(each, each === firstUnhealthy);
    if ((await this.#forAll(this.#condemned, remove)) === 'wait') return;
    if (this.#set.spec.updateStrategy.type === 'OnDelete') return;
    if (this.#context.features?.enabled('MaxUnavailableStatefulSet') === true) await this.#replaceMany();
    else await this.#replaceOne();
  }

  /** An ordered set stops at the first that has to be waited for; another does what it can for all. */
  async #forAll(all: readonly Replica[], act: (each: Replica) => Promise<Step>): Promise<Step> {
    if (!this.#isOrdered) {
      await slowStart(all, act, LARGEST_BATCH);
      return 'go on';
    }
    for (const each of all) if ((await act(each)) === 'wait') return 'wait';
    return 'go on';
  }

  /** Sees to it that a pod that is asked for is there, and is who it should be. */
  async #keep(replica: Replica): Promise<Step> {
    const { pod } = replica;
    if (pod === undefined) {
      // The claim of a former pod goes first; its change brings the next look.
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
      await this.#own(replica);
    }
    if (this.#isOrdered && (isTerminating(pod) || !isRunningAndReady(pod) || !this.#isAvailable(pod))) return 'wait';
    await this.#correct(replica, pod);
    return 'go on';
  }

  async #create(replica: Replica): Promise<void> {
    const { client } = this.#context;
    try {
      await this.#claims.create(this.#set, replica);
      await client.api(Pod, this.#set.metadata.namespace).create(this.#newPod(replica.ordinal));
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      // Somebody else has the name, and that is known here in a moment.
      if (!StatusError.is(error, 'AlreadyExists')) this.#record('create', replica.name, error);
      throw error;
    }
    await this.#own(replica);
    this.#record('create', replica.name);
  }

  #newPod(ordinal: number): PodInput {
    const { current, update } = this.#revisions;
    const set = this.#set;
    const revision = this.#isStillCurrent(ordinal) ? current : update;
    const template: PodTemplateLike = templateOf(revision) ?? set.spec.template;
    return newPod({ set, ordinal, template, revision: revision.metadata.name, dialect: this.#context.dialect });
  }

  /** Whether an update has not come to this number: what is made anew there is made as it was. */
  #isStillCurrent(ordinal: number): boolean {
    const { spec, status } = this.#set;
    const { type, rollingUpdate } = spec.updateStrategy;
    const index = ordinal - firstOrdinal(this.#set);
    if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0);
    return type === 'RollingUpdate' && index < (status.currentReplicas ?? 0);
  }

  /** A pod that was adopted gets its labels; claims get the owners that the policy wants by now. */
  async #correct(replica: Replica, pod: StoredPod): Promise<void> {
    const set = this.#set;
    const { client, dialect } = this.#context;
    const isItself = hasIdentity(set, pod, dialect) && hasStorage(set, pod);
    if (isItself && this.#claims.areOwned(set, replica)) return;
    try {
      if (!hasStorage(set, pod)) await this.#claims.create(set, replica);
      await this.#claims.own(set, replica);
      if (!isItself) await client.api(Pod, pod.metadata.namespace).update(withIdentity(set, pod, dialect));
    } catch (error) {
      if (!StatusError.is(error, 'Conflict')) this.#record('update', replica.name, error);
      throw error;
    }
    this.#record('update', replica.name);
  }

  async #own(replica: Replica): Promise<void> {
    try {
      await this.#claims.own(this.#set, replica);
    } catch (error) {
      if (!StatusError.is(error, 'Conflict')) this.#record('update', replica.name, error);
      throw error;
    }
  }

  async #ownClaims(replica: Replica): Promise<Step> {
    if (!this.#claims.areOwned(this.#set, replica)) await this.#claims.own(this.#set, replica);
    return 'go on';
  }

  /** Scales down by one, unless a healthy one would go while another is not. */
  async #remove({ pod }: Replica, isFirstUnhealthy: boolean): Promise<Step> {
    if (pod === undefined) return 'go on';
    if (isTerminating(pod)) return 'wait';
    const isFine = isRunningAndReady(pod) && this.#isAvailable(pod);
    if (this.#isOrdered && !isFine && !isFirstUnhealthy) return 'wait';
    await this.#delete(pod);
    return 'wait';
  }

  /** Replaces the highest that is not of the new revision, when all above it are new and healthy. */
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

  /** Replaces as many at once as may be missing. */
  async #replaceMany(): Promise<void> {
    const { replicas, updateStrategy } = this.#set.spec;
    const { partition = 0, maxUnavailable = 1 } = updateStrategy.rollingUpdate ?? {};
    const allowed = Math.max(1, scaleIntOrString(maxUnavailable, { total: replicas, round: 'down' }));
    const unhealthy = this.#replicas.filter(({ pod }) => !isHealthy(pod)).length;
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
      await this.#context.client.api(Pod, namespace).delete(name);
    } catch (error) {
      this.#record('delete', name, error);
      if (StatusError.is(error, 'NotFound')) return;
      throw error;
    }
    this.#record('delete', name);
  }

  #isAvailable(pod: StoredPod): boolean {
    return isPodAvailable(pod, this.#set.spec.minReadySeconds ?? 0, this.#context.clock.now());
  }

  #status(): SetStatus {
    const nowMs = this.#context.clock.now();
    const status = countedStatus(this.#set, this.#pods, { ...this.#revisions, nowMs });
    return { ...status, currentReplicas: Math.max(0, status.currentReplicas - this.#replaced) };
  }

  #record(verb: 'create' | 'update' | 'delete', pod: string, error?: unknown): void {
    const about = `${verb} Pod ${pod} in StatefulSet ${this.#set.metadata.name}`;
    const reason = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
    const { events } = this.#context;
    if (error === undefined) events.record(this.#set, 'Normal', `Successful${reason}`, `${about} successful`);
    else events.record(this.#set, 'Warning', `Failed${reason}`, `${about} failed error: ${messageOf(error)}`);
  }
}
