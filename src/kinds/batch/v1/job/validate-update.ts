/**
 * Validates changes of a Job's spec: the parallelism may change, and the scheduling of its pods until the Job has
 * started.
 */
import { type FieldError, invalid } from '../../../../meta/field-error.js';
import { type Verbatim, verbatim } from '../../../../text/go/go-text.js';
import { copyJson, deepEqual } from '../../../../util/json.js';
import type { JobSpec } from '../../../generated/batch-v1.js';
import type { PodTemplateSpec } from '../../../generated/core-v1.js';
import { goSyntaxLabelSelector } from '../../../shared/go-syntax.js';
import { dumpPodFailurePolicy, dumpSuccessPolicy } from './validate-policies.js';

/** `started` is false if the Job has never run. */
export function jobSpecUpdateProblems(
  next: JobSpec,
  live: JobSpec,
  about: { readonly started: boolean },
): FieldError[] {
  const mayMove = live.suspend === true && !about.started;
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
  const before = mayMove ? movedLike(live, next) : live;
  if (deepEqual(next, before)) return [];
  // The reference server prints the whole template with pointer addresses, which are not predictable.
  return [invalid('spec.template', verbatim('core.PodTemplateSpec{…}'), 'field is immutable')];
}

/** The live template with the mutable fields of the new one. */
function movedLike(live: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
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
