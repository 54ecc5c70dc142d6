/**
 * Rollback by annotation, as removed API versions requested it: the Deployment gets the template of the old ReplicaSet, and the
 * next reconcile rolls it out as the newest revision.
 */
import { Deployment } from '../../../kinds/apps/v1/deployment.js';
import {
  type AnnotationKeys,
  annotationsOf,
  type DeploymentEnvironment,
  revisionOf,
  type StoredDeployment,
  type StoredReplicaSet,
  sameTemplate,
  wholeNumber,
  withoutHash,
} from './replica-sets.js';

/** The revision to roll back to, 0 for the previous one; undefined: no rollback requested. */
export function rollbackTarget(deployment: StoredDeployment, { rollbackTo }: AnnotationKeys): bigint | undefined {
  return wholeNumber(annotationsOf(deployment)[rollbackTo]);
}

/** Rolls back if possible, and always removes the annotation. */
export async function rollback(
  { context, keys }: DeploymentEnvironment,
  deployment: StoredDeployment,
  input: { readonly sets: readonly StoredReplicaSet[]; readonly target: bigint },
): Promise<void> {
  const { sets } = input;
  const target = input.target === 0n ? lastRevision(sets, keys) : input.target;
  const { [keys.rollbackTo]: _request, ...annotations } = annotationsOf(deployment);
  const write = (spec: StoredDeployment['spec'], kept: Readonly<Record<string, string>>) =>
    context.client
      .api(Deployment, deployment.metadata.namespace)
      .update({ ...deployment, metadata: { ...deployment.metadata, annotations: kept }, spec });
  const warn = (reason: string, message: string) => context.events.record(deployment, 'Warning', reason, message);

  const set = target === 0n ? undefined : sets.find((candidate) => revisionOf(candidate, keys) === target);
  if (set === undefined) {
    const what = target === 0n ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.';
    warn('DeploymentRollbackRevisionNotFound', what);
    await write(deployment.spec, annotations);
    return;
  }
  const { name } = deployment.metadata;
  if (sameTemplate(set.spec.template, deployment.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    warn('DeploymentRollbackTemplateUnchanged', message);
    await write(deployment.spec, annotations);
    return;
  }
  // Annotations that were copied to the old ReplicaSet are restored.
  const own = Object.entries(annotations).filter(([key]) => keys.own.has(key));
  const copied = Object.entries(annotationsOf(set)).filter(([key]) => !keys.own.has(key));
  await write(
    { ...deployment.spec, template: withoutHash(set.spec.template) },
    Object.fromEntries([...own, ...copied]),
  );
  const message = `Rolled back deployment "${name}" to revision ${target}`;
  context.events.record(deployment, 'Normal', 'DeploymentRollback', message);
}

/** The second highest revision; 0 without one. */
function lastRevision(sets: readonly StoredReplicaSet[], keys: AnnotationKeys): bigint {
  const revisions = sets.map((set) => revisionOf(set, keys) ?? 0n).sort((a, b) => Number(b - a));
  return revisions[1] ?? 0n;
}
