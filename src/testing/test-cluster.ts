/**
 * The production cluster with a clock and identities that a test owns. There is no fake implementation to diverge.
 */

import { createCluster, type FullCluster } from '../cluster/full-cluster.js';
import type { ClusterOptions, ForkOptions } from '../cluster/options.js';
import { memoryStorage } from '../storage/memory-storage.js';
import type { ClusterState } from '../storage/state.js';
import type { Ids } from '../util/ids.js';
import { type FakeClock, fakeClock } from './fake-clock.js';
import { isSequential, sequentialIdsAfter } from './sequential-ids.js';

export interface TestCluster extends FullCluster {
  readonly clock: FakeClock;
  /** A fork lives by the same clock unless it is given one. */
  fork(options?: ForkOptions & { readonly clock?: FakeClock }): TestCluster;
  /** A cluster of the past has a clock of its own, which stands at the time of the version's write. */
  at(resourceVersion: string, options?: ForkOptions & { readonly clock?: FakeClock }): TestCluster;
}

/** Everything but the clock, which is the test's. */
export interface TestClusterOptions extends Omit<ClusterOptions, 'clock'> {
  /** The time at which it starts, in milliseconds since the epoch; the first moment of 2030 unless given. */
  readonly now?: number | undefined;
  /** Mixes up what happens in one moment, as this number decides; see {@link fakeClock}. */
  readonly seed?: number | undefined;
}

/** Events per resource that `history` and `at` reach; watches expire as on any cluster. */
const KEPT_EVENTS = 100_000;

/**
 * It remembers much more than other clusters: see `cluster.history` and `cluster.at`.
 *
 * @example
 * const cluster = testCluster();
 * await cluster.clock.advance(60_000);
 */
export function testCluster({ now, seed, ...options }: TestClusterOptions = {}): TestCluster {
  // The types say so; a test in plain JavaScript would wonder why its time stands still.
  if ('clock' in options) {
    throw new TypeError('orchplane: testCluster has a clock of its own: give it `now`, or a clock to createCluster');
  }
  const clock = fakeClock({ now, seed });
  const storage = { keepEvents: KEPT_EVENTS, ...(options.storage ?? memoryStorage()) };
  const cluster = createCluster({ ids: idsAfter(options.from), ...options, storage, clock });
  return cluster as TestCluster;
}

/** A state may come from a test cluster, whose identities count as well. */
function idsAfter(state: ClusterState | undefined): Ids {
  const objects = Array.isArray(state?.objects) ? state.objects : [];
  return sequentialIdsAfter(objects.map((object) => String(object?.metadata?.uid)));
}

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
