/**
 * A real cluster with a clock and identifiers that the test controls, and forks of it for single tests.
 */

import { createCluster, type FullCluster } from '../cluster/full-cluster.js';
import type { ClusterOptions, ForkOptions } from '../cluster/options.js';
import type { DialectName } from '../meta/dialect.js';
import { memoryStorage } from '../storage/memory-storage.js';
import type { ClusterState } from '../storage/state.js';
import type { Ids } from '../util/ids.js';
import { type FakeClock, fakeClock } from './fake-clock.js';
import { isSequential, sequentialIdsAfter } from './sequential-ids.js';

export interface TestCluster extends FullCluster {
  readonly clock: FakeClock;
  /** A fork uses the same clock unless the options contain another one. */
  fork(options?: ForkOptions & { readonly clock?: FakeClock }): TestCluster;
  /** A cluster at an earlier version has its own clock, set to the time of that version's write. */
  at(resourceVersion: string, options?: ForkOptions & { readonly clock?: FakeClock }): TestCluster;
}

/**
 * The options of `createCluster` without the clock. The environment variable ORCHPLANE_DIALECT sets the default of
 * `dialect` for all tests of a project.
 */
export interface TestClusterOptions extends Omit<ClusterOptions, 'clock'> {
  /** The start time in milliseconds since the epoch. Defaults to 2030-01-01T00:00:00Z. */
  readonly now?: number | undefined;
  /** Randomises the order of simultaneous events; see {@link fakeClock}. */
  readonly seed?: number | undefined;
}

/** The number of events per resource that `history` and `at` can access; watches expire as on any cluster. */
const KEPT_EVENTS = 100_000;

/**
 * Creates a cluster for tests. It keeps a longer history than other clusters, for `cluster.history` and `cluster.at`.
 *
 * @example
 * const cluster = testCluster();
 * await cluster.clock.advance(60_000);
 */
export function testCluster({ now, seed, ...options }: TestClusterOptions = {}): TestCluster {
  // For JavaScript callers, who have no type checker.
  if ('clock' in options) {
    throw new TypeError('orchplane: testCluster has a clock of its own: give it `now`, or a clock to createCluster');
  }
  const clock = fakeClock({ now, seed });
  const storage = { keepEvents: KEPT_EVENTS, ...(options.storage ?? memoryStorage()) };
  const dialect = options.dialect ?? projectDialect();
  const cluster = createCluster({ ids: idsAfter(options.from), ...options, dialect, storage, clock });
  return cluster as TestCluster;
}

/** The dialect of the project; undefined in a browser. */
function projectDialect(): DialectName | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  const name = process?.env?.['ORCHPLANE_DIALECT'] || undefined;
  if (name === undefined || name === 'orch' || name === 'kubernetes') return name;
  throw new TypeError(`orchplane: ORCHPLANE_DIALECT is "${name}"; there are orch and kubernetes`);
}

/** Continues after the identifiers of a state, which may come from another test cluster. */
function idsAfter(state: ClusterState | undefined): Ids {
  const objects = Array.isArray(state?.objects) ? state.objects : [];
  return sequentialIdsAfter(objects.map((object) => String(object?.metadata?.uid)));
}

export interface FreshForkOptions {
  /** Randomises the order of simultaneous events; see `fakeClock`. */
  readonly seed?: number | undefined;
}

/**
 * A fork for one test with its own clock, which starts at the cluster's time, and identifiers that continue the cluster's.
 * A test therefore sees the same times, uids and names regardless of other tests. Takes microseconds.
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
