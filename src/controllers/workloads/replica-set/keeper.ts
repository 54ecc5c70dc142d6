/**
 * Maintains a number of pods: creates missing ones, deletes excess ones, adopts, releases, and writes the status. Used for
 * ReplicaSet and ReplicationController.
 */

import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { Kind, ObjectOf } from '../../../kinds/kind.js';
import { type LabelSelectorObject, labelSelectorFromObject, matchesLabels } from '../../../meta/labels.js';
import { deepEqual } from '../../../util/json.js';
import type { ControllerContext } from '../../runtime/controller.js';
import type { AnyObject } from '../../runtime/owners.js';
import { controllerOf } from '../../runtime/owners.js';
import { isNamespaceTerminating } from '../../runtime/refusals.js';
import type { SharedInformer } from '../../runtime/shared-informer.js';
import type { Again, WorkQueue } from '../../runtime/work-queue.js';
import { claim } from '../claim.js';
import { queueOwners } from '../follow.js';
import { createPod, deletePod, type PodTemplateLike, podFromTemplate } from '../new-pod.js';
import { isPodActive, isPodFinished, isTerminating, type StoredPod } from '../pod-state.js';
import { type OrphanIndex, orphanIndex } from '../selecting.js';
import { allOf, slowStart } from '../slow-start.js';
import { podsToDelete } from './deletion-order.js';
import { type ReplicaStatus, replicaStatus } from './status.js';

/** What the reconciler reads of a ReplicaSet or ReplicationController. */
export interface ReplicaOwner {
  readonly object: AnyObject;
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly selector: LabelSelectorObject;
  readonly template: PodTemplateLike;
  readonly status: ReplicaStatus;
}

/** Access to a kind with replicas. */
export interface ReplicaKind<AnyKind extends Kind> {
  readonly kind: AnyKind;
  /** Whether its status has `terminatingReplicas`. */
  readonly reportsTerminating: boolean;
  read(object: ObjectOf<AnyKind>): ReplicaOwner;
  /** Reads the object from the server. */
  find(context: ControllerContext, object: AnyObject): Promise<AnyObject | undefined>;
  writeStatus(context: ControllerContext, object: ObjectOf<AnyKind>, status: ReplicaStatus): Promise<unknown>;
}

/** The maximum number of creates or deletes per reconcile; the next reconcile continues. */
const BURST = 500;
const WORKERS = 5;

export function reconcileReplicas<AnyKind extends Kind>(context: ControllerContext, kind: ReplicaKind<AnyKind>): void {
  new ReplicaReconciler(context, kind).start();
}

class ReplicaReconciler<AnyKind extends Kind> {
  readonly #context: ControllerContext;
  readonly #kind: ReplicaKind<AnyKind>;
  readonly #owners: SharedInformer<AnyKind>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #orphans: OrphanIndex<StoredPod>;
  readonly #queue: WorkQueue;
  readonly #reportsTerminating: boolean;

  constructor(context: ControllerContext, kind: ReplicaKind<AnyKind>) {
    this.#context = context;
    this.#kind = kind;
    this.#owners = context.informer(kind.kind);
    this.#pods = context.informer(Pod);
    this.#orphans = orphanIndex(this.#pods);
    this.#queue = context.queue((key) => this.#reconcileOwner(key), { workers: WORKERS });
    this.#reportsTerminating =
      kind.reportsTerminating && context.features?.enabled('DeploymentReplicaSetTerminatingReplicas') === true;
  }

  start(): void {
    const selectorOf = (object: ObjectOf<AnyKind>) => this.#kind.read(object).selector;
    this.#owners.onKey((key) => this.#queue.add(key));
    queueOwners({ owners: this.#owners, dependents: this.#pods, selectorOf, queue: this.#queue });
  }

  async #reconcileOwner(key: string): Promise<Again | undefined> {
    const found = this.#owners.at(key);
    // The delay is computed again below.
    this.#queue.cancelDelay(key);
    if (found === undefined) return undefined;
    const owner = this.#kind.read(found);
    const { object } = owner;
    const own = this.#pods.controlledBy(object.metadata.uid);
    const terminating = this.#reportsTerminating ? countTerminating(own, owner) : undefined;
    const active = await this.#claim(owner, own);

    let failure: { readonly error: unknown; readonly tooMany: boolean } | undefined;
    const excess = active.length - owner.replicas;
    if (excess !== 0 && !isTerminating(object)) {
      try {
        if (excess < 0) await this.#create(owner, Math.min(-excess, BURST));
        else await this.#delete(owner, active, Math.min(excess, BURST));
      } catch (error) {
        if (!isNamespaceTerminating(error)) failure = { error, tooMany: excess > 0 };
      }
    }

    // The status reflects the pods before these changes, which queue the next reconcile.
    const { status, nextAvailableMs } = replicaStatus({
      status: owner.status,
      generation: object.metadata.generation,
      templateLabels: owner.template.metadata?.labels ?? {},
      minReadySeconds: owner.minReadySeconds,
      active,
      terminating,
      failure,
      nowMs: this.#context.clock.now(),
      now: this.#context.now(),
    });
    if (!deepEqual(status, owner.status)) await this.#kind.writeStatus(this.#context, found, status);
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: nextAvailableMs };
  }

  #claim({ object, selector }: ReplicaOwner, own: readonly StoredPod[]): Promise<StoredPod[]> {
    const orphans = this.#orphans(object.metadata.namespace ?? '', selector);
    return claim({
      client: this.#context.client,
      kind: Pod,
      owner: object,
      selector: labelSelectorFromObject(selector),
      candidates: [...own, ...orphans].filter(isPodActive),
      ownerNow: () => this.#kind.find(this.#context, object),
    });
  }

  #create({ object, template }: ReplicaOwner, count: number): Promise<void> {
    const pods = Array.from({ length: count }, () => podFromTemplate(template, object));
    return slowStart(pods, (pod) => createPod(this.#context, pod, object));
  }

  async #delete({ object }: ReplicaOwner, pods: readonly StoredPod[], count: number): Promise<void> {
    const { clock, dialect } = this.#context;
    const related = this.#related(object);
    const excess = podsToDelete({ pods, count, related, nowMs: clock.now(), dialect });
    await allOf(excess.map((pod) => deletePod(this.#context, pod, object)));
  }

  /** The pods of all ReplicaSets with the same controller. */
  #related(object: AnyObject): readonly StoredPod[] {
    const controller = controllerOf(object);
    if (controller === undefined) return [];
    const siblings = this.#owners.controlledBy(controller.uid);
    return siblings.flatMap((sibling) => this.#pods.controlledBy((sibling as AnyObject).metadata.uid));
  }
}

function countTerminating(pods: readonly StoredPod[], { selector }: ReplicaOwner): number {
  const matches = labelSelectorFromObject(selector);
  return pods.filter((pod) => isTerminating(pod) && !isPodFinished(pod) && matchesLabels(matches, pod.metadata.labels))
    .length;
}
