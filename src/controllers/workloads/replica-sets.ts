/**
 * The controllers of ReplicaSets and ReplicationControllers. Both maintain a number of pods: create missing ones, delete excess
 * ones, adopt, release, and write the status.
 */
import type { Client } from '../../client/client.js';
import { ReplicaSet } from '../../kinds/apps/v1/replica-set.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { ReplicationController } from '../../kinds/core/v1/replication-controller.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import {
  type LabelSelectorObject,
  labelSelectorFrom,
  labelSelectorFromObject,
  matchesLabels,
} from '../../meta/labels.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { isNamespaceTerminating } from '../runtime/expected-errors.js';
import { type AnyObject, controllerOf } from '../runtime/owners.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import { claims, queueOwners } from './dependents.js';
import { allOf, createPod, deletePod, type PodTemplateLike, podFromTemplate, slowStart } from './pod-control.js';
import {
  isPodActive,
  isPodFinished,
  isPodReady,
  isTerminating,
  msUntilAvailable,
  podCondition,
  restartsOf,
  type StoredPod,
} from './pod-state.js';

/**
 * Manages the pods of ReplicaSets.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([replicaSets()]) });
 */
export function replicaSets(): Controller {
  return {
    name: 'replicaset-controller',
    account: 'replicaset-controller',
    needs: [ReplicaSet, Pod],
    start: (context) => new ReplicaReconciler(context, replicaSetKind).start(),
  };
}

/**
 * Manages the pods of ReplicationControllers.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([replicationControllers()]) });
 */
export function replicationControllers(): Controller {
  return {
    name: 'replicationcontroller-controller',
    account: 'replication-controller',
    component: 'replication-controller',
    needs: [ReplicationController, Pod],
    start: (context) => new ReplicaReconciler(context, replicationControllerKind).start(),
  };
}

/** What the reconciler reads of a ReplicaSet or ReplicationController. */
interface ReplicaOwner {
  readonly object: AnyObject;
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly selector: LabelSelectorObject;
  readonly template: PodTemplateLike;
  readonly status: ReplicaStatus;
}

/** Access to a kind with replicas. */
interface ReplicaKind<AnyKind extends Kind> {
  readonly kind: AnyKind;
  /** Whether its status has `terminatingReplicas`. */
  readonly reportsTerminating: boolean;
  read(object: ObjectOf<AnyKind>): ReplicaOwner;
  writeStatus(client: Client, object: ObjectOf<AnyKind>, status: ReplicaStatus): Promise<unknown>;
}

const replicaSetKind: ReplicaKind<typeof ReplicaSet> = {
  kind: ReplicaSet,
  reportsTerminating: true,
  read: (object) => {
    const { replicas, minReadySeconds = 0, selector, template } = object.spec;
    return { object, replicas, minReadySeconds, selector, template, status: object.status };
  },
  writeStatus: (client, object, status) =>
    client.api(ReplicaSet, object.metadata.namespace).status.update(object.metadata.name, { ...object, status }),
};

const replicationControllerKind: ReplicaKind<typeof ReplicationController> = {
  kind: ReplicationController,
  reportsTerminating: false,
  read: (object) => {
    const { replicas, minReadySeconds = 0, selector = {}, template = {} } = object.spec;
    return { object, replicas, minReadySeconds, selector: { matchLabels: selector }, template, status: object.status };
  },
  writeStatus: (client, object, status) => {
    const { name, namespace } = object.metadata;
    return client.api(ReplicationController, namespace).status.update(name, { ...object, status });
  },
};

/** The maximum number of creates or deletes per reconcile; the next reconcile continues. */
const BURST = 500;

const WORKERS = 5;

class ReplicaReconciler<AnyKind extends Kind> extends ControllerPart<ReplicaKind<AnyKind>> {
  readonly #owners = this.context.informer(this.options.kind);
  readonly #pods = this.context.informer(Pod);
  readonly #claim = claims(this.context, this.options.kind, Pod);
  readonly #queue = this.context.queue((key) => this.#reconcileOwner(key), { workers: WORKERS });
  readonly #reportsTerminating =
    this.options.reportsTerminating &&
    this.context.features?.enabled('DeploymentReplicaSetTerminatingReplicas') === true;

