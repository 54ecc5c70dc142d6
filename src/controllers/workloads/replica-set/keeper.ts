/**
 * Keeps a number of pods: makes what is missing, deletes what is too much, adopts and releases, and tells in the status
 * how many there are. One keeper for ReplicaSet and for ReplicationController, which differ in little but their names.
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
import { follow } from '../follow.js';
import { createPod, deletePod, type PodTemplateLike, podFromTemplate } from '../new-pod.js';
import { isPodActive, isPodFinished, isTerminating, type StoredPod } from '../pod-state.js';
import { type Orphans, orphans } from '../selecting.js';
import { allOf, slowStart } from '../slow-start.js';
import { podsToDelete } from './deletion-order.js';
import { type ReplicaStatus, replicaStatus } from './status.js';

/** What the keeper reads of an object that keeps pods. */
export interface Replicas {
  readonly object: AnyObject;
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly selector: LabelSelectorObject;
  readonly template: PodTemplateLike;
  readonly status: ReplicaStatus;
}

/** A kind whose objects keep pods. */
export interface ReplicaKind<AnyKind extends Kind> {
  readonly kind: AnyKind;
  /** Whether its status has a place for pods on their way out. */
  readonly tellsTerminating: boolean;
  read(object: ObjectOf<AnyKind>): Replicas;
  /** The object as it is now, not as it was last seen. */
  find(context: ControllerContext, object: AnyObject): Promise<AnyObject | undefined>;
  writeStatus(context: ControllerContext, object: ObjectOf<AnyKind>, status: ReplicaStatus): Promise<unknown>;
}

/** At most so many pods are made or deleted in one look; the next look goes on. */
const BURST = 500;
const WORKERS = 5;

export function keepReplicas<AnyKind extends Kind>(context: ControllerContext, kind: ReplicaKind<AnyKind>): void {
  new Keeper(context, kind).start();
}

class Keeper<AnyKind extends Kind> {
  readonly #context: ControllerContext;
  readonly #kind: ReplicaKind<AnyKind>;
  readonly #keepers: SharedInformer<AnyKind>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #orphans: Orphans<StoredPod>;
  readonly #queue: WorkQueue;
  readonly #tellsTerminating: boolean;

  constructor(context: ControllerContext, kind: ReplicaKind<AnyKind>) {
    this.#context = context;
    this.#kind = kind;
    this.#keepers = context.informer(kind.kind);
    this.#pods = context.informer(Pod);
    this.#orphans = orphans(this.#pods);
    this.#queue = context.queue((key) => this.#look(key), { workers: WORKERS });
    this.#tellsTerminating =
      kind.tellsTerminating && context.features?.enabled('DeploymentReplicaSetTerminatingReplicas') === true;
  }

  start(): void {
    const selectorOf = (object: ObjectOf<AnyKind>) => this.#kind.read(object).selector;
    this.#keepers.onKey((key) => this.#queue.add(key));
    follow({ owners: this.#keepers, dependents: this.#pods, selectorOf, queue: this.#queue });
  }

  async #look(key: string): Promise<Again | undefined> {
    const found = this.#keepers.at(key);
    // What waits is worked out anew.
    this.#queue.cancelDelay(key);
    if (found === undefined) return undefined;
    const keeper = this.#kind.read(found);
    const { object } = keeper;
    const own = this.#pods.controlledBy(object.metadata.uid);
    const terminating = this.#tellsTerminating ? terminatingAmong(own, keeper) : undefined;
    const active = await this.#claim(keeper, own);

    let failure: { readonly error: unknown; readonly tooMany: boolean } | undefined;
    const excess = active.length - keeper.replicas;
    if (excess !== 0 && !isTerminating(object)) {
      try {
        if (excess < 0) await this.#create(keeper, Math.min(-excess, BURST));
        else await this.#delete(keeper, active, Math.min(excess, BURST));
      } catch (error) {
        if (!isNamespaceTerminating(error)) failure = { error, tooMany: excess > 0 };
      }
    }

    // As it was before: what has come and gone since is for the next look, which these changes bring about.
    const { status, nextAvailableMs } = replicaStatus({
      status: keeper.status,
      generation: object.metadata.generation,
      templateLabels: keeper.template.metadata?.labels ?? {},
      minReadySeconds: keeper.minReadySeconds,
      active,
      terminating,
      failure,
      nowMs: this.#context.clock.now(),
      now: this.#context.now(),
    });
    if (!deepEqual(status, keeper.status)) await this.#kind.writeStatus(this.#context, found, status);
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: nextAvailableMs };
  }

  #claim({ object, selector }: Replicas, own: readonly StoredPod[]): Promise<StoredPod[]> {
    const strays = this.#orphans(object.metadata.namespace ?? '', selector);
    return claim({
      client: this.#context.client,
      kind: Pod,
      owner: object,
      selector: labelSelectorFromObject(selector),
      candidates: [...own, ...strays].filter(isPodActive),
      ownerNow: () => this.#kind.find(this.#context, object),
    });
  }

  #create({ object, template }: Replicas, count: number): Promise<void> {
    const pods = Array.from({ length: count }, () => podFromTemplate(template, object));
    return slowStart(pods, (pod) => createPod(this.#context, pod, object));
  }

  async #delete({ object }: Replicas, pods: readonly StoredPod[], count: number): Promise<void> {
    const { clock, dialect } = this.#context;
    const related = this.#related(object);
    const excess = podsToDelete({ pods, count, related, nowMs: clock.now(), dialect });
    await allOf(excess.map((pod) => deletePod(this.#context, pod, object)));
  }

  /** The pods of all that have the same controller. */
  #related(object: AnyObject): readonly StoredPod[] {
    const controller = controllerOf(object);
    if (controller === undefined) return [];
    const siblings = this.#keepers.controlledBy(controller.uid);
    return siblings.flatMap((sibling) => this.#pods.controlledBy((sibling as AnyObject).metadata.uid));
  }
}

function terminatingAmong(pods: readonly StoredPod[], { selector }: Replicas): number {
  const matches = labelSelectorFromObject(selector);
  return pods.filter((pod) => isTerminating(pod) && !isPodFinished(pod) && matchesLabels(matches, pod.metadata.labels))
    .length;
}
