/**
 * The annotations in which versions of HorizontalPodAutoscaler represent fields that they lack. Versions with the
 * fields never have them.
 */
import { type Dialect, kubernetesDialect, orchDialect } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { sortedRecord } from '../../util/order.js';

/** The annotations for fields of the spec. */
export const SPEC_ANNOTATIONS = ['metrics', 'behavior'] as const;
/** The annotations for fields of the status. */
export const STATUS_ANNOTATIONS = ['current-metrics', 'conditions'] as const;
/** The name of such an annotation, without its domain. */
export type AnnotationName = (typeof SPEC_ANNOTATIONS)[number] | (typeof STATUS_ANNOTATIONS)[number];

const EVERY_DIALECT: readonly Dialect[] = [orchDialect, kubernetesDialect];

function annotationKey(name: AnnotationName, dialect: Dialect): string {
  return dialect.subkey('autoscaling.alpha', name);
}

/**
 * The keys of an annotation in all dialects. A conversion does not always know the dialect, so it reads and removes all
 * of them.
 */
export function annotationKeys(name: AnnotationName): string[] {
  return EVERY_DIALECT.map((dialect) => annotationKey(name, dialect));
}

/** Replaces the four annotations; others are kept. */
export function setAnnotations(
  draft: DraftObject,
  written: { [Name in AnnotationName]?: string },
  dialect: Dialect,
): void {
  const ours = [...SPEC_ANNOTATIONS, ...STATUS_ANNOTATIONS];
  const keys = new Set(ours.flatMap(annotationKeys));
  const kept = Object.entries(draft.metadata.annotations ?? {}).filter(([key]) => !keys.has(key));
  for (const name of ours) {
    const value = written[name];
    if (value !== undefined) kept.push([annotationKey(name, dialect), value]);
  }
  const all = sortedRecord(kept);
  draft.metadata.annotations = kept.length === 0 ? undefined : all;
}
