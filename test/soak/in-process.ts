/**
 * The part of a soak run inside the process: rounds with faults, forks, snapshots and past states. A round depends on its
 * seed only.
 */
import { isDeepStrictEqual } from 'node:util';
import { errors, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import {
  captureJson,
  conflicting,
  cuttingStreams,
  delaying,
  droppingResponses,
  expiringWatches,
  failing,
  flaky,
  reorderingDeliveries,
  type SeededRandom,
  seededRandom,
  type TestCluster,
  testCluster,
} from 'orchplane/testing';
import { Counter, type Report } from './checks.js';

const STEPS = 30;

export async function runRound(seed: number, report: Report): Promise<void> {
  const random = seededRandom(seed);
  await using cluster = testCluster({ seed });
  await runFaults(cluster, random, report);
  await compareStates(cluster, random, report);
  report.count('rounds in process');
}

/** Two writers and an informer, with all faults at the same time. */
async function runFaults(cluster: TestCluster, random: SeededRandom, report: Report): Promise<void> {
  const maps = cluster.api(ConfigMap);
  await maps.create({ metadata: { name: 'counter' }, data: { a: '0', b: '0' } });
  const seed = random.below(1_000_000);
  const faults = [
    conflicting({ rate: 0.1, seed }),
    droppingResponses({ rate: 0.1, seed }),
    flaky({ rate: 0.05, seed }),
    delaying({ rate: 0.1, seed }, 1_000),
    failing({ verb: 'list', rate: 0.1, seed }, () => errors.tooManyRequests('slow down', 1)),
    cuttingStreams({ rate: 0.5, seed }, { afterEvents: 2 }),
    expiringWatches({ rate: 0.2, seed }, { afterEvents: 3 }),
    reorderingDeliveries({}, { seed }),
  ];
  const remove = faults.map((fault) => cluster.use(fault));
  await using informer = maps.informer({ onError: () => undefined });

  const write = async (id: 'a' | 'b'): Promise<void> => {
    const counter = new Counter();
    for (let step = 0; step < STEPS; step++) {
      const [before] = await attempt(() => maps.get('counter'));
      if (before === undefined) continue;
      const value = Number(before.data?.[id]);
      report.check('counters in process', counter.read(value));
      counter.sent();
      const next = { ...before, data: { ...before.data, [id]: String(value + 1) } };
      const [after, failure] = await attempt(() => maps.update(next));
      if (after !== undefined) counter.acknowledge(value + 1);
      // A Timeout says nothing about the result; every other error does.
      else if (!StatusError.is(failure, 'Timeout')) counter.rejected();
      const name = `${id}-${random.below(5)}`;
      if (random.below(2) === 0) await attempt(() => maps.create({ metadata: { name } }));
      else await attempt(() => maps.delete(name));
    }
    report.check('counters in process', counter.read(Number((await untilRead(cluster)).data?.[id])));
  };
  const writers = Promise.all([write('a'), write('b')]).then(() => true);
  // Delayed requests and repeated watches wait for the clock.
  while (!(await Promise.race([writers, turn()]))) await cluster.clock.advance(500);
  for (const undo of remove) undo();
  for (let step = 0; step < 5; step++) await cluster.clock.advance(31_000);
  await cluster.settle();
  const { items } = await maps.list();
  const byName = [...informer.snapshot()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  report.check('informers', isDeepStrictEqual(byName, items) ? undefined : `seed ${seed}: differs from the list`);
}

/** Reads despite the faults. */
async function untilRead(
  cluster: TestCluster,
): Promise<{ readonly data?: Readonly<Record<string, string>> | undefined }> {
  for (;;) {
    const [read] = await attempt(() => cluster.api(ConfigMap).get('counter'));
    if (read !== undefined) return read;
  }
}

/** Forks, snapshots and past states equal the state from which they were made, whatever happens to the original. */
async function compareStates(cluster: TestCluster, random: SeededRandom, report: Report): Promise<void> {
  const version = cluster.resourceVersion;
  const before = captureJson(cluster);
  const snapshot = cluster.snapshot();
  await using fork = cluster.fork();
  await change(cluster, random);
  const equal = (what: string, state: string, expected: string): void =>
    report.check(what, state === expected ? undefined : `the state of version ${version} is different`);
  equal('forks', captureJson(fork), before);
  const changed = captureJson(cluster);
  await change(fork, random);
  equal('forks', captureJson(cluster), changed);
  await using past = cluster.at(version);
  equal('past states', captureJson(past), before);
  cluster.restore(snapshot);
  equal('snapshots', captureJson(cluster), before);
}

async function change(cluster: TestCluster, random: SeededRandom): Promise<void> {
  for (let step = 0; step < 10; step++) {
    const name = `c-${random.below(4)}`;
    const maps = cluster.api(ConfigMap);
    if (random.below(3) === 0) await attempt(() => maps.delete(name));
    else
      await maps.apply({ metadata: { name }, data: { step: String(random.below(100)) } }, { fieldManager: 'change' });
  }
}

type Attempt<Value> = readonly [value: Value, failure: undefined] | readonly [value: undefined, failure: StatusError];

/** Returns the error of a failed request. */
async function attempt<Value extends object>(request: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return [await request(), undefined];
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    return [undefined, error];
  }
}

function turn(): Promise<false> {
  return new Promise((resolve) => setImmediate(() => resolve(false)));
}
