/**
 * Pod templates: defaulting, validation and warnings, for every kind that contains a template.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, type FieldError, forbidden } from '../../../../meta/field-error.js';
import { labelErrors } from '../../../../meta/labels.js';
import type { FeatureGates } from '../../../feature-gates.js';
import type { PodSpec, PodTemplateSpec } from '../../../generated/core-v1.js';
import { annotationErrors } from '../../../shared/annotations.js';
import { podAnnotationsProblems, profileMatchProblems } from './annotations.js';
import type { PodSpecContext } from './context.js';
import { podSpecDefaults } from './defaults.js';
import { dropDisabledPodFields } from './gates.js';
import { podSpecProblems } from './validate.js';
import { podSpecWarnings } from './warnings.js';

/** Sets defaults that depend on other fields in place. Called from `strategy.defaults` of every workload. */
export function podTemplateDefaults(template: PodTemplateSpec): void {
  // Frozen specs come from storage and have their defaults.
  if (!Object.isFrozen(template.spec)) podSpecDefaults(template.spec);
}

/** Caches of stored specs: valid ones, and those without warnings if the template has no annotations. */
const validSpecs = new WeakSet<PodSpec>();
const specsWithoutWarnings = new WeakSet<PodSpec>();

/** Validates a template. Kinds add their own rules on restart policies and selectors. */
export function podTemplateProblems(path: string, template: PodTemplateSpec, context: PodSpecContext): FieldError[] {
  const { metadata, spec } = template;
  const { labels = {}, annotations = {} } = metadata ?? {};
  const { dialect } = context;
  // The reference server omits `metadata` from these paths.
  const annotationsAt = childPath(path, 'annotations');
  const ephemeral = childPath(path, 'spec.ephemeralContainers');
  return [
    ...labelErrors(labels, childPath(path, 'labels')),
    ...annotationErrors(annotations, annotationsAt),
    ...podAnnotationsProblems(annotationsAt, annotations, { spec, dialect }),
    ...specProblems(childPath(path, 'spec'), spec, context),
    ...(metadata?.annotations === undefined
      ? []
      : profileMatchProblems(childPath(path, 'spec'), spec, { annotations, dialect })),
    ...((spec.ephemeralContainers ?? []).length === 0
      ? []
      : [forbidden(ephemeral, 'ephemeral containers not allowed in pod template')]),
  ];
}

/** Validates the spec once per frozen object: many writes share the spec of the live object. */
function specProblems(path: string, spec: PodSpec, context: PodSpecContext): FieldError[] {
  if (validSpecs.has(spec)) return [];
  const problems = podSpecProblems(path, spec, context);
  // With a live spec some errors may have been tolerated, so the result is not cached.
  if (problems.length === 0 && context.live === undefined && Object.isFrozen(spec)) validSpecs.add(spec);
  return problems;
}

/** Removes fields of disabled feature gates in place. `live` is absent for new objects. */
export function dropDisabledTemplateFields(
  template: PodTemplateSpec,
  live: PodTemplateSpec | undefined,
  features: FeatureGates,
): void {
  // Frozen specs come from storage, where disabled fields are already removed.
  if (!Object.isFrozen(template.spec)) dropDisabledPodFields(template.spec, live?.spec, features);
}

/** Warnings about a valid template at `path`. */
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
