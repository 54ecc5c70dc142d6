/**
 * The fixture: a cluster is seeded once, and every test gets a fork of it with a clock and identities of its
 * own. What a test does, no other test sees, in whatever order they run.
 */
import { test as base, type TestAPI } from 'vitest';
import type { Controller } from '../controllers/runtime/controller.js';
import { controllers as companion } from '../controllers/runtime/run.js';
import { freshFork } from '../testing/fresh-fork.js';
import { type Interleaving, type InterleavingOptions, interleavings } from '../testing/interleavings.js';
import { type TestCluster, type TestClusterOptions, testCluster } from '../testing/test-cluster.js';
import { refuseUnknownOptions } from '../util/options.js';

export interface ClusterTestOptions {
  /** Fills the cluster that all tests start from; called once, by the first of them, and settled afterwards. */
  readonly seed?: ((cluster: TestCluster) => unknown) | undefined;
  /** Those that run beside the cluster, in every test. */
  readonly controllers?: readonly Controller[] | undefined;
  /** As for `testCluster`. */
  readonly options?: TestClusterOptions | undefined;
}

export interface ClusterFixtures {
  /** This test's own. */
  readonly cluster: TestCluster;
}

/** A test that runs under many orders of events; see `interleavings`. */
export type SeededTest = (
  name: string,
  run: (context: ClusterFixtures & Interleaving) => unknown,
  timeoutMs?: number,
) => void;

/** The `test` of vitest with a cluster. */
export interface ClusterTest extends TestAPI<{ cluster: TestCluster }> {
  /**
   * Runs a test once for each seed, each time on a cluster of its own in which events come in another order.
   *
   * @example
   * test.seeds(20)('survives any order', async ({ cluster }) => { await cluster.settle(); });
   */
  seeds(seeds?: number | InterleavingOptions): SeededTest;
}

/** Below the limit of a test, whose own error would not say who is busy. */
const SETTLE_MS = 4_000;

const OPTIONS = ['seed', 'controllers', 'options'] as const satisfies readonly (keyof ClusterTestOptions)[];

/**
 * A `test` whose `cluster` is seeded as you like.
 *
 * @example
 * const test = clusterTest({ seed: (cluster) => cluster.applyYaml('{apiVersion: v1, kind: Namespace, metadata: {name: a}}') });
 */
export function clusterTest(given: ClusterTestOptions = {}): ClusterTest {
  refuseUnknownOptions('clusterTest', given, OPTIONS);
  const { seed, controllers, options = {} } = given;
  if (controllers !== undefined && options.controllers !== undefined)
    throw new TypeError('orchplane: clusterTest: controllers are given either as controllers or in options');
  const run = controllers === undefined ? {} : { controllers: companion(controllers) };

  /** Made by the first test that wants it. It has no timers and no watches of its own, so nobody has to end it. */
  let seeded: Promise<TestCluster> | undefined;
  async function makeSeeded(): Promise<TestCluster> {
    const cluster = testCluster({ ...options, ...run });
    await seed?.(cluster);
    await cluster.settle({ timeoutMs: SETTLE_MS });
    return cluster;
  }
  const isRun = controllers !== undefined || options.controllers !== undefined;

  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are wanted
  const withCluster = base.extend('cluster', async ({}, { onCleanup }) => {
    seeded ??= makeSeeded();
    const cluster = freshFork(await seeded);
    onCleanup(() => cluster.close());
    // Controllers look at everything once when they start. A test begins when they have.
    if (isRun) await cluster.settle({ timeoutMs: SETTLE_MS });
    return cluster;
  });

  const seeds =
    (wanted: number | InterleavingOptions = {}): SeededTest =>
    (name, test, timeoutMs) => {
      const interleaving = typeof wanted === 'number' ? { seeds: wanted } : wanted;
      withCluster(
        name,
        ({ cluster }) => interleavings(cluster, (fork, story) => test({ cluster: fork, ...story }), interleaving),
        timeoutMs,
      );
    };
  return Object.assign(withCluster as TestAPI<{ cluster: TestCluster }>, { seeds });
}

/**
 * Each test that asks for `cluster` gets one with everything that a new cluster has.
 *
 * @example
 * test('a config map can be found', async ({ cluster }) => {
 *   await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
 * });
 */
export const test: ClusterTest = clusterTest();
