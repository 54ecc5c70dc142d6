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
export interface TestClusterOptions extends Omit<ClusterOptions, 'clock'> {
  /** The time at which it starts, in milliseconds since the epoch; the first moment of 2030 unless given. */
  readonly now?: number | undefined;
}

/**
 * @example
 * const cluster = testCluster();
 * await cluster.clock.advance(60_000);
 */
export function testCluster({ now, ...options }: TestClusterOptions = {}): TestCluster {
  const clock = fakeClock(now === undefined ? {} : { now });
  const cluster = createCluster({ ids: sequentialIds(), ...options, clock });
  return cluster as TestCluster;
}
