/**
 * orchplane/vitest: a `test` function with a cluster for each test, and the orchplane matchers on `expect`. Importing the
 * module registers the matchers.
 */
import { test as base, expect, Snapshots, type TestAPI } from 'vitest';
import { type ClusterTestOptions, clusterSource, runSeeds, type SeededTest } from '../testing/cluster-fixture.js';
import type { InterleavingOptions } from '../testing/interleavings.js';
import { matchers, type SnapshotMatchers, traceText } from '../testing/matchers/index.js';
import type { TestCluster } from '../testing/test-cluster.js';

export type { ClusterFixtures, ClusterTestOptions, SeededTest } from '../testing/cluster-fixture.js';

/** The `test` function of vitest with a `cluster` fixture. */
export interface ClusterTest extends TestAPI<{ cluster: TestCluster }> {
  /**
   * Runs a test once for each seed, each time on its own cluster in which events arrive in another order.
   *
   * @example
   * test.seeds(20)('survives any order', async ({ cluster }) => { await cluster.settle(); });
   */
  seeds(seeds?: number | InterleavingOptions): SeededTest;
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the parameter has to be declared as vitest declares it
  interface Matchers<T = any> extends SnapshotMatchers {}
}

expect.extend({
  ...matchers,
  toMatchTrace(received: unknown, expected?: string) {
    if (expected !== undefined) return matchers.toMatchTrace(received, expected);
    return Snapshots.toMatchSnapshot.call(this, traceText(received));
  },
});

/**
 * Creates a `test` function whose clusters start from a seed of your choice.
 *
 * @example
 * const test = clusterTest({ seed: (cluster) => cluster.applyYaml('{apiVersion: v1, kind: Namespace, metadata: {name: a}}') });
 */
export function clusterTest(options: ClusterTestOptions = {}): ClusterTest {
  const open = clusterSource(options);
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are wanted
  const withCluster = base.extend('cluster', async ({}, { onCleanup }) => {
    const cluster = await open();
    onCleanup(() => cluster.close());
    return cluster;
  });
  const seeds =
    (wanted: number | InterleavingOptions = {}): SeededTest =>
    (name, test, timeoutMs) => {
      withCluster(name, ({ cluster }) => runSeeds(cluster, wanted, test), timeoutMs);
    };
  return Object.assign(withCluster as TestAPI<{ cluster: TestCluster }>, { seeds });
}

/**
 * The `test` function with a new, unseeded cluster for each test.
 *
 * @example
 * test('a config map can be found', async ({ cluster }) => {
 *   await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
 * });
 */
export const test: ClusterTest = clusterTest();
