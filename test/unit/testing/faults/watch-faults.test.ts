/** Faults of watches: for watches, informers, controllers and over HTTP; for those that are open and for later ones. */
import { StatusError } from 'orchplane';
import { ConfigMap, Pod } from 'orchplane/kinds';
import {
  cuttingStreams,
  expiringWatches,
  recordRequests,
  reorderingDeliveries,
  staleCaches,
  type TestCluster,
  testCluster,
} from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { clientsOf, original, withCopier } from './places.js';

function setup() {
  const cluster = testCluster();
  return { cluster, configMaps: cluster.api(ConfigMap), clients: clientsOf(cluster) };
}

async function create(cluster: TestCluster, ...names: readonly string[]): Promise<void> {
  for (const name of names) await cluster.api(ConfigMap).create({ metadata: { name } });
}

/** What a watch says until its end: names, and the reason of an error. */
async function readAll(watch: AsyncIterable<{ type: string; object: unknown }>): Promise<string[]> {
  const told: string[] = [];
  try {
    for await (const { object } of watch) told.push((object as { metadata: { name: string } }).metadata.name);
    told.push('end');
  } catch (error) {
    told.push(StatusError.is(error) ? (error.reason ?? '') : String(error));
  }
  return told;
}

/** The clock moves until a promise is settled: what goes over HTTP takes turns of its own. */
async function soon<Value>(cluster: TestCluster, promise: Promise<Value>): Promise<Value> {
  let isDone = false;
  void promise.finally(() => {
    isDone = true;
  });
  for (let turns = 0; !isDone && turns < 200; turns++) await cluster.clock.advance(0);
  return promise;
}

describe.each(['local', 'http'] as const)('a watch of a client that is %s', (place) => {
  test.each([true, false])('is cut after so many events (open before the fault: %s)', async (isOpenBefore) => {
    const { cluster, clients } = setup();
    const fault = cuttingStreams({ kind: ConfigMap, times: 1 }, { afterEvents: 2 });
    const open = () => readAll(clients[place].api(ConfigMap).watch());
    const early = isOpenBefore ? open() : undefined;
    await cluster.clock.advance(0);
    using _fault = cluster.use(fault);
    const reading = early ?? open();
    await cluster.clock.advance(0);
    await create(cluster, 'a', 'b', 'c');
    expect(await soon(cluster, reading)).toEqual(['a', 'b', 'end']);
    expect(fault.count).toBe(1);
  });

  test('is cut after so much time', async () => {
    const { cluster, clients } = setup();
    using _fault = cluster.use(cuttingStreams({}, { afterMs: 1_000 }));
    const reading = readAll(clients[place].api(ConfigMap).watch());
    await cluster.clock.advance(999);
    await create(cluster, 'a');
    await cluster.clock.advance(0);
    await cluster.clock.advance(1);
    await create(cluster, 'b');
    expect(await soon(cluster, reading)).toEqual(['a', 'end']);
  });

  test.each([true, false])('expires (open before the fault: %s)', async (isOpenBefore) => {
    const { cluster, clients } = setup();
    const fault = expiringWatches({ kind: ConfigMap });
    const open = () => readAll(clients[place].api(ConfigMap).watch());
    const early = isOpenBefore ? open() : undefined;
    await cluster.clock.advance(0);
    using _fault = cluster.use(fault);
    expect(await soon(cluster, early ?? open())).toEqual(['Expired']);
    expect(fault.count).toBe(1);
  });

  test('expires after so many events, all of which were told', async () => {
    const { cluster, clients } = setup();
    await create(cluster, 'a', 'b', 'c');
    using _fault = cluster.use(expiringWatches({}, { afterEvents: 2 }));
    expect(await soon(cluster, readAll(clients[place].api(ConfigMap).watch()))).toEqual(['a', 'b', 'Expired']);
  });

  test('hears late, in the right order, and of everything at once when it is let go', async () => {
    const { cluster, clients } = setup();
    const stale = staleCaches({ kind: ConfigMap });
    using _fault = cluster.use(stale);
    const watch = clients[place].api(ConfigMap).watch();
    const told: string[] = [];
    const reading = (async () => {
      for await (const { object } of watch) told.push('name' in object.metadata ? object.metadata.name : '');
    })();
    await cluster.clock.advance(0);
    await create(cluster, 'a', 'b');
    await cluster.clock.advance(60_000);
    expect(told).toEqual([]);
    expect(stale.held).toBe(2);
    stale.release();
    for (let turns = 0; turns < 50 && told.length < 2; turns++) await cluster.clock.advance(0);
    expect(told).toEqual(['a', 'b']);
    expect(stale.held).toBe(0);
    await create(cluster, 'c');
    for (let turns = 0; turns < 50 && told.length < 3; turns++) await cluster.clock.advance(0);
    expect(told).toEqual(['a', 'b', 'c']);
    watch.close();
    await reading;
  });
});

