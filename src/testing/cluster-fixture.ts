/**
 * A cluster for each test, for the entries of test runners. It is seeded once; each test gets a fork of it with its own
 * clock and identifiers, so tests do not see each other's changes.
 */
import type { Controller } from '../controllers/runtime/controller.js';
import { controllers as controllerStarter } from '../controllers/runtime/run.js';
import { refuseUnknownOptions } from '../util/options.js';
import { type Interleaving, type InterleavingOptions, interleavings } from './interleavings.js';
import { freshFork, type TestCluster, type TestClusterOptions, testCluster } from './test-cluster.js';

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

/** Below the test timeout of most runners, whose error would not name the busy controller. */
const SETTLE_MS = 4_000;

const OPTIONS = ['seed', 'controllers', 'options'] as const satisfies readonly (keyof ClusterTestOptions)[];

/** Returns a function that creates the cluster of a test. */
export function clusterSource(given: ClusterTestOptions): () => Promise<TestCluster> {
  refuseUnknownOptions('clusterTest', given, OPTIONS);
  const { seed, controllers, options = {} } = given;
  if (controllers !== undefined && options.controllers !== undefined)
    throw new TypeError('orchplane: clusterTest: controllers are given either as controllers or in options');
  const run = controllers === undefined ? {} : { controllers: controllerStarter(controllers) };
  const hasControllers = controllers !== undefined || options.controllers !== undefined;

  /** Created by the first test that needs it. It has no timers or watches, so it need not be closed. */
  let seeded: Promise<TestCluster> | undefined;
  async function makeSeeded(): Promise<TestCluster> {
    const cluster = testCluster({ ...options, ...run });
    await seed?.(cluster);
    await cluster.settle({ timeoutMs: SETTLE_MS });
    return cluster;
  }
  return async () => {
    seeded ??= makeSeeded();
    const cluster = freshFork(await seeded);
    // Controllers reconcile all objects when they start; the test begins after that.
    if (hasControllers) await cluster.settle({ timeoutMs: SETTLE_MS }).catch((error) => closeAndThrow(cluster, error));
    return cluster;
  };
}

async function closeAndThrow(cluster: TestCluster, error: unknown): Promise<never> {
  await cluster.close();
  throw error;
}

/** Runs a test once for each seed, on forks of a cluster. */
export function runSeeds(
  cluster: TestCluster,
  wanted: number | InterleavingOptions,
  run: Parameters<SeededTest>[1],
): Promise<void> {
  const options = typeof wanted === 'number' ? { seeds: wanted } : wanted;
  return interleavings(cluster, (fork, interleaving) => run({ cluster: fork, ...interleaving }), options);
}

/** A `test` function of a runner without fixtures. `Context` is what the runner passes to a test. */
export type DeclareTest<Context extends object> = (
  name: string,
  run: (context: Context) => Promise<void>,
  timeoutMs: number | undefined,
) => void;

/** Declares a test with a cluster of its own. */
export type DeclareClusterTest<Context extends object> = (
  name: string,
  run: (context: ClusterFixtures & Context) => unknown,
  timeoutMs?: number,
) => void;

/** A `test` function that gives each test a cluster and closes it after the test. */
export interface ClusterTestFunction<Context extends object> extends DeclareClusterTest<Context> {
  /** The other tests of the file do not run. */
  readonly only: DeclareClusterTest<Context>;
  readonly skip: DeclareClusterTest<Context>;
  /**
   * Runs a test once for each seed, each time on its own cluster in which events arrive in another order.
   *
   * @example
   * test.seeds(20)('survives any order', async ({ cluster }) => { await cluster.settle(); });
   */
  seeds(seeds?: number | InterleavingOptions): SeededTest;
}

/** Builds the `test` function from those of a runner. */
export function clusterTestFunction<Context extends object>(
  options: ClusterTestOptions,
  runner: Readonly<Record<'test' | 'only' | 'skip', DeclareTest<Context>>>,
): ClusterTestFunction<Context> {
  const open = clusterSource(options);
  const withCluster =
    (declare: DeclareTest<Context>): DeclareClusterTest<Context> =>
    (name, run, timeoutMs) =>
      declare(
        name,
        async (context) => {
          await using cluster = await open();
          await run({ ...context, cluster });
        },
        timeoutMs,
      );
  const test = withCluster(runner.test);
  return Object.assign(test, {
    only: withCluster(runner.only),
    skip: withCluster(runner.skip),
    seeds:
      (seeds: number | InterleavingOptions = {}): SeededTest =>
      (name, run, timeoutMs) =>
        test(name, ({ cluster }) => runSeeds(cluster, seeds, run), timeoutMs),
  });
}
