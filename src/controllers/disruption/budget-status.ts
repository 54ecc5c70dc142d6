/**
 * Computes the status of a PodDisruptionBudget: how many pods are healthy, how many must be, and how many disruptions are
 * allowed.
 */

import type { ObjectOf } from '../../kinds/kind.js';
import type { PodDisruptionBudget } from '../../kinds/policy/v1/pod-disruption-budget.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';

export type StoredBudget = ObjectOf<typeof PodDisruptionBudget>;
type BudgetStatus = StoredBudget['status'];
type Condition = NonNullable<BudgetStatus['conditions']>[number];

/** How long an evicted pod may take until its deletion is visible. */
export const DELETION_TIMEOUT_MS = 2 * 60_000;

export interface Disrupted {
  /** Evicted pods whose deletion is not visible yet, with the time of the eviction. */
  readonly pods: Readonly<Record<string, string>>;
  /** Evicted pods that were not deleted in time. */
  readonly overdue: readonly StoredPod[];
  /** The time until the next pod becomes overdue; undefined: none. */
  readonly nextMs: number | undefined;
}

export function disruptedPods({ status }: StoredBudget, pods: readonly StoredPod[], nowMs: number): Disrupted {
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
export function healthyPods(pods: readonly StoredPod[], { pods: disrupted }: Disrupted): number {
  return pods.filter((pod) => !isTerminating(pod) && disrupted[pod.metadata.name] === undefined && isPodReady(pod))
    .length;
}

export interface BudgetCounts {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly disrupted: Disrupted;
}

/** The new status; undefined if nothing changes. */
export function budgetStatus(budget: StoredBudget, counts: BudgetCounts, now: string): BudgetStatus | undefined {
  const { status, metadata } = budget;
  const { currentHealthy, desiredHealthy, expectedPods, disrupted } = counts;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const isUnchanged =
    status.currentHealthy === currentHealthy &&
    status.desiredHealthy === desiredHealthy &&
    status.expectedPods === expectedPods &&
    status.disruptionsAllowed === disruptionsAllowed &&
    deepEqual(status.disruptedPods ?? {}, disrupted.pods) &&
    (status.observedGeneration ?? 0) === (metadata.generation ?? 0) &&
    isConditionUpToDate(status);
  if (isUnchanged) return undefined;
  const generation = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const condition = {
    status: disruptionsAllowed > 0 ? ('True' as const) : ('False' as const),
    reason: reasonFor(disruptionsAllowed),
    message: '',
    ...generation,
  };
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
export function failedStatus({ status }: StoredBudget, message: string, now: string): BudgetStatus | undefined {
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

const TYPE = 'DisruptionAllowed';

function reasonFor(disruptionsAllowed: number): string {
  return disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods';
}

function isConditionUpToDate({ conditions, disruptionsAllowed }: BudgetStatus): boolean {
  const condition = conditions?.find(({ type }) => type === TYPE);
  const status = disruptionsAllowed > 0 ? 'True' : 'False';
  return condition?.status === status && condition.reason === reasonFor(disruptionsAllowed);
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
