/** cluster.history: the changes of one object. */
import { memoryStorage, StatusError } from 'orchplane';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Namespace, Node } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, expectTypeOf, test } from 'vitest';

test('history returns every change, oldest first, with the previous object, the time and the manager', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  const start = cluster.clock.now();
  const created = await configMaps.create(
    { metadata: { name: 'web' }, data: { size: 's' } },
    { fieldManager: 'alice' },
  );
  await cluster.clock.advance(1_000);
  const applied = await configMaps.apply(
    { metadata: { name: 'web' }, data: { size: 'm' } },
    { fieldManager: 'ci', force: true },
  );
  await configMaps.delete('web');

  const history = cluster.history(ConfigMap, 'web');
  expect(history.map(({ type, time, manager, operation }) => ({ type, time, manager, operation }))).toEqual([
    { type: 'ADDED', time: start, manager: 'alice', operation: 'Update' },
    { type: 'MODIFIED', time: start + 1_000, manager: 'ci', operation: 'Apply' },
    { type: 'DELETED', time: start + 1_000, manager: undefined, operation: undefined },
  ]);
  expect(history[0]?.object).toBe(created);
  expect(history[0]).not.toHaveProperty('previous');
  expect(history[1]?.object).toBe(applied);
  expect(history[1]?.previous).toBe(created);
  expect(history[2]?.previous).toBe(applied);
  expect(history[2]?.object.metadata.resourceVersion).toBe(cluster.resourceVersion);
  expect(history.map(({ resourceVersion }) => resourceVersion)).toEqual(['5', '6', '7']);
  expect(history[0]?.object.data?.['size']).toBe('s');
});

test('history includes an object that was deleted and created again', async () => {
  const cluster = testCluster();
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'web' } });
  await configMaps.delete('web');
  await configMaps.create({ metadata: { name: 'web' } });
  await configMaps.create({ metadata: { name: 'other' } });
  const history = cluster.history(ConfigMap, 'web');
  expect(history.map(({ type }) => type)).toEqual(['ADDED', 'DELETED', 'ADDED']);
  expect(new Set(history.map(({ object }) => object.metadata.uid)).size).toBe(2);
});

test('history names the subresource of a write, and a manager that only gave up fields', async () => {
  const cluster = testCluster();
  const deployments = cluster.api(Deployment);
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { selector: { matchLabels: { app: 'web' } }, template };
  await deployments.apply({ metadata: { name: 'web', labels: { a: '1', b: '2' } }, spec }, { fieldManager: 'ci' });
  await deployments.status.edit(
    'web',
    (draft) => {
      draft.status = { ...draft.status, replicas: 1 };
    },
    { fieldManager: 'kubelet' },
  );
  await deployments.apply({ metadata: { name: 'web', labels: { a: '1' } }, spec }, { fieldManager: 'ci' });
  const history = cluster.history(Deployment, 'web');
  expect(history.map(({ manager, subresource }) => [manager, subresource])).toEqual([
    ['ci', undefined],
    ['kubelet', 'status'],
    ['ci', undefined],
  ]);
});

test('history finds objects by kind and name, by namespace, and by a read object', async () => {
  const cluster = testCluster({ client: { namespace: 'team' } });
  await cluster.api(Namespace).create({ metadata: { name: 'team' } });
  const object = await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
  await cluster.api(Node).create({ metadata: { name: 'n1' } });
  expect(cluster.history(ConfigMap, 'web')).toHaveLength(1);
  expect(cluster.history(ConfigMap, 'web', { namespace: 'team' })).toHaveLength(1);
  expect(cluster.history(ConfigMap, 'web', { namespace: 'default' })).toHaveLength(0);
  expect(cluster.history(object)[0]?.object).toBe(object);
  expect(cluster.history(Node, 'n1')).toHaveLength(1);
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'team' } };
  expect(cluster.history(reference)).toHaveLength(1);
  expectTypeOf(cluster.history(object)[0]?.object.data).toEqualTypeOf(object.data);
});

test('history returns objects in the requested version', async () => {
  const cluster = testCluster();
  await cluster.api(HorizontalPodAutoscaler).create({
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' } },
  });
  const V1 = cluster.kind('autoscaling/v1', 'HorizontalPodAutoscaler');
  expect(cluster.history(V1, 'h')[0]?.object.apiVersion).toBe('autoscaling/v1');
  expect(cluster.history(V1, 'h')[0]?.object).toBe(await cluster.api(V1, 'default').get('h'));
  expect(cluster.history(HorizontalPodAutoscaler, 'h')[0]?.object.apiVersion).toBe('autoscaling/v2');
});

test('history rejects an object that it cannot find with the reason', () => {
  const cluster = testCluster({ kinds: [ConfigMap, Node] });
  expect(() => cluster.history(Deployment, 'web')).toThrow(
    'the server could not find the requested resource: deployments.apps in version v1 is not installed (cluster.install)',
  );
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'x' } };
  const failed = thrownBy(() => cluster.history(gadget));
  expect(StatusError.is(failed, 'NotFound')).toBe(true);
  expect((failed as StatusError).message).toContain('Gadget in example.com/v1 is not served here');
  expect(() => cluster.history(Node, 'n', { namespace: 'default' })).toThrow(/cluster-scoped/);
  expect(() => cluster.history(ConfigMap, '')).toThrow(/needs the name of an object/);
  expect(() => cluster.history('web' as never)).toThrow(TypeError);
});

test('history of a fork continues the history of its parent', async () => {
  const cluster = testCluster();
  await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
  const fork = cluster.fork();
  await fork.api(ConfigMap).delete('web');
  expect(fork.history(ConfigMap, 'web').map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
  expect(cluster.history(ConfigMap, 'web').map(({ type }) => type)).toEqual(['ADDED']);
});

test('history of a test cluster reaches further back than watches', async () => {
  const cluster = testCluster({ storage: memoryStorage({ history: 10, historyMs: 1_000 }) });
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'web' }, data: { n: '0' } });
  for (let n = 1; n <= 4_000; n++) {
    await configMaps.edit('web', (draft) => {
      draft.data = { n: String(n) };
    });
  }
  await cluster.clock.advance(3_600_000);
  const history = cluster.history(ConfigMap, 'web');
  expect(history).toHaveLength(4_001);
  expect(history.map(({ object }) => Number(object.data?.['n']))).toEqual([...Array(4_001).keys()]);
  const failed = await configMaps
    .watch({ resourceVersion: '5' })
    .next()
    .catch((error: unknown) => error);
  expect(StatusError.is(failed, 'Expired')).toBe(true);
});

test('history reaches only as far back as watches by default', async () => {
  const storage = { ...memoryStorage({ history: 10 }), keepEvents: 0 };
  const cluster = testCluster({ storage });
  for (let n = 1; n <= 30; n++) await cluster.api(ConfigMap).create({ metadata: { name: `c${n}` } });
  expect(cluster.history(ConfigMap, 'c20')).toHaveLength(0);
  expect(cluster.history(ConfigMap, 'c21')).toHaveLength(1);
  await cluster.clock.advance(6 * 60_000);
  expect(cluster.history(ConfigMap, 'c30')).toHaveLength(0);
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
