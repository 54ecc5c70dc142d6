/** The simulated kubelet: Leases of nodes, and nodes whose kubelet is stopped. */

import { createCluster } from 'orchplane';
import { controllers, nodeStages, readyPods, stages, standardControllers } from 'orchplane/controllers';
import { Deployment, Lease, Node, Pod } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const NODE_LEASES = 'kube-node-lease';
const HOUR = 3_600_000;

const readyOf = async (cluster: TestCluster, node: string) =>
  (await cluster.api(Node).get(node)).status.conditions?.find(({ type }) => type === 'Ready');

test('keeps nodes ready for a month with few renewals', async () => {
  await using cluster = testCluster({ controllers: controllers([...standardControllers(), stages()]) });
  await cluster.api(Node).create({ metadata: { name: 'a' } });
  await cluster.settle();
  let renewals = 0;
  cluster.use((request, next) => {
    if (request.verb === 'update' && request.resource.resource === 'leases') renewals++;
    return next();
  });
  await cluster.clock.advance(30 * 24 * HOUR);
  expect(await readyOf(cluster, 'a')).toMatchObject({ status: 'True', reason: 'KubeletReady' });
  expect((await cluster.api(Node).get('a')).spec.taints).toBeUndefined();
  expect(renewals).toBe(120);
  const lease = await cluster.api(Lease, NODE_LEASES).get('a');
  expect(lease.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 86_400 });
  expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'a' }]);
});

test('keeps the node of readyPods ready without nodeStages', async () => {
  await using cluster = testCluster({ controllers: controllers([...standardControllers(), stages(readyPods())]) });
  await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  await cluster.clock.advance(24 * HOUR);
  expect(await readyOf(cluster, 'node-1')).toMatchObject({ status: 'True' });
  expect((await cluster.api(Pod).get('p')).status.phase).toBe('Running');
});

test('deletes the Lease with its node and creates one for a new node of that name', async () => {
  await using cluster = testCluster({ controllers: controllers([...standardControllers(), stages()]) });
  const { metadata } = await cluster.api(Node).create({ metadata: { name: 'a' } });
  await cluster.settle();
  await cluster.api(Node).delete('a');
  await cluster.settle();
  expect(await cluster.api(Lease, NODE_LEASES).find('a')).toBeUndefined();
  await cluster.api(Node).create({ metadata: { name: 'a' } });
  await cluster.settle();
  const [owner] = (await cluster.api(Lease, NODE_LEASES).get('a')).metadata.ownerReferences ?? [];
  expect(owner?.uid).not.toBe(metadata.uid);
});

test('loses a node whose kubelet is stopped, and moves its pods', async () => {
  await using cluster = testCluster({ controllers: controllers([...standardControllers(), stages()]) });
  for (const name of ['a', 'b']) await cluster.api(Node).create({ metadata: { name } });
  await cluster.api(Deployment).create({
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await cluster.settle();
  const places = async () => (await cluster.api(Pod).list()).items.map(({ spec }) => spec.nodeName).sort();
  expect(await places()).toEqual(['a', 'b']);
  const stop = { metadata: { annotations: { 'orchplane/kubelet': 'stopped' } } };
  await cluster.api(Node).patch('a', { type: 'merge', merge: stop });
  await cluster.settle();
  expect((await cluster.api(Lease, NODE_LEASES).get('a')).spec.leaseDurationSeconds).toBe(40);
  await cluster.clock.advance(49_000);
  expect(await readyOf(cluster, 'a')).toMatchObject({ status: 'True' });
  await cluster.clock.advance(11_000);
  expect(await readyOf(cluster, 'a')).toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
  // Pods tolerate the taint for five minutes.
  await cluster.clock.advance(295_000);
  expect(await places()).toEqual(['a', 'b']);
  await cluster.clock.advance(10_000);
  // The old pod is terminating until its kubelet removes it.
  expect(await places()).toEqual(['a', 'b', 'b']);

  const start = { metadata: { annotations: { 'orchplane/kubelet': null } } };
  await cluster.api(Node).patch('a', { type: 'merge', merge: start });
  await cluster.clock.advance(10_000);
  expect(await readyOf(cluster, 'a')).toMatchObject({ status: 'True' });
  expect((await cluster.api(Node).get('a')).spec.taints).toBeUndefined();
  expect(await places()).toEqual(['b', 'b']);
});

test('starts no pods on a node whose kubelet is stopped', async () => {
  await using cluster = testCluster({ controllers: controllers([stages()]) });
  await cluster.api(Node).create({ metadata: { name: 'a', annotations: { 'orchplane/kubelet': 'stopped' } } });
  const spec = { nodeName: 'a', containers: [{ name: 'c', image: 'i' }] };
  await cluster.api(Pod).create({ metadata: { name: 'p' }, spec });
  await cluster.settle();
  expect((await cluster.api(Pod).get('p')).status.phase).toBe('Pending');
  expect(await cluster.api(Lease, NODE_LEASES).find('a')).toBeUndefined();
  const start = { metadata: { annotations: { 'orchplane/kubelet': null } } };
  await cluster.api(Node).patch('a', { type: 'merge', merge: start });
  await cluster.settle();
  expect((await cluster.api(Pod).get('p')).status.phase).toBe('Running');
});

test('makes a node ready that was lost before its kubelet started', async () => {
  const rules = nodeStages({ afterMs: 90_000 });
  await using cluster = testCluster({ controllers: controllers([...standardControllers(), stages(rules)]) });
  await cluster.api(Node).create({ metadata: { name: 'a' } });
  await cluster.clock.advance(70_000);
  expect(await readyOf(cluster, 'a')).toMatchObject({ status: 'Unknown', reason: 'NodeStatusNeverUpdated' });
  await cluster.clock.advance(90_000);
  expect(await readyOf(cluster, 'a')).toMatchObject({ status: 'True' });
});

test('uses the duration of a kubelet on the system clock', async () => {
  const cluster = createCluster({ controllers: controllers([stages()]) });
  await cluster.api(Node).create({ metadata: { name: 'a' } });
  await cluster.settle();
  expect((await cluster.api(Lease, NODE_LEASES).get('a')).spec.leaseDurationSeconds).toBe(40);
  await cluster.close();
});
