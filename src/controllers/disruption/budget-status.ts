/**
 * The status of a disruption budget: how many of its pods are healthy, how many have to be, and so how many can be spared.
 */

import type { ObjectOf } from '../../kinds/kind.js';
import type { PodDisruptionBudget } from '../../kinds/policy/v1/pod-disruption-budget.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';

export type StoredBudget = ObjectOf<typeof PodDisruptionBudget>;
type BudgetStatus = StoredBudget['status'];
type Condition = NonNullable<BudgetStatus['conditions']>[number];

/** How long a pod that was let go may take until it is to be seen that it goes. */
export const DELETION_TIMEOUT_MS = 2 * 60_000;

export interface Disrupted {
  /** Pods that were let go and are still to be seen to go, and when that was. */
  readonly pods: Readonly<Record<string, string>>;
  /** Those that were let go long ago and are still there. */
  readonly overdue: readonly StoredPod[];
  /** After how long the next of them will be overdue; undefined: there is none. */
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

/** Neither what is going nor what was let go can be counted on. */
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

/** The status that the counts make; undefined where it is written already. */
export function budgetStatus(budget: StoredBudget, counts: BudgetCounts, now: string): BudgetStatus | undefined {
  const { status, metadata } = budget;
  const { currentHealthy, desiredHealthy, expectedPods, disrupted } = counts;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const isWritten =
    status.currentHealthy === currentHealthy &&
    status.desiredHealthy === desiredHealthy &&
    status.expectedPods === expectedPods &&
    status.disruptionsAllowed === disruptionsAllowed &&
    deepEqual(status.disruptedPods ?? {}, disrupted.pods) &&
    (status.observedGeneration ?? 0) === (metadata.generation ?? 0) &&
    isConditionRight(status);
  if (isWritten) return undefined;
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

/** The status when it cannot be told how many pods there should be: nothing can be spared. */
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

function isConditionRight({ conditions, disruptionsAllowed }: BudgetStatus): boolean {
  const condition = conditions?.find(({ type }) => type === TYPE);
  const status = disruptionsAllowed > 0 ? 'True' : 'False';
  return condition?.status === status && condition.reason === reasonFor(disruptionsAllowed);
}

function withCondition(
  conditions: readonly Condition[] = [],
  news: Omit<Condition, 'type' | 'lastTransitionTime'>,
  now: string,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === TYPE);
  const lastTransitionTime = before?.status === news.status ? before.lastTransitionTime : now;
  const condition: Condition = { type: TYPE, ...news, lastTransitionTime };
  if (before === undefined) return [...conditions, condition];
  return conditions.map((each) => (each === before ? condition : each));
}
