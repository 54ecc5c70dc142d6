/**
 * Runs one test under many orders of events. In a real cluster informers hear of changes at different times, workers take
 * turns as they like, writes collide and connections break; a test that passes once has seen one of these stories. A seed
 * is a story, and the same seed tells the same one again.
 */
import { refuseUnknownOptions } from '../util/options.js';
import { conflicting } from './faults/request-faults.js';
import { cuttingStreams, reorderingDeliveries } from './faults/watch-faults.js';
import { type RequestLog, recordRequests } from './request-log.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';
import type { TestCluster } from './test-cluster.js';
import { freshFork } from './test-cluster.js';

export interface InterleavingOptions {
  /** How many stories, with the seeds 1, 2, 3, …; or which seeds. 50 unless given. */
  readonly seeds?: number | readonly number[] | undefined;
  /** This one alone: what an error tells to give. */
  readonly seed?: number | undefined;
  /** How many updates meet a conflict, from 0 to 1; none unless given. */
  readonly conflicts?: number | undefined;
  /** How many watches break off after a few events, from 0 to 1; none unless given. */
  readonly cuts?: number | undefined;
}

/** What a run knows of its story. */
export interface Interleaving {
  readonly seed: number;
  /** For whatever the test itself leaves to chance. */
  readonly random: SeededRandom;
  /** The writes of this run; its trace is shown when the run fails. */
  readonly log: RequestLog;
}

/** What one seed failed with. */
export interface SeedFailure {
  readonly seed: number;
  readonly error: unknown;
  /** The writes up to the failure. */
  readonly trace: string;
}

/**
 * Thrown by {@link interleavings}. The cause is what the first seed failed with. It is no AggregateError, because runners
 * take those apart and show the parts alone, without the seed.
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

/** So many failures tell enough. */
const MOST_FAILURES = 3;
const DEFAULT_SEEDS = 50;
const MOST_EVENTS_BEFORE_CUT = 5;
/** Faults of one story draw lots of their own, or they would all strike together. */
const CONFLICTS = 1_000_003;
const CUTS = 2_000_003;

/**
 * Runs a test once for each seed, each time on a fresh fork of the cluster (or on what the function makes for the seed).
 * Each seed mixes up when watches hear of changes and in which order controllers do what is due; conflicts and broken
 * streams come on top where they are asked for. Rejects with {@link InterleavingError}, which says which seeds failed, with
 * the trace of the first and how to run it alone.
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
  // All stories begin with the same state, and so does one that is told alone: nobody is still at work on it.
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
