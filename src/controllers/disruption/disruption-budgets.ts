/**
 * The controller of PodDisruptionBudgets: writes the number of allowed disruptions, which evictions check. Also removes stale
 * DisruptionTarget conditions of pods that were not deleted.
 */

import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { PodDisruptionBudget } from '../../kinds/policy/v1/pod-disruption-budget.js';
import { goStringLabelSelector } from '../../kinds/shared/go-syntax.js';
import { scaleIntOrString } from '../../meta/int-or-string.js';
import { labelSelectorFromObject, matchesLabels, selectsLabels } from '../../meta/labels.js';
import { quote } from '../../text/go/go-text.js';
import { timeToMs } from '../../text/time/time.js';
import { messageOf } from '../../util/message-of.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { ignoringAbsence } from '../runtime/refusals.js';
import { keyOf, type SharedInformer } from '../runtime/shared-informer.js';
import type { Again, WorkQueue } from '../runtime/work-queue.js';
import { isPodFinished, isTerminating, podCondition, type StoredPod } from '../workloads/pod-state.js';
import { budgetStatus, disruptedPods, failedStatus, healthyPods, type StoredBudget } from './budget-status.js';
import { PodExpectations } from './expected-pods.js';

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

class DisruptionBudgets {
  readonly #context: ControllerContext;
  readonly #budgets: SharedInformer<typeof PodDisruptionBudget>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #expectations: PodExpectations;
  readonly #queue: WorkQueue;
  readonly #targetQueue: WorkQueue;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#budgets = context.informer(PodDisruptionBudget);
    this.#pods = context.informer(Pod);
    this.#expectations = new PodExpectations(context);
    this.#queue = context.queue((key) => this.#reconcileBudget(key));
    this.#targetQueue = context.queue((key) => this.#resetStaleTarget(key), { name: 'disruption targets' });
  }

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
      this.#context.events.record(pod, 'Warning', 'MultiplePodDisruptionBudgets', message);
    }
    for (const budget of budgets) this.#queue.add(keyOf(budget));
  }

  async #reconcileBudget(key: string): Promise<Again | undefined> {
    const budget = this.#budgets.at(key);
    if (budget === undefined) return undefined;
    const { clock, events } = this.#context;
    const selector = labelSelectorFromObject(budget.spec.selector);
    const pods = this.#pods
      .list(budget.metadata.namespace ?? '')
      .filter(({ metadata }) => matchesLabels(selector, metadata.labels));
    if (pods.length === 0) events.record(budget, 'Normal', 'NoPods', 'No matching pods found');

    let expected: Expected;
    try {
      expected = await this.#expected(budget, pods);
    } catch (error) {
      // The status reports the failure. The next pod change queues the budget again, so there is no retry.
      const why = messageOf(error);
      const message = `Failed to calculate the number of expected pods: ${why}`;
      events.record(budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
      await this.#write(budget, failedStatus(budget, why, this.#context.now()));
      return undefined;
    }
    if (expected.unmanaged.length > 0) this.#warnOfUnmanaged(budget);
    const disrupted = disruptedPods(budget, pods, clock.now());
    for (const pod of disrupted.overdue) {
      const { namespace } = budget.metadata;
      // The reference server's message contains the namespace twice instead of the budget's name.
      const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      events.record(pod, 'Warning', 'NotDeleted', message);
    }
    const { desiredHealthy, expectedPods } = expected;
    const counts = { currentHealthy: healthyPods(pods, disrupted), desiredHealthy, expectedPods, disrupted };
    await this.#write(budget, budgetStatus(budget, counts, this.#context.now()));
    return { requeueAfterMs: disrupted.nextMs };
  }

  async #expected({ spec }: StoredBudget, pods: readonly StoredPod[]): Promise<Expected> {
    const { minAvailable, maxUnavailable } = spec;
    if (maxUnavailable !== undefined) {
      const { count, unmanaged } = await this.#expectations.of(pods);
      const allowed = scaleIntOrString(maxUnavailable, { total: count, round: 'up' });
      return { expectedPods: count, desiredHealthy: Math.max(0, count - allowed), unmanaged };
    }
    // An absolute number does not depend on the pods' controllers.
    if (typeof minAvailable === 'number') {
      return { expectedPods: pods.length, desiredHealthy: minAvailable, unmanaged: [] };
    }
    if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0, unmanaged: [] };
    const { count, unmanaged } = await this.#expectations.of(pods);
    const desiredHealthy = scaleIntOrString(minAvailable, { total: count, round: 'up' });
    return { expectedPods: count, desiredHealthy, unmanaged };
  }

  #warnOfUnmanaged(budget: StoredBudget): void {
    const selector = goStringLabelSelector(budget.spec.selector);
    const message = `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
    this.#context.events.record(budget, 'Warning', 'UnmanagedPods', message);
  }

  async #write(budget: StoredBudget, status: StoredBudget['status'] | undefined): Promise<void> {
    if (status === undefined) return;
    const { name, namespace } = budget.metadata;
    await this.#context.client.api(PodDisruptionBudget, namespace).status.update(name, { ...budget, status });
  }

  /** The time until the DisruptionTarget condition is stale; undefined: it cannot become stale. */
  #staleInMs(pod: StoredPod): number | undefined {
    const condition = podCondition(pod, 'DisruptionTarget');
    if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
    if (isTerminating(pod) || isPodFinished(pod)) return undefined;
    const since = condition.lastTransitionTime;
    if (since === undefined || since === null) return 0;
    return Math.max(0, timeToMs(since) + STALE_TARGET_MS - this.#context.clock.now());
  }

  async #resetStaleTarget(key: string): Promise<Again | undefined> {
    const pod = this.#pods.at(key);
    const staleInMs = pod === undefined ? undefined : this.#staleInMs(pod);
    if (pod === undefined || staleInMs === undefined) return undefined;
    if (staleInMs > 0) return { requeueAfterMs: staleInMs };
    const { name, namespace } = pod.metadata;
    const conditions = (pod.status.conditions ?? []).map((condition) =>
      condition.type === 'DisruptionTarget'
        ? { type: condition.type, status: 'False' as const, lastTransitionTime: this.#context.now() }
        : condition,
    );
    await ignoringAbsence(
      this.#context.client.api(Pod, namespace).status.update(name, { ...pod, status: { ...pod.status, conditions } }),
    );
    return undefined;
  }
}

interface Expected {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
  readonly unmanaged: readonly string[];
}
