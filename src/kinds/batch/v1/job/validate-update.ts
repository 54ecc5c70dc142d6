/**
 * What of a Job may change: how much runs at once, and, before it has run at all, where its pods go.
 */
import { type FieldError, invalid } from '../../../../meta/field-error.js';
import { type Verbatim, verbatim } from '../../../../text/go/go-text.js';
import { copyJson, deepEqual } from '../../../../util/json.js';
import type { JobSpec } from '../../../generated/batch-v1.js';
import type { PodTemplateSpec } from '../../../generated/core-v1.js';
import { goSyntaxLabelSelector } from '../../../shared/go-syntax.js';
import { dumpPodFailurePolicy, dumpSuccessPolicy } from './validate-policies.js';

/** `started` is false as long as the Job has never run. */
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

/** A policy whose rules are null has none, which is the same as an empty list. */
function listed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('rules' in value)) return value;
  return { ...value, rules: value.rules ?? [] };
}

function dumpSelector({ selector }: JobSpec) {
  return selector === undefined ? undefined : goSyntaxLabelSelector(selector);
}

/** An indexed Job can grow and shrink as a whole; any other has as many completions as it had. */
function completionsProblems(next: JobSpec, live: JobSpec): FieldError[] {
  if (next.completionMode !== 'Indexed') return fixed('completions', next, live);
  const { completions, parallelism } = next;
  if (completions === undefined || completions === live.completions || completions === parallelism) return [];
  return [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

function templateProblems(next: PodTemplateSpec, live: PodTemplateSpec, mayMove: boolean): FieldError[] {
  const before = mayMove ? movedLike(live, next) : live;
  if (deepEqual(next, before)) return [];
  // The reference server shows the whole template with the addresses of its parts, which nobody can foresee.
  return [invalid('spec.template', verbatim('core.PodTemplateSpec{…}'), 'field is immutable')];
}

/** The old template with what may still change taken from the new one. */
function movedLike(live: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const template = copyJson(live);
  copyFields(template.metadata, next.metadata, ['labels', 'annotations']);
  copyFields(template.spec, next.spec, ['nodeSelector', 'tolerations', 'schedulingGates']);
  const { nodeAffinity } = next.spec.affinity ?? {};
  const { nodeAffinity: _, ...rest } = template.spec.affinity ?? {};
  if (next.spec.affinity === undefined) {
    // It may go altogether where there was nothing else in it.
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
