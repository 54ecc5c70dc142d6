/**
 * Whether an update changes only what keeps an object alive, and nothing of what it says.
 */
import type { ApiObject } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';

/** Owners, finalizers and the record of who manages what do not count, nor the version that the client has seen. */
export function isSameToUsers(next: ApiObject, live: ApiObject): boolean {
  return deepEqual(said(next), said(live));
}

function said({ metadata, ...rest }: ApiObject): object {
  const { ownerReferences, finalizers, managedFields, resourceVersion, ...about } = metadata;
  return { ...rest, metadata: about };
}
