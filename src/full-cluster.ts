/**
 * createCluster() with every built-in kind at hand.
 */
import type { Cluster, ClusterOptions } from './cluster.js';
import { assembleCluster } from './cluster.js';
import { builtInKinds } from './kinds/index.js';

/**
 * Makes a cluster: default namespaces, all built-in kinds, nothing to wait for.
 *
 * @example
 * const cluster = createCluster();
 * await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { size: 'm' } });
 */
export function createCluster(options: ClusterOptions = {}): Cluster {
  return assembleCluster(options, builtInKinds);
}
