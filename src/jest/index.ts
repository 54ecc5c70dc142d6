/**
 * orchplane/jest: a `test` function with a cluster for each test, and the orchplane matchers on `expect` of jest. Importing
 * the module registers the matchers, and declares them for `@jest/globals` and for the global `expect` of `@types/jest`.
 */
import { expect, test as jestTest } from '@jest/globals';
import {
  type ClusterTestFunction,
  type ClusterTestOptions,
  clusterTestFunction,
  type DeclareTest,
} from '../testing/cluster-fixture.js';
import { matchers, type SnapshotMatchers, traceText } from '../testing/matchers/index.js';

export type {
  ClusterFixtures,
  ClusterTestFunction,
  ClusterTestOptions,
  DeclareClusterTest,
  SeededTest,
} from '../testing/cluster-fixture.js';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>> extends SnapshotMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R> extends SnapshotMatchers<R> {}
  }
}

expect.extend({
  ...matchers,
  toMatchTrace(received: unknown, expected?: string) {
    if (expected !== undefined) return matchers.toMatchTrace(received, expected);
    // Throws for a mismatch.
    expect(traceText(received)).toMatchSnapshot();
    return { pass: true, message: () => 'the trace matches the snapshot; .not needs a text' };
  },
});

/** A function with a parameter would be given a callback. */
const declareWith =
  (test: (name: string, run: () => Promise<void>, timeoutMs?: number) => void): DeclareTest<object> =>
  (name, run, timeoutMs) =>
    test(name, () => run({}), timeoutMs);

/**
 * Creates a `test` function whose clusters start from a seed of your choice.
 *
 * @example
 * const test = clusterTest({ seed: (cluster) => cluster.applyYaml('{apiVersion: v1, kind: Namespace, metadata: {name: a}}') });
 */
export function clusterTest(options: ClusterTestOptions = {}): ClusterTestFunction<object> {
  const { only, skip } = jestTest;
  return clusterTestFunction(options, {
    test: declareWith(jestTest),
    only: declareWith(only),
    skip: declareWith(skip),
  });
}

/** The `test` function with a new, unseeded cluster for each test. */
export const test: ClusterTestFunction<object> = clusterTest();
