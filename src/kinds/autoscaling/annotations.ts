/**
 * Annotations in which a version without the fields keeps them. Versions that have the fields never show them.
 */
import { type Dialect, kubernetesDialect, orchDialect } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { sortedRecord } from '../../util/order.js';

export const SPEC_ANNOTATIONS = ['metrics', 'behavior'] as const;
export const STATUS_ANNOTATIONS = ['current-metrics', 'conditions'] as const;
export type AnnotationName = (typeof SPEC_ANNOTATIONS)[number] | (typeof STATUS_ANNOTATIONS)[number];

const EVERY_DIALECT: readonly Dialect[] = [orchDialect, kubernetesDialect];

function annotationKey(name: AnnotationName, dialect: Dialect): string {
  return dialect.subkey('autoscaling.alpha', name);
}

/**
 * An annotation in every spelling. A conversion does not always know the dialect, and one that did not see an annotation
 * would lose what it says; so either spelling is read, and both go when the annotation goes.
 */
export function annotationKeys(name: AnnotationName): string[] {
  return EVERY_DIALECT.map((dialect) => annotationKey(name, dialect));
}

/** The four annotations become exactly these; all others stay. */
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
