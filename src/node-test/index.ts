/**
 * orchplane/node-test: a `test` function of Node's own test runner with a cluster for each test, and the matchers as
 * `ensure`.
 */
import { test as nodeTest, type TestContext } from 'node:test';
import { type ClusterTestFunction, type ClusterTestOptions, clusterTestFunction } from '../testing/cluster-fixture.js';

export type {
  ClusterFixtures,
  ClusterTestFunction,
  ClusterTestOptions,
  DeclareClusterTest,
  SeededTest,
} from '../testing/cluster-fixture.js';
export { type Ensured, ensure, type OrchplaneMatchers } from '../testing/matchers/index.js';

/** What a test gets besides its cluster. */
export interface NodeTestContext {
  /** The context of the runner, for subtests, hooks and mocks. */
  readonly t: TestContext;
}

const declareWith =
  (option: Readonly<Partial<Record<'only' | 'skip', true>>>) =>
  (name: string, run: (context: NodeTestContext) => Promise<void>, timeout: number | undefined): void => {
    // The runner reports the outcome; its promise never rejects.
    void nodeTest(name, { ...option, ...(timeout === undefined ? {} : { timeout }) }, (t) => run({ t }));
  };

/**
 * Creates a `test` function whose clusters start from a seed of your choice.
 *
 * @example
 * const test = clusterTest({ seed: (cluster) => cluster.applyYaml('{apiVersion: v1, kind: Namespace, metadata: {name: a}}') });
 */
export function clusterTest(options: ClusterTestOptions = {}): ClusterTestFunction<NodeTestContext> {
  return clusterTestFunction(options, {
    test: declareWith({}),
    only: declareWith({ only: true }),
    skip: declareWith({ skip: true }),
  });
}

/**
 * The `test` function with a new, unseeded cluster for each test.
 *
 * @example
 * test('a config map can be found', async ({ cluster }) => {
 *   await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
 * });
 */
export const test: ClusterTestFunction<NodeTestContext> = clusterTest();
