/** cluster.at: a cluster at a past resourceVersion. */
import { createCluster, memoryStorage, StatusError } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { ConfigMap, Deployment, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { cpuMs } from '../../../fixtures/cpu-time.js';

async function written() {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a', labels: { app: 'x' } }, data: { size: 's' } });
  const created = cluster.resourceVersion;
  await cluster.clock.advance(60_000);
  await configMaps.edit('a', (draft) => {
    draft.data = { size: 'm' };
  });
  const edited = cluster.resourceVersion;
  await cluster.clock.advance(60_000);
  await configMaps.delete('a');
  const deleted = cluster.resourceVersion;
  return { cluster, configMaps, created, edited, deleted };
}

test('returns a past cluster with every object as it was after a resourceVersion', async () => {
  const { cluster, created, edited, deleted } = await written();
  expect((await cluster.at(created).api(ConfigMap).get('a')).data).toEqual({ size: 's' });
  expect((await cluster.at(edited).api(ConfigMap).get('a')).data).toEqual({ size: 'm' });
  expect(await cluster.at(deleted).api(ConfigMap).find('a')).toBeUndefined();
  expect(cluster.at(created).resourceVersion).toBe(created);
  const list = await cluster
    .at(created)
    .all(ConfigMap)
    .list({ labels: { app: 'x' } });
  expect(list.metadata.resourceVersion).toBe(created);
  expect(list.items).toHaveLength(1);
});

test('isolates writes to the past cluster from the current one, and vice versa', async () => {
  const { cluster, configMaps, created, deleted } = await written();
  const past = cluster.at(created);
  await past.api(ConfigMap).create({ metadata: { name: 'b' } });
  expect(past.resourceVersion).toBe(String(Number(created) + 1));
  expect(cluster.resourceVersion).toBe(deleted);
  expect(await configMaps.find('b')).toBeUndefined();
  await configMaps.create({ metadata: { name: 'c' } });
  expect(await past.api(ConfigMap).find('c')).toBeUndefined();
  // Tables that were never read are unchanged, too.
  const untouched = cluster.at(created);
  await configMaps.create({ metadata: { name: 'd' } });
  expect((await untouched.api(ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
});

test('lists the objects of a past cluster in pages with counts', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  for (let index = 1; index <= 5; index++) await configMaps.create({ metadata: { name: `c${index}` } });
  const then = cluster.resourceVersion;
  await configMaps.deleteCollection();
  const past = cluster.at(then).api(ConfigMap);
  const first = await past.list({ limit: 2 });
  expect(first.metadata.remainingItemCount).toBe(3);
  const rest = await past.list({ limit: 5, continue: first.metadata.continue ?? '' });
  expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['c3', 'c4', 'c5']);
});

test('gives the past cluster its own clock, set to the time of the write', async () => {
  const { cluster, created, edited } = await written();
  const start = cluster.clock.now() - 120_000;
  expect(cluster.at(created).clock.now()).toBe(start);
  const past = cluster.at(edited);
  expect(past.clock.now()).toBe(start + 60_000);
  await past.clock.advance(1_000);
  expect(cluster.clock.now()).toBe(start + 120_000);
});

test('lets watches of a past cluster start as far back as they could at that time', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'old' } });
  await cluster.clock.advance(4 * 60_000);
  await configMaps.create({ metadata: { name: 'new' } });
  const then = cluster.resourceVersion;
  await cluster.clock.advance(10 * 60_000);
  await configMaps.create({ metadata: { name: 'newest' } });
  const expired = await configMaps
    .watch({ resourceVersion: '4' })
    .next()
    .catch((error: unknown) => error);
  expect(StatusError.is(expired, 'Expired')).toBe(true);
  const watch = cluster.at(then).api(ConfigMap).watch({ resourceVersion: '4' });
  expect((await watch.next()).value).toMatchObject({ object: { metadata: { name: 'old' } } });
  expect((await watch.next()).value).toMatchObject({ object: { metadata: { name: 'new' } } });
  watch.close();
});

const DEFINITION = (extra: string) => `
apiVersion: apiextensions.orch.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: gadgets, kind: Gadget }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: { spec: { type: object, properties: { size: { type: string }${extra} } } }
`;

test('serves custom resources in a past cluster as they were defined at that time', async () => {
  const cluster = testCluster();
  const before = cluster.resourceVersion;
  const [Gadget] = await cluster.installYaml(DEFINITION(''));
  if (Gadget === undefined) throw new Error('one kind');
  await cluster.api(Gadget).create({ metadata: { name: 'g' }, spec: { size: 's', colour: 'red' } });
  const then = cluster.resourceVersion;
  await cluster.applyYaml(DEFINITION(', colour: { type: string }'));
  await cluster.api(Gadget).create({ metadata: { name: 'h' }, spec: { size: 's', colour: 'red' } });
  expect((await cluster.api(Gadget).get('h'))['spec']).toEqual({ size: 's', colour: 'red' });
  const past = cluster.at(then);
  expect((await past.api(Gadget).get('g'))['spec']).toEqual({ size: 's' });
  const made = await past.api(Gadget).create({ metadata: { name: 'i' }, spec: { size: 's', colour: 'red' } });
  expect(made['spec']).toEqual({ size: 's' });
  expect(() => cluster.at(before).kind('example.com/v1', 'Gadget')).toThrow(/serves no Gadget/);
  expect((await cluster.at(then).installYaml(DEFINITION(''))).length).toBe(1);
});

