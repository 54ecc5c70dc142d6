/**
 * Validates the spec of a Job, in the reference server's message order. CronJobs share the rules of the template.
 */
import { childPath, type FieldError, invalid, notSupported, required, tooLong } from '../../../../meta/field-error.js';
import { labelSelectorObjectErrors, selectsLabels } from '../../../../meta/labels.js';
import { byteLength, dnsSubdomainProblems, patternMessage } from '../../../../meta/names.js';
import { podTemplateProblems } from '../../../core/v1/pod-spec/pod-template.js';
import type { JobSpec } from '../../../generated/batch-v1.js';
import type { PodSpec } from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { goSyntaxLabels } from '../../../shared/go-syntax.js';
import { nonNegative } from '../../../shared/number-rules.js';
import { podFailurePolicyProblems, podReplacementPolicyProblems, successPolicyProblems } from './validate-policies.js';

/** Options of the rules. */
export interface JobRules {
  readonly context: HookContext;
  /** The live pod spec. */
  readonly live?: PodSpec | undefined;
}

/** Validates a Job's spec: the selector is required and must match the template. */
export function jobSpecProblems(path: string, spec: JobSpec, about: JobRules): FieldError[] {
  const { selector, template } = spec;
  const problems = jobTemplateProblems(path, spec, about);
  const malformed = selector === undefined ? [] : labelSelectorObjectErrors(selector, childPath(path, 'selector'));
  if (selector === undefined) problems.push(required(childPath(path, 'selector')));
  problems.push(...malformed);
  const { labels } = template.metadata;
  if (malformed.length === 0 && !selectsLabels(selector, labels)) {
    const detail = '`selector` does not match template `labels`';
    problems.push(invalid(childPath(path, 'template.metadata.labels'), goSyntaxLabels(labels), detail));
  }
  return problems;
}

/** Validates the part of a Job's spec that does not depend on the selector. */
export function jobTemplateProblems(path: string, spec: JobSpec, about: JobRules): FieldError[] {
  const { podFailurePolicy, successPolicy } = spec;
  const problems = [
    ...countProblems(path, spec),
    ...managerProblems(childPath(path, 'managedBy'), spec.managedBy),
    ...completionProblems(path, spec),
  ];
  if (podFailurePolicy !== undefined) {
    problems.push(...podFailurePolicyProblems(childPath(path, 'podFailurePolicy'), podFailurePolicy, spec));
  }
  if (successPolicy !== undefined) {
    problems.push(...successPolicyProblems(childPath(path, 'successPolicy'), successPolicy, spec));
  }
  const { context, live } = about;
  const rules = { dialect: context.dialect, features: context.features, live };
  return [
    ...problems,
    ...podReplacementPolicyProblems(childPath(path, 'podReplacementPolicy'), spec),
    ...podTemplateProblems(childPath(path, 'template'), spec.template, rules),
    ...restartPolicyProblems(childPath(path, 'template.spec.restartPolicy'), spec),
  ];
}

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

function countProblems(path: string, spec: JobSpec): FieldError[] {
  const problems: FieldError[] = [];
  for (const field of COUNTS) {
    if ((spec[field] ?? 0) < 0) problems.push(...nonNegative(childPath(path, field), spec[field]));
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    problems.push(required(childPath(path, 'backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  return problems;
}

const MAX_MANAGER = 63;
const URL_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** Validates `managedBy`: `example.com/controller`. */
function managerProblems(path: string, manager: string | undefined): FieldError[] {
  if (manager === undefined) return [];
  const problems = prefixedPathProblems(path, manager);
  return byteLength(manager) > MAX_MANAGER ? [...problems, tooLong(path, MAX_MANAGER)] : problems;
}

function prefixedPathProblems(path: string, text: string): FieldError[] {
  if (text === '') return [required(path)];
  const slash = text.indexOf('/');
  const [domain, rest] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (domain === '' || rest === '') {
    return [invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const problems = dnsSubdomainProblems(domain).map((detail) => invalid(path, domain, detail));
  if (!new RegExp(`^${URL_PATH}$`).test(rest)) {
    problems.push(invalid(path, rest, patternMessage('Invalid path', URL_PATH, [])));
  }
  return problems;
}

function completionProblems(path: string, spec: JobSpec): FieldError[] {
  const mode: string | undefined = spec.completionMode;
  if (mode === 'Indexed') return indexedProblems(path, spec);
  if (mode !== undefined && mode !== 'NonIndexed') {
    return [notSupported(childPath(path, 'completionMode'), mode, ['NonIndexed', 'Indexed'])];
  }
  const problems: FieldError[] = [];
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
    const value = spec[field];
    if (value === undefined) continue;
    problems.push(invalid(childPath(path, field), value, 'requires indexed completion mode'));
  }
  return problems;
}

const MANY = 100_000;
/** The limit for parallelism and failed indexes if there are more than {@link MANY} indexes. */
const FEW = 10_000;

function indexedProblems(path: string, spec: JobSpec): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const problems: FieldError[] = [];
  const parallelismPath = childPath(path, 'parallelism');
  const failedPath = childPath(path, 'maxFailedIndexes');
  if (completions === undefined) {
    problems.push(required(childPath(path, 'completions'), 'when completion mode is Indexed'));
  }
  if (parallelism > MANY) {
    const detail = `must be less than or equal to ${MANY} when completion mode is Indexed`;
    problems.push(invalid(parallelismPath, parallelism, detail));
  }
  if (maxFailedIndexes !== undefined && completions !== undefined && maxFailedIndexes > completions) {
    problems.push(invalid(failedPath, maxFailedIndexes, 'must be less than or equal to completions'));
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MANY) {
    problems.push(invalid(failedPath, maxFailedIndexes, `must be less than or equal to ${MANY}`));
  }
  if (backoffLimitPerIndex === undefined || completions === undefined || completions <= MANY) return problems;
  const detail = `must be less than or equal to ${FEW} when completions are above ${MANY} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    problems.push(required(failedPath, `must be specified when completions is above ${MANY}`));
  }
  if (parallelism > FEW) problems.push(invalid(parallelismPath, parallelism, detail));
  if (maxFailedIndexes !== undefined && maxFailedIndexes > FEW) {
    problems.push(invalid(failedPath, maxFailedIndexes, detail));
  }
  return problems;
}

/** `Always` is the default of templates, so it is reported as absent. */
function restartPolicyProblems(path: string, spec: JobSpec): FieldError[] {
  const policy: string = spec.template.spec.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy !== undefined && policy !== 'Never') {
    return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}