describe('an informer', () => {
  test('goes on from where it was when its stream is cut', async () => {
    const { cluster, configMaps } = setup();
    await using informer = configMaps.informer();
    await informer.synced;
    const fault = cuttingStreams({ kind: ConfigMap });
    using _fault = cluster.use(fault);
    using log = recordRequests(cluster, { verb: 'read' });
    await create(cluster, 'a', 'b', 'c');
    await cluster.clock.advance(60_000);
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(fault.count).toBeGreaterThanOrEqual(3);
    expect(log.requests({ verb: 'list' })).toEqual([]);
  });

  test('lists again when its watch has expired', async () => {
    const { cluster, configMaps } = setup();
    await using informer = configMaps.informer();
    await informer.synced;
    using log = recordRequests(cluster, { verb: 'list' });
    const fault = expiringWatches({ kind: ConfigMap, times: 1 });
    using _fault = cluster.use(fault);
    await create(cluster, 'a');
    await cluster.settle();
    expect(informer.get('a')).toBeDefined();
    expect(log.requests()).toHaveLength(1);
    expect(fault.count).toBe(1);
  });

  test('answers from an old picture while the server has moved on, for a while', async () => {
    const { cluster, configMaps } = setup();
    await using informer = configMaps.informer();
    await informer.synced;
    const stale = staleCaches({ kind: ConfigMap }, { forMs: 5_000 });
    using _fault = cluster.use(stale);
    await create(cluster, 'a');
    // What waits for a later moment is at rest.
    await cluster.settle({ timeoutMs: 2_000 });
    expect(informer.get('a')).toBeUndefined();
    expect(await configMaps.find('a')).toBeDefined();
    await cluster.clock.advance(4_999);
    expect(informer.get('a')).toBeUndefined();
    await cluster.clock.advance(1);
    expect(informer.get('a')).toBeDefined();
    expect([stale.count, stale.held]).toEqual([1, 0]);
  });

  test('gets what was held back when the fault is taken away', async () => {
    const { cluster, configMaps } = setup();
    await using informer = configMaps.informer();
    await informer.synced;
    const stale = staleCaches();
    const remove = cluster.use(stale);
    await create(cluster, 'a');
    await cluster.settle();
    expect(informer.get('a')).toBeUndefined();
    remove();
    await cluster.settle();
    expect(informer.get('a')).toBeDefined();
    expect(stale.held).toBe(0);
  });

  test('of another kind is left alone', async () => {
    const { cluster, configMaps } = setup();
    await using informer = configMaps.informer();
    await informer.synced;
    const faults = [staleCaches({ kind: Pod }), cuttingStreams({ kind: Pod }), expiringWatches({ namespace: 'other' })];
    for (const fault of faults) cluster.use(fault);
    await create(cluster, 'a');
    await cluster.settle();
    expect(informer.get('a')).toBeDefined();
    expect(faults.map((fault) => fault.count)).toEqual([0, 0, 0]);
  });

  test('sees changes at another time than others do, in the right order, as the seed decides', async () => {
    const story = async (seed: number) => {
      const { cluster } = setup();
      const told: string[] = [];
      const informers = [1, 2, 3].map((number) => {
        const informer = cluster.api(ConfigMap).informer();
        informer.subscribe(({ object }) => void told.push(`${number}${object.metadata.name}`));
        return informer;
      });
      for (const informer of informers) await informer.synced;
      const fault = reorderingDeliveries({ kind: ConfigMap }, { seed });
      using _fault = cluster.use(fault);
      await create(cluster, 'a', 'b', 'c');
      await cluster.settle();
      expect(fault.count).toBeGreaterThan(0);
      for (const number of [1, 2, 3]) {
        expect(told.filter((each) => each.startsWith(String(number)))).toEqual([
          `${number}a`,
          `${number}b`,
          `${number}c`,
        ]);
      }
      for (const informer of informers) informer.close();
      return told.join(' ');
    };
    const stories = new Set<string>();
    for (let seed = 1; seed <= 10; seed++) stories.add(await story(seed));
    expect(stories.size).toBeGreaterThan(5);
    expect(await story(1)).toBe(await story(1));
  });
});

