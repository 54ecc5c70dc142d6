/**
 * Messages of failed preconditions in the format of the reference server's storage error, which includes the storage key
 * of the object.
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import { own } from '../../util/json.js';

/** Storage prefixes that differ from the resource name, because the resource was renamed. */
const STORAGE_PREFIXES: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
};

/** Groups that the reference server serves from separate servers: as JSON in storage, with the group in the key. */
export const EXTENSION_GROUPS: ReadonlySet<string> = new Set(['apiextensions', 'apiregistration'].map(serviceGroup));

/** The object of a failed write. */
export interface StoredObject {
  readonly resource: GroupResource;
  /** Custom resources and CustomResourceDefinitions have their API group in the storage key. */
  readonly isBelowGroup?: boolean;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  /** A dry run fails before the storage adds the `/registry` prefix to the key. */
  readonly dryRun: boolean;
}

/** The message of a StorageError; `why` is the text of {@link failedPrecondition}. */
export function storageConflictMessage(object: StoredObject, why: string): string {
  const { resource, isBelowGroup = false, namespace, name, dryRun } = object;
  const prefix = isBelowGroup
    ? `${resource.group}/${resource.resource}`
    : (own(STORAGE_PREFIXES, resource.resource) ?? resource.resource);
  const key = `${dryRun ? '' : '/registry'}/${prefix}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
}

/** The message about the first precondition that does not hold; `undefined` if all hold. */
export function failedPrecondition(
  preconditions: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
  live: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } = {},
): string | undefined {
  if (preconditions.uid !== undefined && preconditions.uid !== live.uid) {
    return `Precondition failed: UID in precondition: ${preconditions.uid}, UID in object meta: ${live.uid ?? ''}`;
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== live.resourceVersion) {
    return `Precondition failed: ResourceVersion in precondition: ${preconditions.resourceVersion}, ResourceVersion in object meta: ${live.resourceVersion ?? ''}`;
  }
  return undefined;
}
