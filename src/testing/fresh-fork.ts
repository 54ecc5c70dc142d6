/**
 * A fork for one test: what was seeded once is there, and nothing that the test does reaches another one.
 */
import { fakeClock } from './fake-clock.js';
import { isSequential } from './sequential-ids.js';
import type { TestCluster } from './test-cluster.js';

export interface FreshForkOptions {
  /** Mixes up what happens in one moment; see `fakeClock`. */
  readonly seed?: number | undefined;
}

/**
 * A fork with a clock of its own, which starts at the cluster's time, and identities that go on from the cluster's: so a
 * test sees the same times, uids and names whichever tests ran before it. Takes microseconds.
 *
 * @example
 * await using cluster = freshFork(seeded);
 */
export function freshFork(cluster: TestCluster, { seed }: FreshForkOptions = {}): TestCluster {
  const { ids } = cluster;
  return cluster.fork({
    clock: fakeClock({ now: cluster.clock.now(), seed: seed ?? cluster.clock.seed }),
    ids: isSequential(ids) ? ids.copy() : ids,
  });
}
