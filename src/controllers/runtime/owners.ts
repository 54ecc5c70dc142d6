/**
 * Controller owner references.
 */
import type { DeepReadonly, ObjectMeta, OwnerReference } from '../../meta/object.js';

/** What controllers need of an object of any kind. Every object read through the client fits. */
export interface AnyObject extends HasMetadata {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface HasMetadata {
  readonly metadata: DeepReadonly<ObjectMeta>;
}

/** What identifies the owner of dependents: the uid, and the namespace unless the owner is cluster-scoped. */
export interface Owner {
  readonly metadata: { readonly uid: string; readonly namespace?: string | undefined };
}

const NO_OWNERS: readonly Readonly<OwnerReference>[] = Object.freeze([]);

/** The owner reference with `controller: true`, if there is one. */
export function controllerOf(object: HasMetadata): Readonly<OwnerReference> | undefined {
  for (const reference of object.metadata.ownerReferences ?? NO_OWNERS)
    if (reference.controller === true) return reference;
  return undefined;
}

/** Whether `owner` is the controller of the object. A namespaced owner has dependents only in its own namespace. */
export function isControlledBy(object: HasMetadata, { metadata }: Owner): boolean {
  const { uid, namespace } = metadata;
  return controllerOf(object)?.uid === uid && (namespace === undefined || object.metadata.namespace === namespace);
}

/** The owner reference that makes `owner` the controller of an object. */
export function controllerReference(owner: AnyObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}
