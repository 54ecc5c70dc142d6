/**
 * The admission plugins of a cluster, without the idle ones: see `admission/idle.ts`.
 */
import { requiredResources } from '../admission/idle.js';
import type { AdmissionPlugin } from '../admission/types.js';
import type { Dialect } from '../meta/dialect.js';
import { qualifiedResource } from '../meta/gvk.js';
import type { ChangeCounter } from '../storage/changes.js';
import type { Store } from '../storage/store.js';
import { getOrInsertComputed } from '../util/once.js';

/** The plugins of a cluster. */
export interface Plugins {
  readonly all: readonly AdmissionPlugin[];
  /** The plugins that are not idle. Returns the same list for the same plugins, so results can be cached by list. */
  readonly active: () => readonly AdmissionPlugin[];
}

/** For writes that were admitted already, and for writes of the server itself. */
export const NO_PLUGINS: Plugins = Object.freeze({ all: Object.freeze([]), active: () => NO_PLUGINS.all });

interface IdlePlugin {
  readonly plugin: AdmissionPlugin;
  /** The plugin is idle while all of these tables are empty. */
  readonly tables: readonly string[];
}

export function pluginsOf(chain: readonly AdmissionPlugin[], store: Store, dialect: Dialect): Plugins {
  const mayBeIdle = chain.flatMap((plugin): readonly IdlePlugin[] => {
    const tables = requiredResources(plugin)?.map(({ group, resource }) =>
      qualifiedResource({ group: dialect.group(group), resource }),
    );
    return tables === undefined ? [] : [{ plugin, tables }];
  });
  // A plugin of a user may write objects during a request, so that a later plugin is no longer idle.
  const areBuiltIn = chain.every((plugin) => plugin.isBuiltIn === true || requiredResources(plugin) !== undefined);
  if (mayBeIdle.length === 0 || !areBuiltIn) return { all: chain, active: () => chain };
  const changes: ChangeCounter = store.changes.counterOf(mayBeIdle.flatMap(({ tables }) => tables));
  let seen = -1;
  let active: readonly AdmissionPlugin[] = chain;
  return {
    all: chain,
    active: () => {
      if (changes.value === seen) return active;
      seen = changes.value;
      const idle = mayBeIdle.filter(({ tables }) => tables.every((table) => store.count(table) === 0));
      active = withoutIdlePlugins(
        chain,
        idle.map(({ plugin }) => plugin),
      );
      return active;
    },
  };
}

/** By chain and idle plugins. Clusters with the same chain share the lists. */
const lists = new WeakMap<readonly AdmissionPlugin[], Map<string, readonly AdmissionPlugin[]>>();

function withoutIdlePlugins(
  chain: readonly AdmissionPlugin[],
  idle: readonly AdmissionPlugin[],
): readonly AdmissionPlugin[] {
  if (idle.length === 0) return chain;
  const cached = getOrInsertComputed(lists, chain, () => new Map());
  const key = idle.map((plugin) => chain.indexOf(plugin)).join();
  return getOrInsertComputed(cached, key, () => chain.filter((plugin) => !idle.includes(plugin)));
}