describe('a controller', () => {
  test('misses nothing when its streams are cut or expire', async () => {
    const { cluster } = await withCopier();
    const faults = [cuttingStreams({ source: 'controllers' }), expiringWatches({ source: 'controllers', every: 3 })];
    for (const fault of faults) cluster.use(fault);
    await cluster.api(ConfigMap).create(original);
    await cluster.clock.advance(60_000);
    expect(await cluster.api(ConfigMap).find('a-copy')).toBeDefined();
    for (const fault of faults) expect(fault.count).toBeGreaterThan(0);
    await cluster.close();
  });

  test('that does not hear of its own write waits, and is at rest', async () => {
    const { cluster } = await withCopier();
    const stale = staleCaches({ kind: ConfigMap });
    await cluster.api(ConfigMap).create(original);
    await cluster.settle();
    using _fault = cluster.use(stale);
    await cluster.api(ConfigMap).edit('a', (draft) => {
      draft.data = { size: 'l' };
    });
    await cluster.settle({ timeoutMs: 2_000 });
    expect((await cluster.api(ConfigMap).get('a-copy')).data).toEqual({ size: 'm' });
    stale.release();
    await cluster.settle();
    expect((await cluster.api(ConfigMap).get('a-copy')).data).toEqual({ size: 'l' });
    await cluster.close();
  });
});

test('several faults act on one stream, and each can go', async () => {
  const { cluster, configMaps } = setup();
  await using informer = configMaps.informer();
  await informer.synced;
  const one = cluster.use(reorderingDeliveries());
  const stale = staleCaches();
  const two = cluster.use(stale);
  await create(cluster, 'a');
  await cluster.settle();
  expect(informer.list()).toHaveLength(0);
  one();
  await create(cluster, 'b');
  await cluster.settle();
  expect(stale.held).toBe(2);
  two();
  await cluster.settle();
  expect(informer.list()).toHaveLength(2);
});

test('options that cannot be meant are refused', () => {
  expect(() => cuttingStreams({ verb: 'list' } as object)).toThrow('cuttingStreams has no option "verb"');
  expect(() => cuttingStreams({}, { afterEvents: -1 })).toThrow('afterEvents is a whole number from 0 on, not -1');
  expect(() => expiringWatches({}, { after: 1 } as object)).toThrow('expiringWatches has no option "after"');
  expect(() => staleCaches({}, { forMs: Number.NaN })).toThrow('forMs is a number of milliseconds from 0 on, not NaN');
  expect(() => reorderingDeliveries({}, { turns: 0.5 })).toThrow('turns is a whole number from 0 on, not 0.5');
});
