/**
 * A cluster's state as data: what captures hold, what a journal's checkpoint holds, and what a cluster can start from.
 */
import type { ApiObject } from '../meta/object.js';
import type { ObjectKey } from './types.js';

/**
 * Every object of a cluster at one version, exactly as stored: uid, resourceVersion, managedFields and status included. A
 * JSON value.
 */
export interface ClusterState {
  /** The version of the newest write; the next one is one higher. */
  readonly resourceVersion: string;
  /** In any order; definitions of custom kinds among them. */
  readonly objects: readonly ApiObject[];
}

/** An object and where it stands. */
export interface PlacedObject {
  readonly key: ObjectKey;
  /** Deep-frozen, as everything in the store is. */
  readonly object: ApiObject;
}
