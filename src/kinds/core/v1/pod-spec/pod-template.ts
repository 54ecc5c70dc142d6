/**
 * The template from which workloads make pods: its defaults, its rules and its warnings, for every kind that holds one.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden } from '../../../../meta/field-error.js';
import { labelErrors } from '../../../../meta/labels.js';
import type { FeatureGates } from '../../../feature-gates.js';
import { annotationErrors } from '../../../shared/annotations.js';
import { podAnnotationsProblems } from './annotations.js';
import { podSpecDefaults } from './defaults.js';
import { dropDisabledPodFields } from './gates.js';
import type { PodTemplateSpec } from './pod-spec.js';
import { type PodRules, podSpecProblems } from './validate.js';
import { podSpecWarnings } from './warnings.js';

/** Fills in what the schema cannot; changes the template. Called from `strategy.defaults` of every workload. */
export function podTemplateDefaults(template: PodTemplateSpec): void {
  podSpecDefaults(template.spec);
}

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
    ...podSpecProblems(childPath(path, 'spec'), spec, about),
    ...((spec.ephemeralContainers ?? []).length === 0
      ? []
      : [forbidden(ephemeral, 'ephemeral containers not allowed in pod template')]),
  ];
}

/** Takes out what feature gates that are off do not let in; `live` is the template before, if any. Changes the template. */
export function dropDisabledTemplateFields(
  template: PodTemplateSpec,
  live: PodTemplateSpec | undefined,
  features: FeatureGates,
): void {
  dropDisabledPodFields(template.spec, live?.spec, features);
}

/** What a client is told about a template that is accepted all the same. */
export function podTemplateWarnings(
  path: string,
  template: PodTemplateSpec,
  { dialect }: { readonly dialect: Dialect },
): string[] {
  const annotations = template.metadata?.annotations ?? {};
  return podSpecWarnings(path, template.spec, { annotations, dialect });
}
