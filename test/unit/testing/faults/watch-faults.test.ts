/** Watch faults: for watches, informers, controllers and over HTTP, on open and on later watches. */
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
import { clientsOf, original, withCopier } from './clients.js';

function setup() {
  const cluster = testCluster();
  return { cluster, configMaps: cluster.api(ConfigMap), clients: clientsOf(cluster) };
}

async function create(cluster: TestCluster, ...names: readonly string[]): Promise<void> {
  for (const name of names) await cluster.api(ConfigMap).create({ metadata: { name } });
}

/** Reads a watch to its end: object names and the reason of an error. */
async function readAll(watch: AsyncIterable<{ type: string; object: unknown }>): Promise<string[]> {
  const received: string[] = [];
  try {
    for await (const { object } of watch) received.push((object as { metadata: { name: string } }).metadata.name);
    received.push('end');
  } catch (error) {
    received.push(StatusError.is(error) ? (error.reason ?? '') : String(error));
  }
  return received;
}

/** Advances the clock until a promise settles, because HTTP takes several turns. */
async function soon<Value>(cluster: TestCluster, promise: Promise<Value>): Promise<Value> {
  let isDone = false;
  void promise.finally(() => {
    isDone = true;
  });
  for (let turns = 0; !isDone && turns < 200; turns++) await cluster.clock.advance(0);
  return promise;
}

describe.each(['local', 'http'] as const)('watch faults for a %s client', (place) => {
  test.each([true, false])(
    'cuts a watch after a number of events (open before the fault: %s)',
    async (isOpenBefore) => {
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
    },
  );

  test('cuts a watch after a duration', async () => {
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

  test.each([true, false])('expires a watch (open before the fault: %s)', async (isOpenBefore) => {
    const { cluster, clients } = setup();
    const fault = expiringWatches({ kind: ConfigMap });
    const open = () => readAll(clients[place].api(ConfigMap).watch());
    const early = isOpenBefore ? open() : undefined;
    await cluster.clock.advance(0);
    using _fault = cluster.use(fault);
    expect(await soon(cluster, early ?? open())).toEqual(['Expired']);
    expect(fault.count).toBe(1);
  });

  test('expires a watch after it delivered a number of events', async () => {
    const { cluster, clients } = setup();
    await create(cluster, 'a', 'b', 'c');
    using _fault = cluster.use(expiringWatches({}, { afterEvents: 2 }));
    expect(await soon(cluster, readAll(clients[place].api(ConfigMap).watch()))).toEqual(['a', 'b', 'Expired']);
  });

  test('delays events in order and delivers all of them when released', async () => {
    const { cluster, clients } = setup();
    const stale = staleCaches({ kind: ConfigMap });
    using _fault = cluster.use(stale);
    const watch = clients[place].api(ConfigMap).watch();
    const received: string[] = [];
    const reading = (async () => {
      for await (const { object } of watch) received.push('name' in object.metadata ? object.metadata.name : '');
    })();
    await cluster.clock.advance(0);
    await create(cluster, 'a', 'b');
    await cluster.clock.advance(60_000);
    expect(received).toEqual([]);
    expect(stale.held).toBe(2);
    stale.release();
    for (let turns = 0; turns < 50 && received.length < 2; turns++) await cluster.clock.advance(0);
    expect(received).toEqual(['a', 'b']);
    expect(stale.held).toBe(0);
    await create(cluster, 'c');
    for (let turns = 0; turns < 50 && received.length < 3; turns++) await cluster.clock.advance(0);
    expect(received).toEqual(['a', 'b', 'c']);
    watch.close();
    await reading;
  });
});

describe('watch faults for an informer', () => {
  test('makes an informer continue from the last version after a cut stream', async () => {
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

  test('makes an informer list again after an expired watch', async () => {
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

  test('makes an informer return stale objects for the configured time', async () => {
    const { cluster, configMaps } = setup();
    await using informer = configMaps.informer();
    await informer.synced;
    const stale = staleCaches({ kind: ConfigMap }, { forMs: 5_000 });
    using _fault = cluster.use(stale);
    await create(cluster, 'a');
    // Delayed events do not keep the cluster busy.
    await cluster.settle({ timeoutMs: 2_000 });
    expect(informer.get('a')).toBeUndefined();
    expect(await configMaps.find('a')).toBeDefined();
    await cluster.clock.advance(4_999);
    expect(informer.get('a')).toBeUndefined();
    await cluster.clock.advance(1);
    expect(informer.get('a')).toBeDefined();
    expect([stale.count, stale.held]).toEqual([1, 0]);
  });

  test('delivers delayed events when the fault is removed', async () => {
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

  test('does not affect informers of other kinds', async () => {
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

  test('delivers events to informers at different times in order, depending on the seed', async () => {
    const deliveriesOf = async (seed: number) => {
      const { cluster } = setup();
      const received: string[] = [];
      const informers = [1, 2, 3].map((number) => {
        const informer = cluster.api(ConfigMap).informer();
        informer.subscribe(({ object }) => void received.push(`${number}${object.metadata.name}`));
        return informer;
      });
      for (const informer of informers) await informer.synced;
      const fault = reorderingDeliveries({ kind: ConfigMap }, { seed });
      using _fault = cluster.use(fault);
      await create(cluster, 'a', 'b', 'c');
      await cluster.settle();
      expect(fault.count).toBeGreaterThan(0);
      for (const number of [1, 2, 3]) {
        expect(received.filter((each) => each.startsWith(String(number)))).toEqual([
          `${number}a`,
          `${number}b`,
          `${number}c`,
        ]);
      }
      for (const informer of informers) informer.close();
      return received.join(' ');
    };
    const deliveries = new Set<string>();
    for (let seed = 1; seed <= 10; seed++) deliveries.add(await deliveriesOf(seed));
    expect(deliveries.size).toBeGreaterThan(5);
    expect(await deliveriesOf(1)).toBe(await deliveriesOf(1));
  });
});

describe('watch faults for a controller', () => {
  test('loses no event for a controller whose streams are cut or expire', async () => {
    const { cluster } = await withCopier();
    const faults = [cuttingStreams({ source: 'controllers' }), expiringWatches({ source: 'controllers', every: 3 })];
    for (const fault of faults) cluster.use(fault);
    await cluster.api(ConfigMap).create(original);
    await cluster.clock.advance(60_000);
    expect(await cluster.api(ConfigMap).find('a-copy')).toBeDefined();
    for (const fault of faults) expect(fault.count).toBeGreaterThan(0);
    await cluster.close();
  });

  test('settle returns while a controller waits for its own write', async () => {
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

test('combines several faults on one stream and removes them separately', async () => {
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

test('rejects invalid options of watch faults', () => {
  expect(() => cuttingStreams({ verb: 'list' } as object)).toThrow('cuttingStreams has no option "verb"');
  expect(() => cuttingStreams({}, { afterEvents: -1 })).toThrow('afterEvents is a whole number from 0 on, not -1');
  expect(() => expiringWatches({}, { after: 1 } as object)).toThrow('expiringWatches has no option "after"');
  expect(() => staleCaches({}, { forMs: Number.NaN })).toThrow('forMs is a number of milliseconds from 0 on, not NaN');
  expect(() => reorderingDeliveries({}, { turns: 0.5 })).toThrow('turns is a whole number from 0 on, not 0.5');
});
