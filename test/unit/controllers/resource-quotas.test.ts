/** ResourceQuota controller: the used amounts in the status and when they are recalculated. */
import { defineKind, memoryStorage, mergePatch, strategicPatch } from 'orchplane';
import { controllers, resourceQuotas } from 'orchplane/controllers';
import {
  ConfigMap,
  CustomResourceDefinition,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  Service,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster({ controllers: controllers([resourceQuotas()]) });
});
afterEach(async () => {
  await cluster.close();
});

const makeQuota = async (hard: Record<string, string>, more: object = {}) => {
  await cluster.api(ResourceQuota).create({ metadata: { name: 'q' }, spec: { hard, ...more } });
  await cluster.settle();
};
const status = async () => (await cluster.api(ResourceQuota).get('q')).status;
const used = async () => {
  await cluster.settle();
  return (await status()).used;
};
const map = (name: string) => cluster.api(ConfigMap).create({ metadata: { name } });
const pod = (name: string, spec: object = {}) =>
  cluster.api(Pod).create({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '250m' } } }], ...spec },
  } as never);

test('counts existing objects for a new quota', async () => {
  await map('a');
  await map('b');
  await makeQuota({ configmaps: '1', 'count/secrets': '5' });
  expect(await status()).toEqual({
    hard: { configmaps: '1', 'count/secrets': '5' },
    used: { configmaps: '2', 'count/secrets': '0' },
  });
});

test('writes the status subresource as its field manager', async () => {
  await makeQuota({ configmaps: '1' });
  const { metadata } = await cluster.api(ResourceQuota).get('q');
  const entries = metadata.managedFields?.map(({ manager, operation, subresource }) => [
    manager,
    operation,
    subresource,
  ]);
  expect(entries).toContainEqual(['kube-controller-manager', 'Update', 'status']);
});

test('releases the usage of a deleted object at once', async () => {
  await makeQuota({ configmaps: '2' });
  await map('a');
  await map('b');
  await expect(map('c')).rejects.toThrow('exceeded quota');
  await cluster.api(ConfigMap).delete('a');
  expect(await used()).toEqual({ configmaps: '1' });
  await map('c');
  expect(await used()).toEqual({ configmaps: '2' });
});

test('releases the compute usage of a finished pod and keeps its object count', async () => {
  await makeQuota({ pods: '5', 'requests.cpu': '2', 'count/pods': '5' });
  await pod('a');
  expect(await used()).toEqual({ 'count/pods': '1', pods: '1', 'requests.cpu': '250m' });
  await cluster.api(Pod).status.edit('a', (draft) => {
    draft.status = { phase: 'Succeeded' } as never;
  });
  expect(await used()).toEqual({ 'count/pods': '1', pods: '0', 'requests.cpu': '0' });
});

test('releases the usage of a service type after a change of the type', async () => {
  await makeQuota({ 'services.nodeports': '3', services: '3' });
  const ports = [{ port: 80 }];
  // One of them is the Service of the API server.
  await cluster.api(Service).create({ metadata: { name: 's' }, spec: { type: 'NodePort', ports } });
  expect(await used()).toEqual({ services: '2', 'services.nodeports': '1' });
  await cluster.api(Service).edit('s', (draft) => {
    draft.spec.type = 'ClusterIP';
    draft.spec.ports = ports as never;
  });
  expect(await used()).toEqual({ services: '2', 'services.nodeports': '0' });
});

test('moves a pod between scopes when it gets a deadline', async () => {
  await makeQuota({ pods: '5' }, { scopes: ['NotTerminating'] });
  await pod('a');
  expect(await used()).toEqual({ pods: '1' });
  await cluster.api(Pod).edit('a', (draft) => {
    draft.spec.activeDeadlineSeconds = 5;
  });
  expect(await used()).toEqual({ pods: '0' });
});

test('releases node ports with the next recalculation', async () => {
  await makeQuota({ 'services.nodeports': '5' });
  const services = cluster.api(Service);
  const [web, more] = [
    { name: 'web', port: 80 },
    { name: 'more', port: 81 },
  ];
  await services.create({ metadata: { name: 's' }, spec: { type: 'NodePort', ports: [web, more] } });
  await services.create({ metadata: { name: 't' }, spec: { ports: [web] } });
  await services.edit('s', (draft) => {
    draft.spec.ports = [web] as never;
  });
  expect(await used()).toEqual({ 'services.nodeports': '2' });
  await services.delete('t');
  expect(await used()).toEqual({ 'services.nodeports': '1' });
});

