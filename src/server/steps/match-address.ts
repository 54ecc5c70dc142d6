/**
 * Name and namespace of the body must match the URL, and a patch must keep the apiVersion; duplicate owner references are dropped.
 */
import { errors } from '../../meta/errors.js';
import type { DraftMeta, DraftObject, OwnerReference } from '../../meta/object.js';
import type { WriteOperation } from '../write-operation.js';

/** Sets the namespace of the request, or rejects another one. Removes the namespace of a cluster-scoped object. */
export function ensureNamespaceMatches(metadata: DraftMeta, write: WriteOperation): void {
  if (!write.served.namespaced) {
    if (metadata.namespace !== undefined) metadata.namespace = undefined;
    return;
  }
  if (metadata.namespace && metadata.namespace !== write.namespace) {
    throw errors.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (metadata.namespace !== write.namespace) metadata.namespace = write.namespace;
}

/** Rejects a body without a name or with another name than the URL. */
export function ensureNameMatches(metadata: DraftMeta, name: string): void {
  if (!metadata.name) {
    throw errors.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw errors.badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

/** Rejects a custom resource whose apiVersion a patch has removed. */
export function ensureApiVersion({ apiVersion }: DraftObject): void {
  if (apiVersion === '') throw errors.internal("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

type Phase = 'as sent' | 'after admission';

/** Drops owner references that are equal to another one, and adds a warning. */
export function dedupOwnerReferences(metadata: DraftMeta, phase: Phase, warnings: string[]): void {
  const owners = metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return;
  const kept = new Map<string, OwnerReference>();
  const repeated: string[] = [];
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const everything = JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null]);
    if (kept.has(everything)) repeated.push(uid);
    else kept.set(everything, owner);
  }
  if (repeated.length === 0) return;
  metadata.ownerReferences = [...kept.values()];
  const when = phase === 'as sent' ? '' : ' after mutating admission happens';
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
}
