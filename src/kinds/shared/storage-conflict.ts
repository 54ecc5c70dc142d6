/**
 * What the reference server's store says of an object that is not the one that was meant. Messages show where it is kept.
 */
import type { GroupResource } from '../../meta/gvk.js';
import { own } from '../../util/json.js';

/** Resources that were called otherwise once. */
const FOLDERS: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
};

export interface StoredObject {
  readonly resource: GroupResource;
  /** What extension servers keep, users' kinds and those that define them, stands below its group. */
  readonly isBelowGroup?: boolean;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  /** A rehearsal does not come as far as the store, which puts its own name in front. */
  readonly dryRun: boolean;
}

/** `why` is the precondition that failed. */
export function storageConflictMessage(object: StoredObject, why: string): string {
  const { resource, isBelowGroup = false, namespace, name, dryRun } = object;
  const folder = isBelowGroup
    ? `${resource.group}/${resource.resource}`
    : (own(FOLDERS, resource.resource) ?? resource.resource);
  const key = `${dryRun ? '' : '/registry'}/${folder}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
}

/** Which precondition does not hold; `undefined` where all do. */
export function failedPrecondition(
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
  live: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } = {},
): string | undefined {
  if (wanted.uid !== undefined && wanted.uid !== live.uid) {
    return `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${live.uid ?? ''}`;
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== live.resourceVersion) {
    return `Precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${live.resourceVersion ?? ''}`;
  }
  return undefined;
}
