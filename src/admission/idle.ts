/**
 * Idle plugins: a plugin that depends on objects of some resources (webhook configurations, policy bindings) is skipped
 * while the cluster holds none. Most clusters hold none, so this saves time on nearly every write.
 */
import type { GroupResource } from '../meta/gvk.js';
import type { AdmissionPlugin, ClusterView } from './types.js';

/** Keyed by plugin object, not by a member: a user's modified copy of a built-in plugin is never skipped. */
const requirements = new WeakMap<AdmissionPlugin, readonly GroupResource[]>();

/** Freezes the plugin and marks it idle while no object of these resources exists. */
export function idleWithout(resources: readonly GroupResource[], plugin: AdmissionPlugin): AdmissionPlugin {
  requirements.set(plugin, resources);
  return Object.freeze(plugin);
}

/** The resources without which the plugin is idle; undefined if it is never idle. */
export function requiredResources(plugin: AdmissionPlugin): readonly GroupResource[] | undefined {
  return requirements.get(plugin);
}

/**
 * Wraps a function that reads objects of some resources: it reads again only after one of them changed.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function cacheUntilChanged<View extends Pick<ClusterView, 'lastChange'>, Value>(
  resources: readonly GroupResource[],
  read: (view: View) => Value,
): (view: View) => Value {
  const cache = new WeakMap<View, { readonly changes: number; readonly value: Value }>();
  return (view) => {
    // Changes of all resources are numbered by the same counter.
    let changes = 0;
    for (const resource of resources) changes = Math.max(changes, view.lastChange(resource));
    let cached = cache.get(view);
    if (cached?.changes !== changes) {
      cached = { changes, value: read(view) };
      cache.set(view, cached);
    }
    return cached.value;
  };
}
