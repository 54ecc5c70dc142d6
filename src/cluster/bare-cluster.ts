/**
 * createCluster() without built-in kinds.
 */
import { assembleCluster, type Cluster } from './cluster.js';
import type { ClusterOptions } from './options.js';

/**
 * Makes a cluster that serves Namespace and the kinds it is given; more can be installed later.
 *
 * @example
 * const cluster = createCluster({ kinds: [ConfigMap] });
 */
export function createCluster(options: ClusterOptions = {}): Cluster {
  return assembleCluster(options, {});
}
