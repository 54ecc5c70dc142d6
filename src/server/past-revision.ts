/**
 * Checks the argument of `cluster.at`.
 */
import { errors } from '../meta/errors.js';
import type { Store } from '../storage/store.js';

/** Throws TypeError for a malformed version, RangeError for a future one, Expired for one that is no longer kept. */
export function pastRevision(store: Store, resourceVersion: unknown): number {
  if (typeof resourceVersion !== 'string' || !/^[1-9]\d*$/.test(resourceVersion)) {
    const got = typeof resourceVersion === 'string' ? JSON.stringify(resourceVersion) : String(resourceVersion);
    throw new TypeError(`orchplane: at takes a resourceVersion such as '12', got ${got}`);
  }
  const revision = Number(resourceVersion);
  if (revision > store.revision) {
    throw new RangeError(`orchplane: at: version ${resourceVersion} is in the future, the newest is ${store.revision}`);
  }
  const oldest = store.oldestRevision();
  if (revision >= oldest) return revision;
  const why =
    store.firstRevision === oldest
      ? `this cluster starts at version ${oldest}`
      : `the oldest kept version is ${oldest}; createCluster({ storage: memoryStorage({ keepHistory: … }) }) keeps more`;
  throw errors.expired(`version ${resourceVersion} is no longer kept: ${why}`);
}
