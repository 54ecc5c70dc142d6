/**
 * Plugins that have nothing to do as long as there are no objects of some resources: webhooks without configurations,
 * policies without bindings. They are not asked then, which every write of nearly every cluster is better off for.
 */
import type { GroupResource } from '../meta/gvk.js';
import type { AdmissionPlugin } from './types.js';

/** By the very plugin, not by a member of it: what somebody makes of a copy of one of ours is asked like any other. */
const needs = new WeakMap<AdmissionPlugin, readonly GroupResource[]>();

/** The plugin, frozen, which sleeps as long as there is no object of these resources. */
export function asleepWithout(resources: readonly GroupResource[], plugin: AdmissionPlugin): AdmissionPlugin {
  needs.set(plugin, resources);
  return Object.freeze(plugin);
}

/** What a plugin sleeps without; undefined: it never does. */
export function neededBy(plugin: AdmissionPlugin): readonly GroupResource[] | undefined {
  return needs.get(plugin);
}
