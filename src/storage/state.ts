/**
 * The state of a cluster as data: the content of captures and journal checkpoints, and the option `from` of createCluster.
 */
import type { ApiObject } from '../meta/object.js';
import type { ObjectKey } from './types.js';

/**
 * All objects of a cluster at one version, exactly as stored, including uid, resourceVersion, managedFields and status. A
 * JSON value.
 */
export interface ClusterState {
  /** The resourceVersion of the newest write. */
  readonly resourceVersion: string;
  /** In any order, CRDs included. */
  readonly objects: readonly ApiObject[];
  /** Objects of kinds that the new cluster does not serve are left out. Default: they are an error. */
  readonly skipsUnserved?: boolean | undefined;
}

/** The object of a table, with its key. */
export function placedObject(storageKey: string, object: ApiObject): PlacedObject {
  const { namespace = '', name } = object.metadata;
  return { key: { storageKey, namespace, name }, object };
}

/** An object and its storage key. */
export interface PlacedObject {
  readonly key: ObjectKey;
  /** Deeply frozen. */
  readonly object: ApiObject;
}
