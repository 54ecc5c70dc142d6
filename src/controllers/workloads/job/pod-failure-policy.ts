/**
 * Evaluates a Job's podFailurePolicy for a failed pod: whether the failure counts, and what else follows.
 */
import type { PodFailurePolicy, PodFailurePolicyRule } from '../../../kinds/batch/v1/job/schema.js';
import type { DeepReadonly } from '../../../meta/object.js';
import type { StoredPod } from '../pod-state.js';

export interface FailureEvaluation {
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
