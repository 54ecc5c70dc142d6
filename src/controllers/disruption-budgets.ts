/**
 * The controller of PodDisruptionBudgets: writes the number of healthy pods and of allowed disruptions, which evictions check.
 * Also removes stale DisruptionTarget conditions of pods that were not deleted.
 */

import { Deployment } from '../kinds/apps/v1/deployment.js';
import { ReplicaSet } from '../kinds/apps/v1/replica-set.js';
import { StatefulSet } from '../kinds/apps/v1/stateful-set.js';
import { Pod } from '../kinds/core/v1/pod/pod.js';
import { ReplicationController } from '../kinds/core/v1/replication-controller.js';
import type { Kind, ObjectOf } from '../kinds/kind.js';
import { PodDisruptionBudget } from '../kinds/policy/v1/pod-disruption-budget.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { goStringLabelSelector } from '../kinds/shared/go-syntax.js';
import { StatusError } from '../meta/errors.js';
import { parseApiVersion, qualifiedResource } from '../meta/gvk.js';
import { scaleIntOrString } from '../meta/int-or-string.js';
import { labelSelectorFromObject, selectsLabels } from '../meta/labels.js';
import type { OwnerReference } from '../meta/object.js';
import { quote } from '../text/go/go-text.js';
import { timeToMs } from '../text/time/time.js';
import { deepEqual } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import { podSelectorIndex } from './endpoints/pod-services.js';
import { type Controller, ControllerPart } from './runtime/controller.js';
import { ignoreNotFound } from './runtime/expected-errors.js';
import { controllerOf, type HasMetadata } from './runtime/owners.js';
import { keyOf, type SharedInformer } from './runtime/shared-informer.js';
import type { ReconcileResult } from './runtime/work-queue.js';
import { isPodFinished, isPodReady, isTerminating, podCondition, type StoredPod } from './workloads/pod-state.js';

/**
 * Maintains the status of PodDisruptionBudgets.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([disruptionBudgets()]) });
 */
export function disruptionBudgets(): Controller {
  return {
    name: 'disruption-controller',
    account: 'disruption-controller',
    component: 'controllermanager',
    needs: [PodDisruptionBudget, Pod],
    start: (context) => new DisruptionBudgets(context).start(),
  };
}

/** How long a DisruptionTarget condition may be true without a deletion. */
const STALE_TARGET_MS = 2 * 60_000;

class DisruptionBudgets extends ControllerPart {
  readonly #budgets = this.context.informer(PodDisruptionBudget);
  readonly #pods = this.context.informer(Pod);
  readonly #selectPods = podSelectorIndex(this.#pods);
  readonly #expectations = new PodExpectations(this.context);
  readonly #queue = this.context.queue((key) => this.#reconcileBudget(key));
  readonly #targetQueue = this.context.queue((key) => this.#resetStaleTarget(key), { name: 'disruption targets' });

