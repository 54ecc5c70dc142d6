/**
 * The ReplicaSets of a Deployment: which is the newest, which are old, and what they add up to.
 */
import type { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { deepEqual } from '../../../util/json.js';
import { compareText } from '../../../util/order.js';
import { type AnnotationKeys, revisionOf } from './annotations.js';
import type { StoredDeployment } from './bounds.js';

export type StoredReplicaSet = ObjectOf<typeof ReplicaSet>;

/** Tells the ReplicaSets of one Deployment apart, and their pods. */
export const HASH_LABEL = 'pod-template-hash';

type Template = StoredDeployment['spec']['template'];
type Order = (a: StoredReplicaSet, b: StoredReplicaSet) => number;

export const byCreation: Order = (a, b) =>
  compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compareText(a.metadata.name, b.metadata.name);

export const bySizeOlderFirst: Order = (a, b) => b.spec.replicas - a.spec.replicas || byCreation(a, b);
export const bySizeNewerFirst: Order = (a, b) => b.spec.replicas - a.spec.replicas || byCreation(b, a);

/** The oldest revision first. */
export function byRevision(keys: AnnotationKeys): Order {
  return (a, b) => {
    const revisions = [revisionOf(a, keys), revisionOf(b, keys)] as const;
    return revisions[0] === undefined || revisions[1] === undefined || revisions[0] === revisions[1]
      ? byCreation(a, b)
      : revisions[0] - revisions[1];
  };
}

/** The oldest ReplicaSet with the Deployment's template. */
export function newSetAmong(
  sets: readonly StoredReplicaSet[],
  { spec }: StoredDeployment,
): StoredReplicaSet | undefined {
  return [...sets].sort(byCreation).find((set) => sameTemplate(set.spec.template, spec.template));
}

/** Equal but for the hash, which only templates of ReplicaSets carry. */
export function sameTemplate(a: Template, b: Template): boolean {
  if (!deepEqual(a.spec, b.spec)) return false;
  return deepEqual(withoutHash(a).metadata, withoutHash(b).metadata);
}

/** The template as a Deployment has it. */
export function withoutHash(template: Template): Template {
  const { metadata } = template;
  if (metadata?.labels?.[HASH_LABEL] === undefined) return template;
  const { [HASH_LABEL]: _hash, ...labels } = metadata.labels;
  return { ...template, metadata: { ...metadata, labels } };
}

/** Those that have pods, or ought to. */
export function activeAmong(sets: readonly StoredReplicaSet[]): StoredReplicaSet[] {
  return sets.filter(({ spec }) => spec.replicas > 0);
}

/** The pods that were asked for. */
export function wantedBy(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { spec }) => sum + spec.replicas, 0);
}

/** The pods that there are. */
export function actualOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + status.replicas, 0);
}

export function readyOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status.readyReplicas ?? 0), 0);
}

export function availableOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status.availableReplicas ?? 0), 0);
}

/** Undefined when one of them, which has been looked at, does not tell. */
export function terminatingOf(sets: readonly StoredReplicaSet[]): number | undefined {
  let sum = 0;
  for (const { status } of sets) {
    if (status.terminatingReplicas === undefined && (status.observedGeneration ?? 0) > 0) return undefined;
    sum += status.terminatingReplicas ?? 0;
  }
  return sum;
}
