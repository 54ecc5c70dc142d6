/**
 * Runs a test under many orders of events. In a real cluster informers receive changes at different times, workers run in
 * any order, writes conflict and connections break. Each seed is one reproducible order.
 */
import { refuseUnknownOptions } from '../util/options.js';
import { conflicting } from './faults/request-faults.js';
import { cuttingStreams, reorderingDeliveries } from './faults/watch-faults.js';
import { type RequestLog, recordRequests } from './request-log.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';
import { freshFork, type TestCluster } from './test-cluster.js';

export interface InterleavingOptions {
  /** The number of runs, with the seeds 1, 2, 3, …; or a list of seeds. Defaults to 50. */
  readonly seeds?: number | readonly number[] | undefined;
  /** Runs this seed only, to reproduce a failure. */
  readonly seed?: number | undefined;
  /** The fraction of updates that fail with a conflict, from 0 to 1. Defaults to none. */
  readonly conflicts?: number | undefined;
  /** The fraction of watches that end after a few events, from 0 to 1. Defaults to none. */
  readonly cuts?: number | undefined;
}

/** The context of one run. */
export interface Interleaving {
  readonly seed: number;
  /** A random source for the test itself. */
  readonly random: SeededRandom;
  /** The writes of this run; the error message contains its trace if the run fails. */
  readonly log: RequestLog;
}

/** The failure of one seed. */
export interface SeedFailure {
  readonly seed: number;
  readonly error: unknown;
  /** The writes up to the failure. */
  readonly trace: string;
}

/**
 * Thrown by {@link interleavings}. The cause is the error of the first failed seed. It is not an AggregateError, because
 * test runners print only the parts of those, without the seed.
 */
export class InterleavingError extends Error {
  override readonly name = 'InterleavingError';
  readonly failures: readonly SeedFailure[];
  /** The first seed that failed. */
  readonly seed: number;

  constructor(failures: readonly [SeedFailure, ...SeedFailure[]], ran: number) {
    super(messageOf(failures, ran), { cause: failures[0].error });
    this.failures = failures;
    this.seed = failures[0].seed;
  }
}

/** Runs stop after this many failures. */
const MOST_FAILURES = 3;
const DEFAULT_SEEDS = 50;
const MOST_EVENTS_BEFORE_CUT = 5;
/** Offsets that give each fault its own random sequence; otherwise all faults would strike together. */
const CONFLICTS = 1_000_003;
const CUTS = 2_000_003;

/**
 * Runs a test once for each seed, each time on a fresh fork of the cluster (or on the cluster that the function creates).
 * Each seed randomises when watches receive changes and in which order controllers work; conflicts and broken streams are
 * optional. Rejects with {@link InterleavingError}, which lists the failed seeds and the trace of the first.
 *
 * @example
 * await interleavings(cluster, async (fork) => {
 *   await fork.api(ConfigMap).create({ metadata: { name: 'a' } });
 *   await fork.settle();
 * }, { seeds: 20, conflicts: 0.1 });
 */
export async function interleavings(
  from: TestCluster | ((options: { readonly seed: number }) => TestCluster | Promise<TestCluster>),
  run: (cluster: TestCluster, interleaving: Interleaving) => unknown,
  options: InterleavingOptions = {},
): Promise<void> {
  const seeds = seedsOf(options);
  // All runs, also a run of a single seed, must start from the same state, so no work may be pending.
  if (typeof from !== 'function') await from.settle();
  const failures: SeedFailure[] = [];
  let ran = 0;
  for (const seed of seeds) {
    ran++;
    const failure = await runSeed({ from, run, options, seed });
    if (failure !== undefined) failures.push(failure);
    if (failures.length >= MOST_FAILURES) break;
  }
  const [first, ...rest] = failures;
  if (first !== undefined) throw new InterleavingError([first, ...rest], ran);
}

const OPTIONS = ['seeds', 'seed', 'conflicts', 'cuts'] as const satisfies readonly (keyof InterleavingOptions)[];

function seedsOf(options: InterleavingOptions): readonly number[] {
  refuseUnknownOptions('interleavings', options, OPTIONS);
  const { seed, seeds = DEFAULT_SEEDS } = options;
  if (seed !== undefined) return [seed];
  if (typeof seeds !== 'number' && seeds.length > 0) return seeds;
  if (typeof seeds === 'number' && Number.isInteger(seeds) && seeds >= 1)
    return Array.from({ length: seeds }, (_, index) => index + 1);
  throw new TypeError(
    `orchplane: interleavings: seeds is a whole number from 1 on, or a list of seeds, not ${JSON.stringify(seeds)}`,
  );
}

interface SeedRun {
  readonly from: Parameters<typeof interleavings>[0];
  readonly run: Parameters<typeof interleavings>[1];
  readonly options: InterleavingOptions;
  readonly seed: number;
}

async function runSeed({ from, run, options, seed }: SeedRun): Promise<SeedFailure | undefined> {
  const cluster = typeof from === 'function' ? await from({ seed }) : freshFork(from, { seed });
  const log = recordRequests(cluster, { verb: 'write' });
  const random = seededRandom(seed);
  const faults = [
    ...(options.conflicts === undefined ? [] : [conflicting({ rate: options.conflicts, seed: seed + CONFLICTS })]),
    ...(options.cuts === undefined
      ? []
      : [
          cuttingStreams(
            { rate: options.cuts, seed: seed + CUTS },
            { afterEvents: random.below(MOST_EVENTS_BEFORE_CUT) + 1 },
          ),
        ]),
    reorderingDeliveries({}, { seed }),
  ];
  const removals = faults.map((fault) => cluster.use(fault));
  try {
    await run(cluster, { seed, random, log });
    return undefined;
  } catch (error) {
    return { seed, error, trace: log.trace() };
  } finally {
    for (const remove of removals) remove();
    log.close();
    await cluster.close();
  }
}

function messageOf(failures: readonly [SeedFailure, ...SeedFailure[]], ran: number): string {
  const [{ seed, error, trace }] = failures;
  const list = failures.map((failure) => failure.seed).join(', ');
  const stopped = failures.length >= MOST_FAILURES ? `; stopped after ${failures.length} failures` : '';
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return [
    `${failures.length} of ${ran} seeds failed: ${list}${stopped}`,
    `seed ${seed}: ${what}`,
    `run it alone with { seed: ${seed} }`,
    `writes of seed ${seed}:`,
    ...(trace === '' ? ['  (none)'] : trace.split('\n').map((line) => `  ${line}`)),
  ].join('\n');
}
