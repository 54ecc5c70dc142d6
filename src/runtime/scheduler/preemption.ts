/**
 * The DefaultPreemption plugin: finds a node where the pod fits if pods of a lower priority are removed, and the pods to
 * remove. Pure: `scheduler.ts` deletes them.
 * upstream: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go
 */
import { podCondition } from '../../controllers/workloads/pod-state.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { PodDisruptionBudget } from '../../kinds/policy/v1/pod-disruption-budget.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import { quote } from '../../text/go/go-text.js';
import { timeToMs } from '../../text/time/time.js';
import { own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { fitMessage, nodeStatuses } from './fit-message.js';
import { type Rejection, SchedulingError, unresolvable } from './plugin.js';
import type { Failure, PreparedFilters } from './rank.js';
import type { NodeInfo, PodInfo, Snapshot, StoredPod } from './snapshot.js';

/** A node on which the pod fits after the removal of the victims. */
export interface Candidate {
  readonly nodeName: string;
  /** By importance: the highest priority first. */
  readonly victims: readonly PodInfo[];
  /** The number of victims whose disruption budget does not allow their removal. */
  readonly violations: number;
}

export interface Preemption {
  /** The best candidates: equal by all criteria, sorted by name. Empty: none. */
  readonly best: readonly Candidate[];
  /** Why there is none. */
  readonly message?: string | undefined;
  /** The message is that of an error. */
  readonly isError?: boolean;
  /** The pod keeps the node that it is nominated to. */
  readonly keepsNomination?: boolean;
}

/** The reason of the DisruptionTarget condition of victims. */
export const PREEMPTED = 'PreemptionByScheduler';

export function preempt(pod: PodInfo, { statuses, filters }: Failure, snapshot: Snapshot): Preemption {
  const problem = eligibilityProblem(pod, snapshot, (node) => statuses.isResolvable(node));
  if (problem !== undefined) return { best: [], message: problem, keepsNomination: true };
  const candidates: Candidate[] = [];
  const errors: string[] = [];
  const failed = nodeStatuses(unresolvable('Preemption is not helpful for scheduling'));
  const budgets = new Map<string | undefined, Budget[]>();
  for (const each of snapshot.objects.list(PodDisruptionBudget)) {
    getOrInsertComputed(budgets, each.metadata.namespace, () => []).push(compileBudget(each));
  }
  for (const node of snapshot.nodes.filter((each) => statuses.isResolvable(each))) {
    const found = victimsOn(node.clone(), pod, { filters: filters.clone(), budgets, nowMs: snapshot.nowMs });
    if ('error' in found) errors.push(found.error);
    else if ('reasons' in found) failed.set(node.name, found);
    else if (found.victims.length > 0) candidates.push(found);
    // The node rejected the pod, but not with the same pods on it.
    else errors.push(`expected at least one victim pod on node ${quote(node.name)}`);
  }
  if (candidates.length === 0 && errors.length > 0) {
    const [first = '', ...others] = new Set(errors);
    const message = others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
    return { best: [], message, isError: true, keepsNomination: true };
  }
  if (candidates.length === 0) {
    return { best: [], message: fitMessage({ nodeCount: snapshot.nodes.length, statuses: failed }) };
  }
  return { best: bestOf(candidates, snapshot.nowMs) };
}

/** Why the pod must not preempt others. */
function eligibilityProblem(
  { pod, priority }: PodInfo,
  { nodesByName }: Snapshot,
  isResolvable: (node: NodeInfo) => boolean,
): string | undefined {
  if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = nodesByName.get(pod.status.nominatedNodeName ?? '');
  if (nominated === undefined || !isResolvable(nominated)) return undefined;
  const isWaiting = nominated.pods.some((each) => each.priority < priority && isBeingPreempted(each.pod));
  return isWaiting ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

function isBeingPreempted(pod: StoredPod): boolean {
  if (pod.metadata.deletionTimestamp === undefined) return false;
  const condition = podCondition(pod, 'DisruptionTarget');
  return condition?.status === 'True' && condition.reason === PREEMPTED;
}

interface DryRun {
  /** A copy that the dry run changes, as the node. */
  readonly filters: PreparedFilters;
  readonly budgets: BudgetsByNamespace;
  readonly nowMs: number;
}

/** The fewest and least important pods whose removal makes room; a rejection: no removal does. */
function victimsOn(node: NodeInfo, pod: PodInfo, run: DryRun): Candidate | Rejection | { readonly error: string } {
  const { filters, budgets, nowMs } = run;
  const potential = node.pods.filter(({ priority }) => priority < pod.priority);
  if (potential.length === 0) return unresolvable('No preemption victims found for incoming pod');
  for (const each of potential) filters.update(each, node, -1);
  const obstacle = obstacleOn(node, filters);
  if (obstacle !== undefined) return obstacle;
  const byImportance = (left: PodInfo, right: PodInfo) =>
    right.priority - left.priority || startOf(left, nowMs) - startOf(right, nowMs);
  const { violating, others } = splitByBudgets([...potential].sort(byImportance), budgets);
  const victims: PodInfo[] = [];
  // Adds pods again as long as the pod fits: first those whose budgets do not allow their removal.
  const readd = (each: PodInfo): boolean => {
    filters.update(each, node, 1);
    if (obstacleOn(node, filters) === undefined) return true;
    filters.update(each, node, -1);
    victims.push(each);
    return false;
  };
  const violations = violating.filter((each) => !readd(each)).length;
  for (const each of others) readd(each);
  return { nodeName: node.name, victims: victims.sort(byImportance), violations };
}

function obstacleOn(node: NodeInfo, filters: PreparedFilters): Rejection | { readonly error: string } | undefined {
  try {
    return filters.check(node)?.rejection;
  } catch (error) {
    if (error instanceof SchedulingError) return { error: error.message };
    throw error;
  }
}

function startOf({ pod }: PodInfo, nowMs: number): number {
  return pod.status.startTime === undefined ? nowMs : timeToMs(pod.status.startTime);
}

type StoredBudget = ObjectOf<typeof PodDisruptionBudget>;

interface Budget {
  readonly allowed: number;
  selects(pod: StoredPod): boolean;
}

type BudgetsByNamespace = ReadonlyMap<string | undefined, readonly Budget[]>;

function compileBudget({ spec, status }: StoredBudget): Budget {
  const selector = labelSelectorFromObject(spec.selector);
  const isEmpty = selector.tests.length === 0;
  return {
    allowed: status.disruptionsAllowed,
    // Pods without labels have no budget, and an eviction that was counted already is not counted again.
    selects: (pod) =>
      !isEmpty &&
      Object.keys(pod.metadata.labels ?? {}).length > 0 &&
      matchesLabels(selector, pod.metadata.labels) &&
      own(status.disruptedPods ?? {}, pod.metadata.name) === undefined,
  };
}

function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: BudgetsByNamespace,
): { readonly violating: readonly PodInfo[]; readonly others: readonly PodInfo[] } {
  const left = new Map<Budget, number>();
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const each of pods) {
    let isViolation = false;
    for (const budget of budgets.get(each.pod.metadata.namespace) ?? []) {
      if (!budget.selects(each.pod)) continue;
      const allowed = (left.get(budget) ?? budget.allowed) - 1;
      left.set(budget, allowed);
      if (allowed < 0) isViolation = true;
    }
    (isViolation ? violating : others).push(each);
  }
  return { violating, others };
}

/** Makes the sum of negative priorities grow with the number of pods. */
const PRIORITY_OFFSET = 2 ** 31;

/** The candidates that are equal by all criteria. Lower values are better; a later start is better. */
function bestOf(candidates: readonly Candidate[], nowMs: number): readonly Candidate[] {
  const criteria: readonly ((candidate: Candidate) => number)[] = [
    ({ violations }) => violations,
    ({ victims }) => highestPriority(victims),
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + PRIORITY_OFFSET, 0),
    ({ victims }) => victims.length,
    ({ victims }) => {
      const highest = highestPriority(victims);
      const important = victims.filter(({ priority }) => priority === highest);
      return -Math.min(...important.map((each) => startOf(each, nowMs)));
    },
  ];
  let best = candidates;
  for (const criterion of criteria) {
    const lowest = Math.min(...best.map(criterion));
    best = best.filter((candidate) => criterion(candidate) === lowest);
  }
  return best;
}

function highestPriority([first]: readonly PodInfo[]): number {
  return first?.priority ?? 0;
}
