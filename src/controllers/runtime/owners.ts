/**
 * Who owns an object, and how an owner is written down.
 */
import type { DeepReadonly, ObjectMeta, OwnerReference } from '../../meta/object.js';

/** What controllers need to know of an object of whatever kind. Objects that were read are such. */
export interface AnyObject extends HasMetadata {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface HasMetadata {
  readonly metadata: DeepReadonly<ObjectMeta>;
}

const NOBODY: readonly Readonly<OwnerReference>[] = Object.freeze([]);

/** The reference to the one owner that manages the object, if there is one. */
export function controllerOf(object: HasMetadata): Readonly<OwnerReference> | undefined {
  for (const reference of object.metadata.ownerReferences ?? NOBODY)
    if (reference.controller === true) return reference;
  return undefined;
}

export function isControlledBy(object: HasMetadata, owner: HasMetadata): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/** The reference that makes `owner` the controller of what carries it. */
export function controllerReference(owner: AnyObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}
