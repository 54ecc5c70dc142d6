/**
 * Validates the pod failure policy and the success policy of a Job.
 */

import {
  childPath,
  duplicate,
  type FieldError,
  invalid,
  keyPath,
  required,
  tooLong,
  tooMany,
} from '../../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../../meta/names.js';
import { asSent } from '../../../../schema/empty-values.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../../../generated/batch-v1.js';
import { nonNegative, optionalValueErrors, repeatedIndexes, valueErrors } from '../../../shared/field-rules.js';
import { countIndexes, IndexesError } from './indexes.js';

/** An Invalid error without a value. */
export function invalidWithoutValue(field: string, detail: string): FieldError {
  return { type: 'invalid', field, message: `Invalid value: ${detail}` };
}

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_CONDITIONS = 20;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

/** Validates a pod failure policy. */
export function podFailurePolicyProblems(path: string, policy: PodFailurePolicy, spec: JobSpec): FieldError[] {
  const rules = policy.rules ?? [];
  const rulesPath = childPath(path, 'rules');
  const problems = rules.length > MAX_RULES ? [tooMany(rulesPath, rules.length, MAX_RULES)] : [];
  return [...problems, ...rules.flatMap((rule, index) => failureRuleProblems(keyPath(rulesPath, index), rule, spec))];
}

