/**
 * Warnings about a Job or a Job template that is accepted.
 */
import { SERVICE_NAME } from '../../../../meta/dialect.js';
import { podTemplateWarnings } from '../../../core/v1/pod-spec/pod-template.js';
import type { JobSpec } from '../../../generated/batch-v1.js';
import type { HookContext } from '../../../kind.js';

const MANY_COMPLETIONS = 100_000;
const MUCH_PARALLELISM = 10_000;

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
