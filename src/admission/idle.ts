/**
 * Idle plugins: a plugin that depends on objects of some resources (webhook configurations, policy bindings) is skipped
 * while the cluster holds none. Most clusters hold none, so this saves time on nearly every write.
 */
import type { GroupResource } from '../meta/gvk.js';
import type { AdmissionPlugin } from './types.js';

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
