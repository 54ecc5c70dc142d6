/**
 * Checks the argument of `cluster.at`.
 */
import { errors } from '../meta/errors.js';
import type { Store } from '../storage/store.js';

/** Throws TypeError for a malformed version, RangeError for a future one, Expired for one that is no longer kept. */
export function pastRevision(store: Store, resourceVersion: unknown): number {
  if (typeof resourceVersion !== 'string' || !/^[1-9]\d*$/.test(resourceVersion)) {
    const got = typeof resourceVersion === 'string' ? JSON.stringify(resourceVersion) : String(resourceVersion);
    throw new TypeError(`orchplane: at takes a version as objects have it, such as '12', got ${got}`);
  }
  const revision = Number(resourceVersion);
  if (revision > store.revision) {
    throw new RangeError(
      `orchplane: at: version ${resourceVersion} is yet to come, the newest one is ${store.revision}`,
    );
  }
  const oldest = store.oldestKept();
  if (revision >= oldest) return revision;
  const why =
    store.firstRevision === oldest
      ? `this cluster begins with version ${oldest}, and what was before it was never known here`
      : `the oldest that is remembered is ${oldest}; createCluster({ storage: memoryStorage({ keepHistory: … }) }) keeps more`;
  throw errors.expired(`version ${resourceVersion} is forgotten: ${why}`);
}