  start(): void {
    this.#budgets.onKey((key) => this.#queue.add(key));
    this.#pods.onKey((key, { type, object }) => {
      this.#queueBudgetsOf(object);
      if (type !== 'DELETED' && this.#staleInMs(object) !== undefined) this.#targetQueue.add(key);
    });
  }

  #queueBudgetsOf(pod: StoredPod): void {
    const { namespace = '', name, labels } = pod.metadata;
    const budgets = this.#budgets.list(namespace).filter(({ spec }) => selectsLabels(spec.selector, labels));
    const [first, ...others] = budgets;
    if (first !== undefined && others.length > 0) {
      const message = `Pod ${quote(namespace)}/${quote(name)} matches multiple PodDisruptionBudgets.  Chose ${quote(first.metadata.name)} arbitrarily.`;
      this.context.events.record(pod, 'Warning', 'MultiplePodDisruptionBudgets', message);
    }
    for (const budget of budgets) this.#queue.add(keyOf(budget));
  }

  async #reconcileBudget(key: string): Promise<ReconcileResult | undefined> {
    const budget = this.#budgets.at(key);
    if (budget === undefined) return undefined;
    const { clock, events } = this.context;
    const selector = labelSelectorFromObject(budget.spec.selector);
    const pods = this.#selectPods(budget.metadata.namespace ?? '', selector);
    if (pods.length === 0) events.record(budget, 'Normal', 'NoPods', 'No matching pods found');

    let expected: Expected;
    try {
      expected = await this.#expected(budget, pods);
    } catch (error) {
      // The status reports the failure. The next pod change queues the budget again, so there is no retry.
      const why = messageOf(error);
      const message = `Failed to calculate the number of expected pods: ${why}`;
      events.record(budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
      await this.#write(budget, failedStatus(budget, why, this.context.now()));
      return undefined;
    }
    if (expected.unmanaged.length > 0) this.#warnOfUnmanaged(budget);
    const disrupted = disruptedPods(budget, pods, clock.now());
    for (const pod of disrupted.overdue) {
      const { namespace } = budget.metadata;
      // The reference server's message contains the namespace twice instead of the budget's name.
      // upstream: pkg/controller/disruption/disruption.go DisruptionController.buildDisruptedPodMap
      const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      events.record(pod, 'Warning', 'NotDeleted', message);
    }
    const { desiredHealthy, expectedPods } = expected;
    const counts = { currentHealthy: healthyPods(pods, disrupted), desiredHealthy, expectedPods, disrupted };
    await this.#write(budget, budgetStatus(budget, counts, this.context.now()));
    return { requeueAfterMs: disrupted.nextMs };
  }

  async #expected({ spec }: StoredBudget, pods: readonly StoredPod[]): Promise<Expected> {
    const { minAvailable, maxUnavailable } = spec;
    const limit = maxUnavailable ?? minAvailable;
    if (limit === undefined) return { expectedPods: 0, desiredHealthy: 0, unmanaged: [] };
    // An absolute number does not depend on the pods' controllers.
    if (maxUnavailable === undefined && typeof limit === 'number') {
      return { expectedPods: pods.length, desiredHealthy: limit, unmanaged: [] };
    }
    const { count, unmanaged } = await this.#expectations.of(pods);
    const scaled = scaleIntOrString(limit, { total: count, round: 'up' });
    const desiredHealthy = maxUnavailable === undefined ? scaled : Math.max(0, count - scaled);
    return { expectedPods: count, desiredHealthy, unmanaged };
  }

  #warnOfUnmanaged(budget: StoredBudget): void {
    const selector = goStringLabelSelector(budget.spec.selector);
    const message = `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
    this.context.events.record(budget, 'Warning', 'UnmanagedPods', message);
  }

  async #write(budget: StoredBudget, status: StoredBudget['status'] | undefined): Promise<void> {
    if (status === undefined) return;
    const { name, namespace } = budget.metadata;
    await this.context.client.api(PodDisruptionBudget, namespace).status.update(name, { ...budget, status });
  }

  /** The time until the DisruptionTarget condition is stale; undefined: it cannot become stale. */
  #staleInMs(pod: StoredPod): number | undefined {
    const condition = podCondition(pod, 'DisruptionTarget');
    if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
    if (isTerminating(pod) || isPodFinished(pod)) return undefined;
    const since = condition.lastTransitionTime;
    if (since === undefined || since === null) return 0;
    return Math.max(0, timeToMs(since) + STALE_TARGET_MS - this.context.clock.now());
  }

  async #resetStaleTarget(key: string): Promise<ReconcileResult | undefined> {
    const pod = this.#pods.at(key);
    const staleInMs = pod === undefined ? undefined : this.#staleInMs(pod);
    if (pod === undefined || staleInMs === undefined) return undefined;
    if (staleInMs > 0) return { requeueAfterMs: staleInMs };
    const { name, namespace } = pod.metadata;
    const conditions = (pod.status.conditions ?? []).map((condition) =>
      condition.type === 'DisruptionTarget'
        ? { type: condition.type, status: 'False' as const, lastTransitionTime: this.context.now() }
        : condition,
    );
    await ignoreNotFound(
      this.context.client.api(Pod, namespace).status.update(name, { ...pod, status: { ...pod.status, conditions } }),
    );
    return undefined;
  }
}

interface Expected {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
  readonly unmanaged: readonly string[];
}

/** How long an evicted pod may take until its deletion is visible. */
const DELETION_TIMEOUT_MS = 2 * 60_000;

const TYPE = 'DisruptionAllowed';

type StoredBudget = ObjectOf<typeof PodDisruptionBudget>;

type BudgetStatus = StoredBudget['status'];

type Condition = NonNullable<BudgetStatus['conditions']>[number];

interface Disrupted {
  /** Evicted pods whose deletion is not visible yet, with the time of the eviction. */
  readonly pods: Readonly<Record<string, string>>;
  /** Evicted pods that were not deleted in time. */
  readonly overdue: readonly StoredPod[];
  /** The time until the next pod becomes overdue; undefined: none. */
  readonly nextMs: number | undefined;
}

function disruptedPods({ status }: StoredBudget, pods: readonly StoredPod[], nowMs: number): Disrupted {
  const kept: Record<string, string> = {};
  const overdue: StoredPod[] = [];
  let next = Infinity;
  for (const pod of pods) {
    const since = status.disruptedPods?.[pod.metadata.name];
    if (since === undefined || isTerminating(pod)) continue;
    const leftMs = timeToMs(since) + DELETION_TIMEOUT_MS - nowMs;
    if (leftMs <= 0) overdue.push(pod);
    else {
      kept[pod.metadata.name] = since;
      next = Math.min(next, leftMs);
    }
  }
  return { pods: kept, overdue, nextMs: next === Infinity ? undefined : next };
}

/** The number of healthy pods, without terminating and evicted ones. */
function healthyPods(pods: readonly StoredPod[], { pods: disrupted }: Disrupted): number {
  return pods.filter((pod) => !isTerminating(pod) && disrupted[pod.metadata.name] === undefined && isPodReady(pod))
    .length;
}

interface BudgetCounts {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly disrupted: Disrupted;
}

/** The new status; undefined if nothing changes. */
function budgetStatus(budget: StoredBudget, counts: BudgetCounts, now: string): BudgetStatus | undefined {
  const { status, metadata } = budget;
  const { currentHealthy, desiredHealthy, expectedPods, disrupted } = counts;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const allowed =
    disruptionsAllowed > 0
      ? ({ status: 'True', reason: 'SufficientPods' } as const)
      : ({ status: 'False', reason: 'InsufficientPods' } as const);
  const known = status.conditions?.find(({ type }) => type === TYPE);
  const isUnchanged =
    status.currentHealthy === currentHealthy &&
    status.desiredHealthy === desiredHealthy &&
    status.expectedPods === expectedPods &&
    status.disruptionsAllowed === disruptionsAllowed &&
    deepEqual(status.disruptedPods ?? {}, disrupted.pods) &&
    (status.observedGeneration ?? 0) === (metadata.generation ?? 0) &&
    known?.status === allowed.status &&
    known.reason === allowed.reason;
  if (isUnchanged) return undefined;
  const generation = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const condition = { ...allowed, message: '', ...generation };
  return {
    ...generation,
    ...(Object.keys(disrupted.pods).length === 0 ? {} : { disruptedPods: disrupted.pods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withCondition(status.conditions, condition, now),
  };
}

/** The status if the number of expected pods cannot be computed: no disruptions are allowed. */
function failedStatus({ status }: StoredBudget, message: string, now: string): BudgetStatus | undefined {
  const { observedGeneration } = status;
  const condition = {
    status: 'False' as const,
    reason: 'SyncFailed',
    message,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  const failed = { ...status, disruptionsAllowed: 0, conditions: withCondition(status.conditions, condition, now) };
  return deepEqual(failed, status) ? undefined : failed;
}

function withCondition(
  conditions: readonly Condition[] = [],
  values: Omit<Condition, 'type' | 'lastTransitionTime'>,
  now: string,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === TYPE);
  const lastTransitionTime = before?.status === values.status ? before.lastTransitionTime : now;
  const condition: Condition = { type: TYPE, ...values, lastTransitionTime };
  if (before === undefined) return [...conditions, condition];
  return conditions.map((each) => (each === before ? condition : each));
}

interface ExpectedPods {
  readonly count: number;
  /** Names of pods without a controller. */
  readonly unmanaged: readonly string[];
}

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

type Reference = Readonly<OwnerReference>;

interface Replicated extends HasMetadata {
  readonly spec: { readonly replicas?: number | undefined };
}

/**
 * Computes the expected number of pods for a disruption budget: the sum of the replicas of their controllers. Pods without a
 * controller do not count.
 */
class PodExpectations extends ControllerPart {
  readonly #replicaSets = this.#informerOf(ReplicaSet);
  readonly #deployments = this.#informerOf(Deployment);
  readonly #statefulSets = this.#informerOf(StatefulSet);
  readonly #replicationControllers = this.#informerOf(ReplicationController);

  #informerOf(kind: Kind): SharedInformer<Kind> | undefined {
    return this.context.serves(kind) ? this.context.informer(kind) : undefined;
  }

  /** Rejects with the reason if the number cannot be computed. */
  async of(pods: readonly StoredPod[]): Promise<ExpectedPods> {
    const replicas = new Map<string, number>();
    const unmanaged: string[] = [];
    // All pods of a ReplicaSet lead to the same controller, so one lookup per reference is enough.
    const resolved = new Set<string>();
    for (const pod of pods) {
      const reference = controllerOf(pod);
      if (reference === undefined) unmanaged.push(pod.metadata.name);
      else if (!resolved.has(reference.uid)) {
        resolved.add(reference.uid);
        const scaled = this.#builtInController(reference, pod) ?? (await this.#scaleOf(reference, pod));
        if (scaled === undefined) throw new Error(`found no controllers for pod ${quote(pod.metadata.name)}`);
        replicas.set(scaled.uid, scaled.replicas);
      }
    }
    return { count: [...replicas.values()].reduce((sum, count) => sum + count, 0), unmanaged };
  }

  #builtInController(reference: Reference, { metadata }: StoredPod): Scaled | undefined {
    const { namespace } = metadata;
    if (isOf(reference, 'ReplicationController', [''])) {
      return scaledBy(this.#replicationControllers, reference, namespace);
    }
    if (isOf(reference, 'StatefulSet', ['apps'])) return scaledBy(this.#statefulSets, reference, namespace);
    if (!isOf(reference, 'ReplicaSet', ['apps', 'extensions'])) return undefined;
    const set = foundBy(this.#replicaSets, reference, namespace);
    const parent = set === undefined ? undefined : controllerOf(set);
    if (parent?.kind !== 'Deployment') return scaledBy(this.#replicaSets, reference, namespace);
    // A ReplicaSet of a Deployment does not count itself.
    return isOf(parent, 'Deployment', ['apps', 'extensions'])
      ? scaledBy(this.#deployments, parent, namespace)
      : undefined;
  }

  /** The replicas of any other controller, from its scale subresource. */
  async #scaleOf(reference: Reference, { metadata }: StoredPod): Promise<Scaled | undefined> {
    const served = this.#servedKind(reference);
    if (served.kind.subresources['scale'] === undefined) {
      throw new Error(`${qualifiedResource(served.gvr)} does not implement the scale subresource`);
    }
    // The scale subresource has the same type for all kinds; any scalable kind serves as the static type.
    const scalable = served.kind as typeof StatefulSet;
    try {
      const scale = await this.context.client
        .api(scalable, metadata.namespace)
        .subresource('scale')
        .get(reference.name);
      if (scale.metadata.uid !== reference.uid) return undefined;
      return { uid: reference.uid, replicas: scale.spec.replicas ?? 0 };
    } catch (error) {
      if (StatusError.is(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #servedKind({ apiVersion, kind }: Reference): ServedKind {
    const named = parseApiVersion(apiVersion);
    const served = this.context
      .kinds()
      .find(({ gvk }) => gvk.group === named?.group && gvk.version === named.version && gvk.kind === kind);
    if (served === undefined) throw new Error(`no matches for kind ${quote(kind)} in version ${quote(apiVersion)}`);
    return served;
  }
}

function isOf({ apiVersion, kind }: Reference, expected: string, groups: readonly string[]): boolean {
  return kind === expected && groups.includes(parseApiVersion(apiVersion)?.group ?? '?');
}

function foundBy(
  informer: SharedInformer<Kind> | undefined,
  { name, uid }: Reference,
  namespace: string | undefined,
): Replicated | undefined {
  const found = informer?.get(name, namespace) as Replicated | undefined;
  return found?.metadata.uid === uid ? found : undefined;
}

function scaledBy(
  informer: SharedInformer<Kind> | undefined,
  reference: Reference,
  namespace: string | undefined,
): Scaled | undefined {
  const found = foundBy(informer, reference, namespace);
  return found === undefined ? undefined : { uid: found.metadata.uid, replicas: found.spec.replicas ?? 1 };
}