test('accepts every resourceVersion between the writes of one request as a past version', async () => {
  const cluster = testCluster();
  const before = Number(cluster.resourceVersion);
  await cluster.installYaml(DEFINITION(''));
  const after = Number(cluster.resourceVersion);
  expect(after).toBeGreaterThan(before + 1);
  for (let version = before; version <= after; version++) {
    const past = cluster.at(String(version));
    expect(past.resourceVersion).toBe(String(version));
    await past.api(Namespace).create({ metadata: { name: 'x' } });
    // Reconciles that were pending at that time run with the first write.
    if (version > before) expect(past.kind('example.com/v1', 'Gadget').kind).toBe('Gadget');
  }
});

test('runs no controllers in the past cluster', async () => {
  const cluster = testCluster({ controllers: controllers(standardControllers()) });
  await cluster.api(Deployment).create({
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  const then = cluster.resourceVersion;
  await cluster.settle();
  expect((await cluster.api(Deployment).get('web')).status.observedGeneration).toBe(1);
  const past = cluster.at(then);
  await past.settle();
  expect((await past.api(Deployment).get('web')).status.observedGeneration).toBeUndefined();
  expect(past.resourceVersion).toBe(then);
  await cluster.close();
});

test('rejects a future and an invalid resourceVersion as a past version', async () => {
  const { cluster } = await written();
  expect(() => cluster.at('99')).toThrow(new RangeError('orchplane: at: version 99 is in the future, the newest is 7'));
  for (const wrong of ['0', '', 'x', '1.5', '-1', 7 as unknown as string]) {
    expect(() => cluster.at(wrong)).toThrow(TypeError);
  }
});

test('reports a compacted resourceVersion as Expired, and names the option to keep more', async () => {
  const cluster = createCluster({ storage: memoryStorage({ history: 2 }) });
  const configMaps = cluster.api(ConfigMap);
  for (let index = 1; index <= 5; index++) await configMaps.create({ metadata: { name: `c${index}` } });
  // Resource versions 5 to 9 were written; the history contains 8 and 9.
  expect((await cluster.at('7').api(ConfigMap).list()).items).toHaveLength(3);
  const failed = expiredBy(() => cluster.at('6'));
  expect(failed.code).toBe(410);
  expect(failed.message).toBe(
    'version 6 is no longer kept: the oldest kept version is 7; createCluster({ storage: memoryStorage({ keepHistory: … }) }) keeps more',
  );
});

test('keeps the keepHistory events without changing the range of watches', async () => {
  const cluster = createCluster({ storage: memoryStorage({ history: 2, keepHistory: 4 }) });
  const configMaps = cluster.api(ConfigMap);
  for (let index = 1; index <= 3_000; index++) await configMaps.create({ metadata: { name: `c${index}` } });
  // Resource versions 5 to 3004.
  expect((await cluster.at('3000').api(ConfigMap).list()).items).toHaveLength(2_996);
  expiredBy(() => cluster.at('2999'));
  expect(cluster.history(ConfigMap, 'c2997')).toHaveLength(1);
  expect(cluster.history(ConfigMap, 'c2996')).toHaveLength(0);
  const exact = { resourceVersion: '3001', resourceVersionMatch: 'Exact' } as const;
  const failed = await configMaps.list(exact).catch((error: unknown) => error);
  expect(StatusError.is(failed, 'Expired')).toBe(true);
});

test('does not reach resourceVersions after a restore, and restores a past snapshot', async () => {
  const { cluster, configMaps, created, deleted } = await written();
  cluster.restore(cluster.at(created).snapshot());
  expect(cluster.resourceVersion).toBe(created);
  expect((await configMaps.get('a')).data).toEqual({ size: 's' });
  expect(() => cluster.at(deleted)).toThrow(RangeError);
  await configMaps.delete('a');
  expect(cluster.history(ConfigMap, 'a').map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
});

test('returns past states of past clusters and of forks', async () => {
  const { cluster, created, edited } = await written();
  expect((await cluster.at(edited).at(created).api(ConfigMap).get('a')).data).toEqual({ size: 's' });
  expect((await cluster.fork().at(created).api(ConfigMap).get('a')).data).toEqual({ size: 's' });
  expect((await cluster.at(edited).fork().api(ConfigMap).get('a')).data).toEqual({ size: 'm' });
  expect(() => cluster.at(created).at(edited)).toThrow(RangeError);
});

test('does not return a past cluster from before the state that a cluster was created from', async () => {
  const { cluster } = await written();
  const loaded = testCluster({ from: { resourceVersion: '500', objects: [] } });
  await loaded.api(ConfigMap).create({ metadata: { name: 'x' } });
  expect((await loaded.at('500').api(ConfigMap).list()).items).toEqual([]);
  expect(expiredBy(() => loaded.at('499')).message).toBe(
    'version 499 is no longer kept: this cluster starts at version 500',
  );
  await cluster.close();
});

test('returns a past cluster in a time independent of the number of objects', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  for (let index = 0; index < 10_000; index++) await configMaps.create({ metadata: { name: `c${index}` } });
  const then = cluster.resourceVersion;
  await configMaps.delete('c0');
  await cluster.at(then).api(ConfigMap).get('c0');
  // The best of many runs, because others include garbage collection.
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20; round++) {
    const before = cpuMs();
    await cluster.at(then).api(ConfigMap).get('c0');
    best = Math.min(best, cpuMs() - before);
  }
  expect(best).toBeLessThan(10);
});

function expiredBy(call: () => unknown): StatusError {
  try {
    call();
  } catch (error) {
    if (StatusError.is(error, 'Expired')) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
