/**
 * The template from which workloads make pods: its defaults, its rules and its warnings, for every kind that holds one.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden } from '../../../../meta/field-error.js';
import { labelErrors } from '../../../../meta/labels.js';
import type { FeatureGates } from '../../../feature-gates.js';
import { annotationErrors } from '../../../shared/annotations.js';
import { podAnnotationsProblems, profileMatchProblems } from './annotations.js';
import { podSpecDefaults } from './defaults.js';
import { dropDisabledPodFields } from './gates.js';
import type { PodSpec, PodTemplateSpec } from './pod-spec.js';
import { type PodRules, podSpecProblems } from './validate.js';
import { podSpecWarnings } from './warnings.js';

/** Fills in what the schema cannot; changes the template. Called from `strategy.defaults` of every workload. */
export function podTemplateDefaults(template: PodTemplateSpec): void {
  // What comes from the store has them.
  if (!Object.isFrozen(template.spec)) podSpecDefaults(template.spec);
}

/** Specs from the store in which no rule finds anything; and those of which, without annotations, nothing is to be said. */
const validSpecs = new WeakSet<PodSpec>();
const specsWithoutWarnings = new WeakSet<PodSpec>();

/** Problems of a template that hold for any workload; kinds add their own, on restart policies and selectors. */
export function podTemplateProblems(path: string, template: PodTemplateSpec, about: PodRules): FieldError[] {
  const { metadata, spec } = template;
  const { labels = {}, annotations = {} } = metadata ?? {};
  const { dialect } = about;
  // The reference server leaves `metadata` out of these paths.
  const annotationsAt = childPath(path, 'annotations');
  const ephemeral = childPath(path, 'spec.ephemeralContainers');
  return [
    ...labelErrors(labels, childPath(path, 'labels')),
    ...annotationErrors(annotations, annotationsAt),
    ...podAnnotationsProblems(annotationsAt, annotations, { spec, dialect }),
    ...specProblems(childPath(path, 'spec'), spec, about),
    ...(metadata?.annotations === undefined
      ? []
      : profileMatchProblems(childPath(path, 'spec'), spec, { annotations, dialect })),
    ...((spec.ephemeralContainers ?? []).length === 0
      ? []
      : [forbidden(ephemeral, 'ephemeral containers not allowed in pod template')]),
  ];
}

/** A template goes into many objects; as long as it is one and the same, one look is enough. */
function specProblems(path: string, spec: PodSpec, about: PodRules): FieldError[] {
  if (validSpecs.has(spec)) return [];
  const problems = podSpecProblems(path, spec, about);
  // What was there before may excuse some things.
  if (problems.length === 0 && about.live === undefined && Object.isFrozen(spec)) validSpecs.add(spec);
  return problems;
}

/** Takes out what feature gates that are off do not let in; `live` is the template before, if any. Changes the template. */
export function dropDisabledTemplateFields(
  template: PodTemplateSpec,
  live: PodTemplateSpec | undefined,
  features: FeatureGates,
): void {
  // What this server has stored has been through this.
  if (!Object.isFrozen(template.spec)) dropDisabledPodFields(template.spec, live?.spec, features);
}

/** What a client is told about a template that is accepted all the same. */
export function podTemplateWarnings(
  path: string,
  template: PodTemplateSpec,
  { dialect }: { readonly dialect: Dialect },
): string[] {
  const { spec, metadata } = template;
  const { annotations = NONE } = metadata ?? {};
  if (annotations === NONE && specsWithoutWarnings.has(spec)) return [];
  const warnings = podSpecWarnings(path, spec, { annotations, dialect });
  if (warnings.length === 0 && annotations === NONE && Object.isFrozen(spec)) specsWithoutWarnings.add(spec);
  return warnings;
}

const NONE: Readonly<Record<string, string>> = Object.freeze({});
