/**
 * Going back to an earlier revision by annotation, as versions of the API that are gone asked for it: the template of the
 * old ReplicaSet becomes the Deployment's again, which the next look rolls out as the newest revision.
 */
import { Deployment } from '../../../kinds/apps/v1/deployment.js';
import { type AnnotationKeys, annotationsOf, revisionOf, wholeNumber } from './annotations.js';
import type { StoredDeployment } from './bounds.js';
import type { Surroundings } from './own-sets.js';
import { type StoredReplicaSet, sameTemplate, withoutHash } from './replica-set-list.js';

/** The revision to go back to, 0 for the one before this; undefined when nobody asked. */
export function rollbackTarget(deployment: StoredDeployment, { rollbackTo }: AnnotationKeys): number | undefined {
  return wholeNumber(annotationsOf(deployment)[rollbackTo]);
}

/** Goes back if it can, and takes the wish off the Deployment in any case. */
export async function rollback(
  { context, keys }: Surroundings,
  deployment: StoredDeployment,
  about: { readonly sets: readonly StoredReplicaSet[]; readonly target: number },
): Promise<void> {
  const { sets } = about;
  const target = about.target === 0 ? lastRevision(sets, keys) : about.target;
  const { [keys.rollbackTo]: _wish, ...annotations } = annotationsOf(deployment);
  const write = (spec: StoredDeployment['spec'], kept: Readonly<Record<string, string>>) =>
    context.client
      .api(Deployment, deployment.metadata.namespace)
      .update({ ...deployment, metadata: { ...deployment.metadata, annotations: kept }, spec });
  const warn = (reason: string, message: string) => context.events.record(deployment, 'Warning', reason, message);

  const set = target === 0 ? undefined : sets.find((candidate) => revisionOf(candidate, keys) === target);
  if (set === undefined) {
    const what = target === 0 ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.';
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
  // What was copied to the old ReplicaSet comes back with it.
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
function lastRevision(sets: readonly StoredReplicaSet[], keys: AnnotationKeys): number {
  const revisions = sets.map((set) => revisionOf(set, keys) ?? 0).sort((a, b) => b - a);
  return revisions[1] ?? 0;
}