  start(): void {
    const selectorOf = (object: ObjectOf<AnyKind>) => this.options.read(object).selector;
    this.#owners.onKey((key) => this.#queue.add(key));
    queueOwners({ owners: this.#owners, dependents: this.#pods, selectorOf, queue: this.#queue });
  }

  async #reconcileOwner(key: string): Promise<ReconcileResult | undefined> {
    const found = this.#owners.at(key);
    // The delay is computed again below.
    this.#queue.cancelDelay(key);
    if (found === undefined) return undefined;
    const owner = this.options.read(found);
    const { object } = owner;
    const own = this.#pods.controlledBy(object);
    const terminating = this.#reportsTerminating ? countTerminating(own, owner) : undefined;
    const active = await this.#claim(object, owner.selector, { considers: isPodActive });

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
      nowMs: this.context.clock.now(),
      now: this.context.now(),
    });
    if (!deepEqual(status, owner.status)) await this.options.writeStatus(this.context.client, found, status);
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: nextAvailableMs };
  }

  #create({ object, template }: ReplicaOwner, count: number): Promise<void> {
    const pods = Array.from({ length: count }, () => podFromTemplate(template, object));
    return slowStart(pods, (pod) => createPod(this.context, pod, object));
  }

  async #delete({ object }: ReplicaOwner, pods: readonly StoredPod[], count: number): Promise<void> {
    const { clock, dialect } = this.context;
    const related = this.#related(object);
    const excess = podsToDelete({ pods, count, related, nowMs: clock.now(), dialect });
    await allOf(excess.map((pod) => deletePod(this.context, pod, object)));
  }

  /** The pods of all ReplicaSets with the same controller. */
  #related(object: AnyObject): readonly StoredPod[] {
    const controller = controllerOf(object);
    if (controller === undefined) return [];
    const { namespace } = object.metadata;
    const siblings = this.#owners.controlledBy({ metadata: { uid: controller.uid, namespace } });
    return siblings.flatMap((sibling) => this.#pods.controlledBy(sibling as AnyObject));
  }
}

function countTerminating(pods: readonly StoredPod[], { selector }: ReplicaOwner): number {
  const matches = labelSelectorFromObject(selector);
  return pods.filter((pod) => isTerminating(pod) && !isPodFinished(pod) && matchesLabels(matches, pod.metadata.labels))
    .length;
}

type ReplicaStatus = ObjectOf<typeof ReplicaSet>['status'];

interface Observed {
  readonly status: ReplicaStatus;
  readonly generation: number | undefined;
  readonly templateLabels: Readonly<Record<string, string>>;
  readonly minReadySeconds: number;
  /** Pods that are neither finished nor terminating. */
  readonly active: readonly StoredPod[];
  /** The number of terminating pods; undefined: not reported. */
  readonly terminating: number | undefined;
  /** The error of a create or, with `tooMany`, of a delete. */
  readonly failure?: { readonly error: unknown; readonly tooMany: boolean } | undefined;
  readonly nowMs: number;
  readonly now: string;
}

interface NextStatus {
  readonly status: ReplicaStatus;
  /** The time until the next ready pod becomes available. */
  readonly nextAvailableMs: number | undefined;
}

const FAILURE = 'ReplicaFailure';

/** Computes the status from the pods. Zero counts are omitted, as in storage. */
function replicaStatus(observed: Observed): NextStatus {
  const { active, minReadySeconds, nowMs } = observed;
  const template = labelSelectorFrom(observed.templateLabels);
  let labeled = 0;
  let ready = 0;
  let available = 0;
  let next = Infinity;
  for (const pod of active) {
    if (matchesLabels(template, pod.metadata.labels)) labeled++;
    if (!isPodReady(pod)) continue;
    ready++;
    const wait = msUntilAvailable(pod, minReadySeconds, nowMs);
    if (wait === 0) available++;
    else next = Math.min(next, wait);
  }
  const conditions = conditionsOf(observed);
  return {
    status: {
      replicas: active.length,
      ...(labeled > 0 && { fullyLabeledReplicas: labeled }),
      ...(ready > 0 && { readyReplicas: ready }),
      ...(available > 0 && { availableReplicas: available }),
      ...(observed.terminating !== undefined && { terminatingReplicas: observed.terminating }),
      ...(observed.generation !== undefined && { observedGeneration: observed.generation }),
      ...(conditions.length > 0 && { conditions }),
    },
    nextAvailableMs: next === Infinity ? undefined : next,
  };
}

/** Adds the failure condition with the message of the first failure, and removes it after a reconcile without failure. */
function conditionsOf({ status, failure, now }: Observed): NonNullable<ReplicaStatus['conditions']> {
  const { conditions = [] } = status;
  const isPresent = conditions.some(({ type }) => type === FAILURE);
  if (failure === undefined) return isPresent ? conditions.filter(({ type }) => type !== FAILURE) : conditions;
  if (isPresent) return conditions;
  const reason = failure.tooMany ? 'FailedDelete' : 'FailedCreate';
  const message = `${failure.tooMany ? 'unable to delete pods: ' : ''}${messageOf(failure.error)}`;
  return [...conditions, { type: FAILURE, status: 'True', lastTransitionTime: now, reason, message }];
}

