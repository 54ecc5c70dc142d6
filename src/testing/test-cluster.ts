/**
 * The production cluster with a clock and identities that a test owns. There is no fake implementation to diverge.
 */
import type { ClusterOptions, ForkOptions } from '../cluster-options.js';
import { createCluster, type FullCluster } from '../full-cluster.js';
import { type FakeClock, fakeClock } from './fake-clock.js';
import { sequentialIds } from './sequential-ids.js';

export interface TestCluster extends FullCluster {
  readonly clock: FakeClock;
  /** A fork lives by the same clock unless it is given one. */
  fork(options?: ForkOptions & { readonly clock?: FakeClock }): TestCluster;
}

/** Everything but the clock, which is the test's. */
export type TestClusterOptions = Omit<ClusterOptions, 'clock'>;

/**
 * @example
 * const cluster = testCluster();
 * await cluster.clock.advance(60_000);
 */
export function testCluster(options: TestClusterOptions = {}): TestCluster {
  const cluster = createCluster({ ids: sequentialIds(), ...options, clock: fakeClock() });
  return cluster as TestCluster;
}
