/**
 * Failed pods of a Job: the backoff before new pods (10 s, doubled with each further failure, ten minutes at most, on the
 * cluster's clock) and the podFailurePolicy, which decides whether a failure counts and what else follows.
 */

import type { PodFailurePolicy, PodFailurePolicyRule } from '../../../kinds/generated/batch-v1.js';
import type { DeepReadonly } from '../../../meta/object.js';
import { timeToMs } from '../../../text/time/time.js';
import { podCondition, type StoredPod } from '../pod-state.js';

const FIRST_MS = 10_000;
const MAX_MS = 600_000;

/** The failures since the last success, and the time of the last one. */
export interface FailureRun {
  readonly failures: number;
  readonly lastMs: number;
}

export const NO_FAILURES: FailureRun = { failures: 0, lastMs: 0 };

/** The run after newly finished pods. A success resets it. */
export function continueRun(
  run: FailureRun,
  succeeded: readonly StoredPod[],
  failed: readonly StoredPod[],
): FailureRun {
  const lastSuccess = Math.max(...succeeded.map(finishedAt), -Infinity);
  const since = failed.map(finishedAt).filter((failedAt) => failedAt > lastSuccess);
  const before = succeeded.length > 0 ? NO_FAILURES : run;
  if (since.length === 0) return before;
  return { failures: before.failures + since.length, lastMs: Math.max(...since) };
}

/** The remaining backoff; 0: none. */
export function backoffLeft({ failures, lastMs }: FailureRun, nowMs: number): number {
  if (failures === 0) return 0;
  const wait = Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS);
  return Math.max(0, lastMs + wait - nowMs);
}

/** The time when a pod finished, as far as its status shows. */
export function finishedAt(pod: StoredPod): number {
  const fromContainers = containersFinishedAt(pod);
  if (fromContainers !== undefined) return fromContainers;
  const { lastTransitionTime, status } = podCondition(pod, 'Ready') ?? {};
  if (status === 'False' && lastTransitionTime != null) return timeToMs(lastTransitionTime);
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp !== undefined) return timeToMs(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return timeToMs(creationTimestamp);
}

/** The end of the last container. Of init containers only sidecars count. */
function containersFinishedAt({ spec, status }: StoredPod): number | undefined {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  let last: number | undefined;
  for (const { state } of statuses) {
    const end = state?.terminated?.finishedAt;
    if (end == null) return undefined;
    last = Math.max(last ?? -Infinity, timeToMs(end));
  }
  return last;
}

interface FailureEvaluation {
  readonly action: PodFailurePolicyRule['action'] | undefined;
  /** Whether the failure counts against the Job's limits. */
  readonly counts: boolean;
  /** The message if the whole Job fails. */
  readonly failsJob?: string;
}

type Policy = DeepReadonly<PodFailurePolicy>;

type Rule = DeepReadonly<PodFailurePolicyRule>;

type ContainerStatus = NonNullable<StoredPod['status']['containerStatuses']>[number];

const NO_RULE: FailureEvaluation = { action: undefined, counts: true };

/** The first matching rule decides. */
export function evaluateFailure(policy: Policy | undefined, pod: StoredPod): FailureEvaluation {
  for (const [index, rule] of policy?.rules.entries() ?? []) {
    const match = describeMatch(rule, pod);
    if (match === undefined) continue;
    const { action } = rule;
    if (action === 'FailJob')
      return { action, counts: true, failsJob: `${match} matching FailJob rule at index ${index}` };
    return { action, counts: action !== 'Ignore' };
  }
  return NO_RULE;
}

/** Describes what in the pod's status matches the rule; undefined: nothing does. */
function describeMatch(rule: Rule, { metadata, status }: StoredPod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (rule.onExitCodes !== undefined) {
    const { onExitCodes } = rule;
    const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
    const container = all.find((candidate) => exitCodeMatches(onExitCodes, candidate));
    if (container === undefined) return undefined;
    return `Container ${container.name} for pod ${pod} failed with exit code ${container.state?.terminated?.exitCode}`;
  }
  const condition = status.conditions?.find((candidate) =>
    rule.onPodConditions?.some((pattern) => pattern.type === candidate.type && pattern.status === candidate.status),
  );
  return condition === undefined ? undefined : `Pod ${pod} has condition ${condition.type}`;
}

function exitCodeMatches(
  { containerName, operator, values }: NonNullable<Rule['onExitCodes']>,
  { name, state }: ContainerStatus,
): boolean {
  const exitCode = state?.terminated?.exitCode;
  // Exit code 0 is a success and never matches.
  if (exitCode === undefined || exitCode === 0) return false;
  if (containerName !== undefined && containerName !== name) return false;
  return values.includes(exitCode) === (operator === 'In');
}