export interface Excess {
  readonly pods: readonly StoredPod[];
  /** How many pods to delete. */
  readonly count: number;
  /** Pods of the same application: those of every ReplicaSet with the same controller. */
  readonly related: readonly StoredPod[];
  readonly nowMs: number;
  readonly dialect: Dialect;
}

/**
 * Selects the excess pods to delete. Criteria in order: without a node before with one, pending before unknown before running,
 * not ready before ready, low deletion cost before high, many pods on a node before few, ready for a short time before long,
 * more restarts before fewer, younger before older.
 *
 * Times are compared by order of magnitude, so pods of about the same age are deleted in random order; otherwise the
 * youngest pods of one zone would always be chosen. upstream: pkg/controller/controller_utils.go ActivePodsWithRanks
 */
export function podsToDelete({ pods, count, related, nowMs, dialect }: Excess): readonly StoredPod[] {
  if (count >= pods.length) return pods;
  const onNode = new Map<string, number>();
  for (const pod of related) {
    if (isPodActive(pod)) onNode.set(nodeOf(pod), (onNode.get(nodeOf(pod)) ?? 0) + 1);
  }
  const costKey = dialect.subkey('controller', 'pod-deletion-cost');
  const ranked = pods.map((pod): Ranked => {
    const ready = podCondition(pod, 'Ready');
    const isReady = ready?.status === 'True';
    return {
      pod,
      hasNode: Number(nodeOf(pod) !== ''),
      phase: PHASES[pod.status.phase ?? ''] ?? 0,
      isReady: Number(isReady),
      cost: deletionCost(pod.metadata.annotations?.[costKey]),
      colocated: onNode.get(nodeOf(pod)) ?? 0,
      readyTime: isReady ? timeOf(ready.lastTransitionTime) : undefined,
      restarts: restartsOf(pod),
      sidecarRestarts: sidecarRestartsOf(pod),
      created: timeOf(pod.metadata.creationTimestamp),
    };
  });
  // Of two equal pods the one that was listed later is deleted.
  ranked.reverse().sort((a, b) => compare(a, b, nowMs));
  return ranked.slice(0, count).map(({ pod }) => pod);
}

interface Ranked {
  readonly pod: StoredPod;
  readonly hasNode: number;
  readonly phase: number;
  readonly isReady: number;
  readonly cost: number;
  /** Related pods on the same node. */
  readonly colocated: number;
  readonly readyTime: number | undefined;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly created: number | undefined;
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

function compare(a: Ranked, b: Ranked, nowMs: number): number {
  return (
    a.hasNode - b.hasNode ||
    a.phase - b.phase ||
    a.isReady - b.isReady ||
    a.cost - b.cost ||
    b.colocated - a.colocated ||
    (a.isReady === 1 ? youngerFirst(a, b, 'readyTime', nowMs) : 0) ||
    b.restarts - a.restarts ||
    b.sidecarRestarts - a.sidecarRestarts ||
    youngerFirst(a, b, 'created', nowMs)
  );
}

/** No time counts as the latest. Times of the same magnitude are ordered by uid. */
function youngerFirst(a: Ranked, b: Ranked, time: 'readyTime' | 'created', nowMs: number): number {
  const [first, second] = [a[time], b[time]];
  if (first === second) return 0;
  if (first === undefined || second === undefined) return first === undefined ? -1 : 1;
  const magnitudes = magnitude(nowMs - first) - magnitude(nowMs - second);
  return magnitudes || (a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1);
}

const NANOS_PER_MS = 1e6;

function magnitude(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * NANOS_PER_MS)) : -1;
}

const INT32 = 2 ** 31;

/** The deletion cost annotation; anything but a 32-bit integer counts as 0. */
function deletionCost(text: string | undefined): number {
  if (text === undefined || !/^(0|-[0-9]+|[1-9][0-9]*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -INT32 && cost < INT32 ? cost : 0;
}

function nodeOf({ spec }: StoredPod): string {
  return spec.nodeName ?? '';
}

function timeOf(text: string | null | undefined): number | undefined {
  return text === undefined || text === null ? undefined : timeToMs(text);
}

function sidecarRestartsOf({ spec, status }: StoredPod): number {
  const sidecars = new Set<string>();
  for (const { name, restartPolicy } of spec.initContainers ?? []) if (restartPolicy === 'Always') sidecars.add(name);
  if (sidecars.size === 0) return 0;
  const statuses = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}
