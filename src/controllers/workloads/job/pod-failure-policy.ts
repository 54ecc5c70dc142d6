/**
 * What a Job's rules say about a pod that failed: whether the failure counts, and what else follows from it.
 */
import type { PodFailurePolicy, PodFailurePolicyRule } from '../../../kinds/batch/v1/job/schema.js';
import type { DeepReadonly } from '../../../meta/object.js';
import type { StoredPod } from '../pod-state.js';

export interface Judgement {
  readonly action: PodFailurePolicyRule['action'] | undefined;
  /** Whether the failure counts against the Job's limits. */
  readonly counts: boolean;
  /** Why the whole Job fails, where it does. */
  readonly failsJob?: string;
}

type Policy = DeepReadonly<PodFailurePolicy>;
type Rule = DeepReadonly<PodFailurePolicyRule>;
type ContainerStatus = NonNullable<StoredPod['status']['containerStatuses']>[number];

const NO_RULE: Judgement = { action: undefined, counts: true };

/** The first rule that fits decides. */
export function judgeFailure(policy: Policy | undefined, pod: StoredPod): Judgement {
  for (const [index, rule] of policy?.rules.entries() ?? []) {
    const fact = matchingFact(rule, pod);
    if (fact === undefined) continue;
    const { action } = rule;
    if (action === 'FailJob')
      return { action, counts: true, failsJob: `${fact} matching FailJob rule at index ${index}` };
    return { action, counts: action !== 'Ignore' };
  }
  return NO_RULE;
}

/** What in the pod's status fits the rule, in words. */
function matchingFact(rule: Rule, { metadata, status }: StoredPod): string | undefined {
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
  // Code 0 is a success, whatever a rule says.
  if (exitCode === undefined || exitCode === 0) return false;
  if (containerName !== undefined && containerName !== name) return false;
  return values.includes(exitCode) === (operator === 'In');
}