test('releases CPU after the container status reports a smaller request', async () => {
  await makeQuota({ 'requests.cpu': '2' });
  await pod('a');
  const pods = cluster.api(Pod);
  const reportRequest = (cpu: string) => {
    const container = { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0 };
    const containerStatuses = [{ ...container, resources: { requests: { cpu } } }];
    return pods.status.patch('a', mergePatch({ status: { containerStatuses } }));
  };
  await reportRequest('250m');
  await pods
    .subresource('resize')
    .patch('a', strategicPatch({ spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m' } } }] } }));
  expect(await used()).toEqual({ 'requests.cpu': '250m' });
  await reportRequest('100m');
  expect(await used()).toEqual({ 'requests.cpu': '100m' });
});

test('does not count a finished pod again when its phase changes to Running', async () => {
  await makeQuota({ pods: '2' });
  await pod('a');
  for (const phase of ['Succeeded', 'Running'] as const) {
    await cluster.api(Pod).status.patch('a', mergePatch({ status: { phase } }));
    expect(await used()).toEqual({ pods: '0' });
  }
});

test('recalculates claims after any change of a claim', async () => {
  await makeQuota({ persistentvolumeclaims: '5' });
  const claims = cluster.api(PersistentVolumeClaim);
  await claims.create({
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await cluster.settle();
  await cluster.api(ResourceQuota).status.patch('q', mergePatch({ status: { used: { persistentvolumeclaims: '4' } } }));
  expect(await used()).toEqual({ persistentvolumeclaims: '4' });
  await claims.patch('c', mergePatch({ metadata: { labels: { a: 'b' } } }));
  expect(await used()).toEqual({ persistentvolumeclaims: '1' });
});

test('formats the remaining usage like the remaining objects', async () => {
  await makeQuota({ 'requests.memory': '9Gi' });
  for (const [name, memory] of [
    ['a', '500M'],
    ['b', '1Gi'],
    ['c', '2Gi'],
  ] as const) {
    await pod(name, { containers: [{ name: 'c', image: 'i', resources: { requests: { memory } } }] });
  }
  await cluster.api(Pod).delete('a');
  expect(await used()).toEqual({ 'requests.memory': '3Gi' });
});

test('recalculates after a spec change and removes resources that the spec no longer has', async () => {
  await makeQuota({ configmaps: '5' });
  await map('a');
  await cluster.api(ResourceQuota).edit('q', (draft) => {
    draft.spec.hard = { secrets: '7' };
  });
  expect(await used()).toEqual({ secrets: '0' });
  expect((await status()).hard).toEqual({ secrets: '7' });
});

test('keeps a manually written status until the next resync', async () => {
  await makeQuota({ configmaps: '3', secrets: '1' });
  await cluster.api(ResourceQuota).status.edit('q', (draft) => {
    draft.status = { hard: { configmaps: '9', secrets: '1' }, used: { configmaps: '2', secrets: '0' } };
  });
  await map('a');
  expect(await used()).toEqual({ configmaps: '3', secrets: '0' });
  await cluster.clock.advance(4 * 60_000);
  expect(await used()).toEqual({ configmaps: '3', secrets: '0' });
  await cluster.clock.advance(60_000);
  expect(await status()).toEqual({ hard: { configmaps: '3', secrets: '1' }, used: { configmaps: '1', secrets: '0' } });
});

test('accepts the resync interval as an option', async () => {
  await cluster.close();
  cluster = testCluster({ controllers: controllers([resourceQuotas({ resyncMs: 1_000 })]) });
  await makeQuota({ configmaps: '3' });
  await cluster.api(ResourceQuota).status.edit('q', (draft) => {
    draft.status = { hard: { configmaps: '3' }, used: { configmaps: '2' } };
  });
  await cluster.clock.advance(1_000);
  expect(await used()).toEqual({ configmaps: '0' });
});

test('writes no quota status when nothing changes', async () => {
  await map('a');
  await makeQuota({ configmaps: '3' });
  const { resourceVersion } = (await cluster.api(ResourceQuota).get('q')).metadata;
  await cluster.api(ConfigMap).edit('a', (draft) => {
    draft.data = { k: 'v' };
  });
  await cluster.clock.advance(20 * 60_000);
  expect((await cluster.api(ResourceQuota).get('q')).metadata.resourceVersion).toBe(resourceVersion);
});

test('does not recalculate after the deletion of another resource', async () => {
  await makeQuota({ configmaps: '3' });
  await cluster.api(ResourceQuota).status.edit('q', (draft) => {
    draft.status = { hard: { configmaps: '3' }, used: { configmaps: '2' } };
  });
  await cluster.api(Secret).create({ metadata: { name: 's' } });
  await cluster.api(Secret).delete('s');
  expect(await used()).toEqual({ configmaps: '2' });
});

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced' as const,
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const Widget = defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced', body: {} });

test('counts custom resources from the creation of their CRD until its deletion', async () => {
  await makeQuota({ 'count/widgets.example.com': '2', configmaps: '5' });
  expect((await status()).used).toEqual({ configmaps: '0' });
  for (let round = 0; round < 2; round++) {
    await cluster.api(CustomResourceDefinition).create(widgets);
    await cluster.settle();
    await cluster.api(Widget).create({ metadata: { name: 'a' } });
    await cluster.api(Widget).create({ metadata: { name: 'b' } });
    await expect(cluster.api(Widget).create({ metadata: { name: 'c' } })).rejects.toThrow('exceeded quota');
    await cluster.api(Widget).delete('a');
    expect(await used()).toEqual({ configmaps: '0', 'count/widgets.example.com': '1' });
    await cluster.api(Widget).delete('b');
    await cluster.api(CustomResourceDefinition).delete('widgets.example.com');
    expect(await used()).toEqual({ configmaps: '0', 'count/widgets.example.com': '0' });
    await cluster.clock.advance(20 * 60_000);
  }
});

test('deletes thousands of objects without recounting all of them each time', async () => {
  const makeMaps = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, index) => map(`m-${from + index}`)));
  await makeQuota({ configmaps: '1M' });
  await makeMaps(0, 2_101);
  expect(await used()).toEqual({ configmaps: '2101' });
  // Recounting all objects after each of these deletions would visit half a million objects.
  for (let i = 0; i < 250; i++) {
    await cluster.api(ConfigMap).delete(`m-${i}`);
    if (i % 50 === 1) expect(await used()).toEqual({ configmaps: String(2_100 - i) });
  }
  await cluster.api(ConfigMap).deleteCollection({});
  expect(await used()).toEqual({ configmaps: '0' });
});

test('stops counting a pod after its grace period with the next reconcile', async () => {
  await makeQuota({ pods: '5', configmaps: '5' });
  await pod('a', { nodeName: 'n' });
  await map('m');
  await cluster.api(Pod).delete('a', { gracePeriodSeconds: 10 });
  expect(await used()).toEqual({ configmaps: '1', pods: '1' });
  await cluster.clock.advance(20_001);
  expect(await used()).toEqual({ configmaps: '1', pods: '1' });
  await cluster.api(ConfigMap).delete('m');
  expect(await used()).toEqual({ configmaps: '0', pods: '0' });
});

test('counts each quota of a namespace in its scope and ignores other namespaces', async () => {
  await cluster.api(ResourceQuota).create({
    metadata: { name: 'effort' },
    spec: { hard: { pods: '9' }, scopes: ['BestEffort'] },
  });
  await makeQuota({ pods: '9' });
  await pod('a');
  await cluster.api(Pod).create({ metadata: { name: 'b' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  await cluster.settle();
  expect((await cluster.api(ResourceQuota).get('effort')).status.used).toEqual({ pods: '1' });
  expect(await used()).toEqual({ pods: '2' });
  await cluster.api(Pod).delete('b', { gracePeriodSeconds: 0 });
  expect(await used()).toEqual({ pods: '1' });
  expect((await cluster.api(ResourceQuota).get('effort')).status.used).toEqual({ pods: '0' });
});

test('tries again after the resync interval to store a status that is too large', async () => {
  const failures: string[] = [];
  const onError = (error: unknown) => void failures.push(String(error));
  await using small = testCluster({
    storage: memoryStorage({ maxObjectBytes: 8_000 }),
    controllers: controllers([resourceQuotas()], { onError }),
  });
  const hard = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`count/r${at}.example.com`, '1']));
  await small.api(ResourceQuota).create({ metadata: { name: 'q' }, spec: { hard } });
  await small.settle();
  await small.clock.advance(4 * 60_000);
  expect(failures).toEqual(['StatusError: etcdserver: request is too large']);
  await small.clock.advance(60_000);
  expect(failures).toHaveLength(2);
  await small.api(ResourceQuota).edit('q', ({ spec }) => {
    spec.hard = { configmaps: '1' };
  });
  await small.settle();
  expect((await small.api(ResourceQuota).get('q')).status.hard).toEqual({ configmaps: '1' });
});
