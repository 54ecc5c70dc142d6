/** Defects in the clock, ids and request logs of test clusters. */
import { describe, expect, test } from 'vitest';
import { controllers, defineController } from '../../../src/controllers/index.js';
import { type Middleware, mergePatch } from '../../../src/index.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import {
  captureCluster,
  delaying,
  fakeClock,
  freshFork,
  InterleavingError,
  interleavings,
  recordRequests,
  reorderingDeliveries,
  testCluster,
} from '../../../src/testing/index.js';

describe('fake clock', () => {
  test('adds concurrent advances and never goes back', async () => {
    const clock = fakeClock({ now: 0 });
    await Promise.all([clock.advance(1000), clock.advance(10)]);
    expect(clock.now()).toBe(1010);
    const seen: number[] = [];
    clock.after(50, () => void clock.advance(500).then(() => seen.push(clock.now())));
    await clock.advance(100);
    await clock.advance(0);
    expect(seen).toEqual([1610]);
    expect(clock.now()).toBe(1610);
  });

  test('rejects timers with NaN and an infinite advance', async () => {
    const clock = fakeClock();
    expect(() => clock.after(Number.NaN, () => undefined)).toThrow('not NaN');
    await expect(clock.advance(Number.POSITIVE_INFINITY)).rejects.toThrow('not by Infinity');
    const pods = testCluster().api(ConfigMap);
    await expect(pods.waitFor('a', () => true, { timeoutMs: Number.NaN })).rejects.toThrow('timeoutMs');
  });

  test('waits for deliveries that are a few turns late', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const cluster = testCluster();
      const informer = cluster.api(ConfigMap).informer();
      await informer.synced;
      cluster.use(reorderingDeliveries({}, { seed }));
      for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
      let seen = 0;
      cluster.clock.after(60_000, () => {
        seen = informer.list().length;
      });
      await cluster.clock.advance(60_000);
      expect({ seed, seen }).toEqual({ seed, seen: 2 });
      await cluster.close();
    }
  });

  test('takes the seed of the cluster in a fork', () => {
    expect(freshFork(testCluster({ seed: 7 })).clock.seed).toBe(7);
    expect(freshFork(testCluster({ seed: 7 }), { seed: 8 }).clock.seed).toBe(8);
  });
});

test('generates no duplicate uid in a cluster from a capture', async () => {
  const before = testCluster();
  await before.api(ConfigMap).create({ metadata: { name: 'a' } });
  const cluster = testCluster({ from: captureCluster(before, { initial: true }) });
  await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
  const uids = captureCluster(cluster, { initial: true }).objects.map(({ metadata }) => metadata.uid);
  expect(new Set(uids).size).toBe(uids.length);
});

test('reproduces a seed alone and among other seeds', async () => {
  const counter = defineController({
    name: 'counter',
    kind: ConfigMap,
    labels: { count: 'yes' },
    async reconcile(one, { client }) {
      await client
        .api(ConfigMap)
        .apply({ metadata: { name: 'last' }, data: { name: one.metadata.name } }, { force: true });
    },
  });
  const run = async (options: object): Promise<string> => {
    const cluster = testCluster({ controllers: controllers([counter]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a', labels: { count: 'yes' } } });
    const failing = interleavings(
      cluster,
      async (fork) => {
        if ((await fork.api(ConfigMap).find('last')) !== undefined) throw new Error('it is there');
      },
      options,
    );
    const error = await failing.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof InterleavingError ? error.failures.map(({ seed }) => seed).join() : 'passed';
  };
  expect(await run({ seeds: [1, 2] })).toBe('1,2');
  expect(await run({ seed: 2 })).toBe('2');
  await expect(interleavings(testCluster(), () => undefined, { seeds: [] })).rejects.toThrow('a list of seeds');
});

test('rejects a delayed request when the cluster is closed', async () => {
  const cluster = testCluster();
  cluster.use(delaying({ verb: 'create' }, 1000));
  const created = cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  const rejected = expect(created).rejects.toThrow('the cluster is closed');
  await cluster.clock.advance(0);
  await cluster.close();
  await rejected;
  expect(cluster.clock.pending).toBe(0);
  expect(cluster.resourceVersion).toBe(testCluster().resourceVersion);
});

test('reports an unchanged write as unchanged when another write came in between', async () => {
  const cluster = testCluster();
  const api = cluster.api(ConfigMap);
  await api.create({ metadata: { name: 'a' }, data: { x: '1' } });
  for (const match of [{}, { verb: 'patch' } as const]) {
    using log = recordRequests(cluster, match);
    using _slow = cluster.use(delaying({ verb: 'patch' }, 1000));
    const x = String(Object.keys(match).length + 2);
    const patching = api.patch('a', mergePatch({ data: { x } }));
    await api.update({ metadata: { name: 'a' }, data: { x } });
    await cluster.clock.advance(1000);
    await patching;
    expect(log.writes({ verb: 'patch' }).map(({ changed }) => changed)).toEqual([false]);
  }
});

test('does not install a middleware whose onWatch throws', async () => {
  const cluster = testCluster();
  const watch = cluster.api(ConfigMap).watch();
  const passing: Middleware = (_request, next) => next();
  const broken = Object.assign(passing, {
    onWatch: () => {
      throw new Error('not this one');
    },
  });
  expect(() => cluster.use(broken)).toThrow('not this one');
  watch.close();
  const second = cluster.api(ConfigMap).watch();
  await expect(cluster.api(ConfigMap).list()).resolves.toMatchObject({ items: [] });
  second.close();
});
