/**
 * The plugins of a cluster that have something to do at the moment: see `admission/asleep.ts`.
 */
import { requiredResources } from '../admission/idle.js';
import type { AdmissionPlugin } from '../admission/types.js';
import type { Dialect } from '../meta/dialect.js';
import { qualifiedResource } from '../meta/gvk.js';
import type { Mark, Store } from '../storage/store.js';

/** The plugins of a cluster. */
export interface Plugins {
  readonly all: readonly AdmissionPlugin[];
  /**
   * Those that have something to do. Asked with every request: the same list for the same plugins, so that what is worked
   * out for a list stays known.
   */
  readonly awake: () => readonly AdmissionPlugin[];
}

/** Of what was admitted already, or is the server's own doing. */
export const NO_PLUGINS: Plugins = Object.freeze({ all: Object.freeze([]), awake: () => NO_PLUGINS.all });

interface Sleeper {
  readonly plugin: AdmissionPlugin;
  /** The tables without whose objects it sleeps. */
  readonly tables: readonly string[];
}

export function pluginsOf(chain: readonly AdmissionPlugin[], store: Store, dialect: Dialect): Plugins {
  const sleepers = chain.flatMap((plugin): readonly Sleeper[] => {
    const tables = requiredResources(plugin)?.map(({ group, resource }) =>
      qualifiedResource({ group: dialect.group(group), resource }),
    );
    return tables === undefined ? [] : [{ plugin, tables }];
  });
  // Plugins of users may write while they are asked, and wake others that come after them.
  const areOurs = chain.every((plugin) => plugin.isBuiltIn === true || requiredResources(plugin) !== undefined);
  if (sleepers.length === 0 || !areOurs) return { all: chain, awake: () => chain };
  const mark: Mark = store.markOf(sleepers.flatMap(({ tables }) => tables));
  let seen = -1;
  let awake: readonly AdmissionPlugin[] = chain;
  return {
    all: chain,
    awake: () => {
      if (mark.value === seen) return awake;
      seen = mark.value;
      const asleep = sleepers.filter(({ tables }) => tables.every((table) => store.count(table) === 0));
      awake = without(
        chain,
        asleep.map(({ plugin }) => plugin),
      );
      return awake;
    },
  };
}

/** By chain, and by who is asleep. Clusters of one chain share them. */
const lists = new WeakMap<readonly AdmissionPlugin[], Map<string, readonly AdmissionPlugin[]>>();

function without(chain: readonly AdmissionPlugin[], asleep: readonly AdmissionPlugin[]): readonly AdmissionPlugin[] {
  if (asleep.length === 0) return chain;
  let known = lists.get(chain);
  if (known === undefined) {
    known = new Map();
    lists.set(chain, known);
  }
  const places = asleep.map((plugin) => chain.indexOf(plugin)).join();
  let list = known.get(places);
  if (list === undefined) {
    list = chain.filter((plugin) => !asleep.includes(plugin));
    known.set(places, list);
  }
  return list;
}
