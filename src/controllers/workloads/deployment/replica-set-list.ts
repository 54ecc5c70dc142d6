/**
 * Functions on the ReplicaSets of a Deployment: which is new, their order, and sums over them.
 */
import type { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { deepEqual } from '../../../util/json.js';
import { compareText } from '../../../util/order.js';
import { type AnnotationKeys, revisionOf } from './annotations.js';
import type { StoredDeployment } from './bounds.js';

export type StoredReplicaSet = ObjectOf<typeof ReplicaSet>;

/** The label that distinguishes the ReplicaSets of a Deployment and their pods. */
export const HASH_LABEL = 'pod-template-hash';

type Template = StoredDeployment['spec']['template'];
type Order = (a: StoredReplicaSet, b: StoredReplicaSet) => number;

export const byCreation: Order = (a, b) =>
  compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compareText(a.metadata.name, b.metadata.name);

export const bySizeOlderFirst: Order = (a, b) => b.spec.replicas - a.spec.replicas || byCreation(a, b);
export const bySizeNewerFirst: Order = (a, b) => b.spec.replicas - a.spec.replicas || byCreation(b, a);

/** Oldest revision first. */
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

/** Compares templates without the hash label, which only templates of ReplicaSets have. */
export function sameTemplate(a: Template, b: Template): boolean {
  if (!deepEqual(a.spec, b.spec)) return false;
  return deepEqual(withoutHash(a).metadata, withoutHash(b).metadata);
}

/** The template without the hash label. */
export function withoutHash(template: Template): Template {
  const { metadata } = template;
  if (metadata?.labels?.[HASH_LABEL] === undefined) return template;
  const { [HASH_LABEL]: _hash, ...labels } = metadata.labels;
  return { ...template, metadata: { ...metadata, labels } };
}

/** The ReplicaSets that should have pods. */
export function activeAmong(sets: readonly StoredReplicaSet[]): StoredReplicaSet[] {
  return sets.filter(({ spec }) => spec.replicas > 0);
}

/** The sum of wanted replicas. */
export function wantedBy(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { spec }) => sum + spec.replicas, 0);
}

/** The sum of existing replicas. */
export function actualOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + status.replicas, 0);
}

export function readyOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status.readyReplicas ?? 0), 0);
}

export function availableOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status.availableReplicas ?? 0), 0);
}

/** The sum of terminating replicas; undefined if an observed ReplicaSet does not report them. */
export function terminatingOf(sets: readonly StoredReplicaSet[]): number | undefined {
  let sum = 0;
  for (const { status } of sets) {
    if (status.terminatingReplicas === undefined && (status.observedGeneration ?? 0) > 0) return undefined;
    sum += status.terminatingReplicas ?? 0;
  }
  return sum;
}