function failureRuleProblems(path: string, rule: PodFailurePolicyRule, spec: JobSpec): FieldError[] {
  const { onExitCodes, onPodConditions = [] } = rule;
  const problems = actionProblems(childPath(path, 'action'), rule.action, spec);
  if (onExitCodes !== undefined) {
    const { containers = [], initContainers = [] } = spec.template.spec;
    const names = [...(containers ?? []), ...initContainers].map(({ name }) => name);
    append(problems, exitCodeProblems(childPath(path, 'onExitCodes'), onExitCodes, names));
  }
  append(problems, conditionProblems(childPath(path, 'onPodConditions'), onPodConditions));
  if (onExitCodes !== undefined && onPodConditions.length > 0) {
    problems.push(invalidWithoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (onExitCodes === undefined && onPodConditions.length === 0) {
    problems.push(invalidWithoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return problems;
}

function actionProblems(path: string, action: string, { backoffLimitPerIndex }: JobSpec): FieldError[] {
  if (action === 'FailIndex' && backoffLimitPerIndex === undefined) {
    return [invalid(path, action, 'requires the backoffLimitPerIndex to be set')];
  }
  return requiredValueErrors(path, action, ACTIONS);
}

function requiredValueErrors(path: string, value: string, supported: readonly string[]): FieldError[] {
  if (value === '') return [required(path, `valid values: [${supported.map(quote).join(' ')}]`)];
  return valueErrors(path, value, supported);
}

function exitCodeProblems(
  path: string,
  requirement: PodFailurePolicyOnExitCodesRequirement,
  containers: readonly string[],
): FieldError[] {
  const { containerName, operator } = requirement;
  const values = requirement.values ?? [];
  const valuesPath = childPath(path, 'values');
  const problems = requiredValueErrors(childPath(path, 'operator'), operator, OPERATORS);
  if (containerName !== undefined && !containers.includes(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    problems.push(invalid(childPath(path, 'containerName'), containerName, detail));
  }
  if (values.length === 0) {
    problems.push(invalid(valuesPath, dumpNumbers(requirement.values), 'at least one value is required'));
  } else if (values.length > MAX_EXIT_CODES) problems.push(tooMany(valuesPath, values.length, MAX_EXIT_CODES));
  const repeated = repeatedIndexes(values);
  values.forEach((value, index) => {
    const valuePath = keyPath(valuesPath, index);
    if (operator === 'In' && value === 0) {
      problems.push(invalid(valuePath, value, 'must not be 0 for the In operator'));
    }
    if (repeated.has(index)) problems.push(duplicate(valuePath, value));
  });
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
  return isOrdered ? problems : [...problems, invalid(valuesPath, dumpNumbers(values), 'must be ordered')];
}

/** Prints a list as Go's %#v; an absent list is nil. */
function dumpNumbers(values: readonly number[] | null | undefined) {
  return verbatim(`[]int32${values ? `{${values.join(', ')}}` : '(nil)'}`);
}

function conditionProblems(path: string, patterns: readonly PodFailurePolicyOnPodConditionsPattern[]): FieldError[] {
  const problems = patterns.length > MAX_CONDITIONS ? [tooMany(path, patterns.length, MAX_CONDITIONS)] : [];
  patterns.forEach(({ type, status }, index) => {
    const patternPath = keyPath(path, index);
    for (const detail of qualifiedNameProblems(type)) {
      problems.push(invalid(childPath(patternPath, 'type'), type, detail));
    }
    append(problems, requiredValueErrors(childPath(patternPath, 'status'), status, STATUSES));
  });
  return problems;
}

/** Validates the pod replacement policy. */
export function podReplacementPolicyProblems(path: string, spec: JobSpec): FieldError[] {
  const { podReplacementPolicy: policy, podFailurePolicy } = spec;
  // A failure policy needs the final state of a pod, so only `Failed` is allowed with it.
  const allowed = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return optionalValueErrors(path, policy, allowed);
}

const MAX_INDEXES_LENGTH = 64 * 1024;

/** Validates a success policy. */
export function successPolicyProblems(path: string, policy: SuccessPolicy, spec: JobSpec): FieldError[] {
  if (spec.completionMode !== 'Indexed') {
    return [invalid(path, dumpSuccessPolicy(policy), 'requires indexed completion mode')];
  }
  const rules = policy.rules ?? [];
  const rulesPath = childPath(path, 'rules');
  const problems: FieldError[] = [];
  if (rules.length === 0) {
    problems.push(required(rulesPath, 'at least one rules must be specified when the successPolicy is specified'));
  }
  if (rules.length > MAX_RULES) problems.push(tooMany(rulesPath, rules.length, MAX_RULES));
  const completions = spec.completions ?? 0;
  return [
    ...problems,
    ...rules.flatMap((rule, index) => successRuleProblems(keyPath(rulesPath, index), rule, completions)),
  ];
}

function successRuleProblems(path: string, rule: SuccessPolicyRule, completions: number): FieldError[] {
  const { succeededIndexes, succeededCount } = rule;
  if (succeededIndexes === undefined && succeededCount === undefined) {
    return [required(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const problems: FieldError[] = [];
  let total = 0;
  if (succeededIndexes !== undefined) {
    const indexesPath = childPath(path, 'succeededIndexes');
    if (succeededIndexes.length > MAX_INDEXES_LENGTH) problems.push(tooLong(indexesPath, MAX_INDEXES_LENGTH));
    try {
      total = countIndexes(succeededIndexes, completions);
    } catch (error) {
      if (!(error instanceof IndexesError)) throw error;
      problems.push(invalid(indexesPath, succeededIndexes, `error parsing succeededIndexes: ${error.message}`));
    }
  }
  if (succeededCount === undefined) return problems;
  const countPath = childPath(path, 'succeededCount');
  append(problems, nonNegative(countPath, succeededCount));
  if (succeededCount > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    problems.push(invalid(countPath, succeededCount, detail));
  }
  if (succeededIndexes !== undefined && succeededCount > total) {
    const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    problems.push(invalid(countPath, succeededCount, detail));
  }
  return problems;
}

/** Go prints pointers as addresses. */
function addressOf(value: unknown): string {
  return value === undefined ? 'nil' : '0xc000000000';
}

/** An absent list is null on the wire, although the type requires it. */
function listed<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return (items as readonly Item[] | null) ?? undefined;
}

function dumpItems(items: readonly string[] | undefined): string {
  return items === undefined ? '(nil)' : `{${items.join(', ')}}`;
}

/** Prints a success policy as Go's %#v. */
export function dumpSuccessPolicy(policy: SuccessPolicy | undefined) {
  if (policy === undefined) return undefined;
  const rules = listed(policy.rules)?.map(
    ({ succeededIndexes, succeededCount }) =>
      `batch.SuccessPolicyRule{SucceededIndexes:(*string)(${addressOf(succeededIndexes)}), SucceededCount:(*int32)(${addressOf(succeededCount)})}`,
  );
  return verbatim(`batch.SuccessPolicy{Rules:[]batch.SuccessPolicyRule${dumpItems(rules)}}`);
}

/** Prints a pod failure policy as Go's %#v. */
export function dumpPodFailurePolicy(policy: PodFailurePolicy | undefined) {
  if (policy === undefined) return undefined;
  const rules = listed(policy.rules)?.map((rule) => {
    const { action, onExitCodes } = rule;
    const patterns = asSent(rule, 'onPodConditions')?.map(
      ({ type, status }) =>
        `batch.PodFailurePolicyOnPodConditionsPattern{Type:${quote(type)}, Status:${quote(status)}}`,
    );
    return `batch.PodFailurePolicyRule{Action:${quote(action)}, OnExitCodes:(*batch.PodFailurePolicyOnExitCodesRequirement)(${addressOf(onExitCodes)}), OnPodConditions:[]batch.PodFailurePolicyOnPodConditionsPattern${dumpItems(patterns)}}`;
  });
  return verbatim(`batch.PodFailurePolicy{Rules:[]batch.PodFailurePolicyRule${dumpItems(rules)}}`);
}
