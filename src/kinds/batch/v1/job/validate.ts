/**
 * Validates the spec of a Job and its changes, in the reference server's message order, and computes warnings. CronJobs
 * share the rules of the template.
 */

import { SERVICE_NAME } from '../../../../meta/dialect.js';
import { childPath, type FieldError, invalid, notSupported, required, tooLong } from '../../../../meta/field-error.js';
import { labelSelectorObjectErrors, selectsLabels } from '../../../../meta/labels.js';
import { byteLength, dnsSubdomainProblems, patternMessage } from '../../../../meta/names.js';
import { type Verbatim, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { copyJson, deepEqual } from '../../../../util/json.js';
import { goSyntaxText } from '../../../core/v1/pod/diff/diff.js';
import { internalSpec } from '../../../core/v1/pod/diff/internal-spec.js';
import { podTemplateProblems, podTemplateWarnings } from '../../../core/v1/pod-spec/pod-template.js';
import type { JobSpec } from '../../../generated/batch-v1.js';
import type { PodSpec, PodTemplateSpec } from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { nonNegative } from '../../../shared/field-rules.js';
import { goSyntaxLabelSelector, goSyntaxLabels, goSyntaxObjectMeta } from '../../../shared/go-syntax.js';
import {
  dumpPodFailurePolicy,
  dumpSuccessPolicy,
  podFailurePolicyProblems,
  podReplacementPolicyProblems,
  successPolicyProblems,
} from './validate-policies.js';

const MANY_COMPLETIONS = 100_000;

const MUCH_PARALLELISM = 10_000;

/** Options of the rules. */
export interface JobRules {
  readonly context: HookContext;
  /** The live pod spec. */
  readonly live?: PodSpec | undefined;
}

/** Validates a Job's spec: the selector is required and must match the template. */
export function jobSpecProblems(path: string, spec: JobSpec, options: JobRules): FieldError[] {
  const { selector, template } = spec;
  const problems = jobTemplateProblems(path, spec, options);
  const malformed = selector === undefined ? [] : labelSelectorObjectErrors(selector, childPath(path, 'selector'));
  if (selector === undefined) problems.push(required(childPath(path, 'selector')));
  append(problems, malformed);
  const { labels } = template.metadata;
  if (malformed.length === 0 && !selectsLabels(selector, labels)) {
    const detail = '`selector` does not match template `labels`';
    problems.push(invalid(childPath(path, 'template.metadata.labels'), goSyntaxLabels(template.metadata), detail));
  }
  return problems;
}

/** Validates the part of a Job's spec that does not depend on the selector. */
export function jobTemplateProblems(path: string, spec: JobSpec, options: JobRules): FieldError[] {
  const { podFailurePolicy, successPolicy } = spec;
  const problems = [
    ...countProblems(path, spec),
    ...managerProblems(childPath(path, 'managedBy'), spec.managedBy),
    ...completionProblems(path, spec),
  ];
  if (podFailurePolicy !== undefined) {
    append(problems, podFailurePolicyProblems(childPath(path, 'podFailurePolicy'), podFailurePolicy, spec));
  }
  if (successPolicy !== undefined) {
    append(problems, successPolicyProblems(childPath(path, 'successPolicy'), successPolicy, spec));
  }
  const { context, live } = options;
  const { dialect, features, settings } = context;
  const rules = { dialect, features, settings, live };
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
    if ((spec[field] ?? 0) < 0) append(problems, nonNegative(childPath(path, field), spec[field]));
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

/** The warnings about a Job's spec. */
export function jobSpecWarnings(path: string, spec: JobSpec, { dialect }: HookContext): string[] {
  const ofPods = podTemplateWarnings(`${path}.template`, spec.template, { dialect });
  const { completionMode, completions = 0, parallelism = 0 } = spec;
  if (completionMode !== 'Indexed' || completions <= MANY_COMPLETIONS || parallelism <= MUCH_PARALLELISM) return ofPods;
  return [
    `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, ${SERVICE_NAME} might not be able to track completedIndexes when a big number of indexes fail`,
    ...ofPods,
  ];
}

/** `started` is false if the Job has never run. */
export function jobSpecUpdateProblems(
  next: JobSpec,
  live: JobSpec,
  options: { readonly started: boolean },
): FieldError[] {
  const mayMove = live.suspend === true && !options.started;
  return [
    ...completionsProblems(next, live),
    ...fixed('selector', next, live, dumpSelector),
    ...templateProblems(next.template, live.template, mayMove),
    ...fixed('completionMode', next, live),
    ...fixed('podFailurePolicy', next, live, (spec) => dumpPodFailurePolicy(spec.podFailurePolicy)),
    ...fixed('backoffLimitPerIndex', next, live),
    ...fixed('managedBy', next, live),
    ...fixed('successPolicy', next, live, (spec) => dumpSuccessPolicy(spec.successPolicy)),
  ];
}

function fixed(
  field: keyof JobSpec,
  next: JobSpec,
  live: JobSpec,
  dump: (spec: JobSpec) => Verbatim | undefined | unknown = (spec) => spec[field],
): FieldError[] {
  if (deepEqual(listed(next[field]), listed(live[field]))) return [];
  return [invalid(`spec.${field}`, dump(next), 'field is immutable')];
}

/** For comparisons: `rules: null` equals an empty list. */
function listed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('rules' in value)) return value;
  return { ...value, rules: value.rules ?? [] };
}

function dumpSelector({ selector }: JobSpec) {
  return selector === undefined ? undefined : goSyntaxLabelSelector(selector);
}

/** Completions can change only for indexed Jobs, together with the parallelism. */
function completionsProblems(next: JobSpec, live: JobSpec): FieldError[] {
  if (next.completionMode !== 'Indexed') return fixed('completions', next, live);
  const { completions, parallelism } = next;
  if (completions === undefined || completions === live.completions || completions === parallelism) return [];
  return [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

function templateProblems(next: PodTemplateSpec, live: PodTemplateSpec, mayMove: boolean): FieldError[] {
  const before = mayMove ? withMutableFields(live, next) : live;
  if (deepEqual(next, before)) return [];
  const metadata = goSyntaxObjectMeta(next.metadata ?? {}).verbatim;
  const spec = goSyntaxText('PodSpec', internalSpec(next.spec));
  const printed = verbatim(`core.PodTemplateSpec{ObjectMeta:${metadata}, Spec:${spec}}`);
  return [invalid('spec.template', printed, 'field is immutable')];
}

/** The live template with the mutable fields of the new one. */
function withMutableFields(live: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const template = copyJson(live);
  copyFields(template.metadata, next.metadata, ['labels', 'annotations']);
  copyFields(template.spec, next.spec, ['nodeSelector', 'tolerations', 'schedulingGates']);
  const { nodeAffinity } = next.spec.affinity ?? {};
  const { nodeAffinity: _, ...rest } = template.spec.affinity ?? {};
  if (next.spec.affinity === undefined) {
    // The affinity is removed if nothing else is in it.
    if (Object.keys(rest).length === 0) delete template.spec.affinity;
    else template.spec.affinity = rest;
  } else {
    template.spec.affinity = { ...rest, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) };
  }
  return template;
}

function copyFields<Value extends object>(to: Value, from: Value, fields: readonly (keyof Value)[]): void {
  for (const field of fields) {
    if (from[field] === undefined) delete to[field];
    else to[field] = from[field];
  }
}
