/**
 * orchplane/vitest: a `test` function with a cluster for each test, and the orchplane matchers on `expect`. Importing the
 * module registers the matchers.
 *
 * A cluster is seeded once. Each test gets a fork of it with its own clock and identifiers, so tests do not see each
 * other's changes.
 */
import { test as base, expect, Snapshots, type TestAPI } from 'vitest';
import type { Controller } from '../controllers/runtime/controller.js';
import { controllers as controllerStarter } from '../controllers/runtime/run.js';
import { type Interleaving, type InterleavingOptions, interleavings } from '../testing/interleavings.js';
import { matchers, type SnapshotMatchers, traceText } from '../testing/matchers/index.js';
import { freshFork, type TestCluster, type TestClusterOptions, testCluster } from '../testing/test-cluster.js';
import { refuseUnknownOptions } from '../util/options.js';

export interface ClusterTestOptions {
  /** Fills the cluster that all tests start from. The first test calls it once and then waits until the cluster is idle. */
  readonly seed?: ((cluster: TestCluster) => unknown) | undefined;
  /** The controllers that run in every test. */
  readonly controllers?: readonly Controller[] | undefined;
  /** The options of `testCluster`. */
  readonly options?: TestClusterOptions | undefined;
}

export interface ClusterFixtures {
  /** The cluster of this test. */
  readonly cluster: TestCluster;
}

/** A test that runs under many orders of events; see `interleavings`. */
export type SeededTest = (
  name: string,
  run: (context: ClusterFixtures & Interleaving) => unknown,
  timeoutMs?: number,
) => void;

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

/** Below vitest's test timeout, whose error would not name the busy controller. */
const SETTLE_MS = 4_000;

const OPTIONS = ['seed', 'controllers', 'options'] as const satisfies readonly (keyof ClusterTestOptions)[];

/**
 * Creates a `test` function whose clusters start from a seed of your choice.
 *
 * @example
 * const test = clusterTest({ seed: (cluster) => cluster.applyYaml('{apiVersion: v1, kind: Namespace, metadata: {name: a}}') });
 */
export function clusterTest(given: ClusterTestOptions = {}): ClusterTest {
  refuseUnknownOptions('clusterTest', given, OPTIONS);
  const { seed, controllers, options = {} } = given;
  if (controllers !== undefined && options.controllers !== undefined)
    throw new TypeError('orchplane: clusterTest: controllers are given either as controllers or in options');
  const run = controllers === undefined ? {} : { controllers: controllerStarter(controllers) };

  /** Created by the first test that needs it. It has no timers or watches, so it need not be closed. */
  let seeded: Promise<TestCluster> | undefined;
  async function makeSeeded(): Promise<TestCluster> {
    const cluster = testCluster({ ...options, ...run });
    await seed?.(cluster);
    await cluster.settle({ timeoutMs: SETTLE_MS });
    return cluster;
  }
  const hasControllers = controllers !== undefined || options.controllers !== undefined;

  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are wanted
  const withCluster = base.extend('cluster', async ({}, { onCleanup }) => {
    seeded ??= makeSeeded();
    const cluster = freshFork(await seeded);
    onCleanup(() => cluster.close());
    // Controllers reconcile all objects when they start; the test begins after that.
    if (hasControllers) await cluster.settle({ timeoutMs: SETTLE_MS });
    return cluster;
  });

  const seeds =
    (wanted: number | InterleavingOptions = {}): SeededTest =>
    (name, test, timeoutMs) => {
      const options = typeof wanted === 'number' ? { seeds: wanted } : wanted;
      withCluster(
        name,
        ({ cluster }) =>
          interleavings(cluster, (fork, interleaving) => test({ cluster: fork, ...interleaving }), options),
        timeoutMs,
      );
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
