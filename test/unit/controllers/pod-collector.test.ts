/** Pod garbage collector: orphaned, unscheduled and surplus finished pods. */
import { type PodCollectorOptions, podCollector } from 'orchplane/controllers';
import { Node, Pod } from 'orchplane/kinds';
import { afterEach, describe, expect, test } from 'vitest';
import { WorkloadWorld } from './workload-fixture.js';

let world: WorkloadWorld;
afterEach(() => world.close());

function start(options?: PodCollectorOptions) {
  world = new WorkloadWorld([podCollector(options)]);
}

async function make(name: string, spec: object = {}, metadata: object = {}) {
  await world.cluster
    .api(Pod)
    .create({ metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
  await world.cluster.settle();
}

const HOLD = ['example.com/hold'];

describe('unscheduled terminating pods', () => {
  test('marks terminating pods held by a finalizer as failed', async () => {
    start();
    await make('p', {}, { finalizers: HOLD });
    await world.advance(100);
    expect((await world.pod('p')).status.phase).toBe('Pending');
    await world.remove('p');
    await world.advance(2.9);
    expect((await world.pod('p')).status.phase).toBe('Pending');
    await world.advance(0.1);
    const { status, metadata } = await world.pod('p');
    expect(status.phase).toBe('Failed');
    expect(status.conditions).toBeUndefined();
    expect(metadata.deletionGracePeriodSeconds).toBe(0);
    await world.cluster.api(Pod).patch('p', { type: 'merge', merge: { metadata: { finalizers: null } } });
    expect(await world.podNames()).toEqual([]);
    expect(world.complaints).toEqual([]);
  });

  test('keeps the phase of a finished pod', async () => {
    start({ unscheduledMs: 0 });
    await make('p', {}, { finalizers: HOLD });
    await world.setStatus('p', { phase: 'Succeeded' });
    await world.remove('p');
    expect((await world.pod('p')).status.phase).toBe('Succeeded');
  });
});

describe('pods of missing nodes', () => {
  test('fails and deletes pods of a deleted node after the grace period', async () => {
    start();
    await world.node('a');
    await make('p', { nodeName: 'a' }, { finalizers: HOLD });
    await make('other');
    await world.setStatus('p', { phase: 'Running' });
    await world.cluster.api(Node).delete('a');
    await world.advance(39);
    expect((await world.pod('p')).status.phase).toBe('Running');
    await world.advance(1);
    const { metadata, status } = await world.pod('p');
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(status.phase).toBe('Failed');
    expect(status.conditions).toMatchObject([
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: '2030-01-01T00:00:40Z',
      },
    ]);
    await world.cluster.api(Pod).patch('p', { type: 'merge', merge: { metadata: { finalizers: null } } });
    expect(await world.podNames()).toEqual(['other']);
    expect(world.complaints).toEqual([]);
  });

  test('keeps pods of a node that is recreated in time', async () => {
    start();
    await world.node('a');
    await make('p', { nodeName: 'a' });
    await world.cluster.api(Node).delete('a');
    await world.advance(30);
    await world.node('a');
    await world.advance(60);
    expect(await world.podNames()).toEqual(['p']);
    await world.cluster.api(Node).delete('a');
    await world.advance(39);
    expect(await world.podNames()).toEqual(['p']);
    await world.advance(1);
    expect(await world.podNames()).toEqual([]);
  });

  test('keeps the replacement of a collected pod as long as the first', async () => {
    start();
    await make('first', { nodeName: 'nowhere' }, { finalizers: HOLD });
    await world.advance(40);
    await make('second', { nodeName: 'nowhere' });
    await world.cluster.api(Pod).patch('first', { type: 'merge', merge: { metadata: { finalizers: null } } });
    expect(await world.podNames()).toEqual(['second']);
    await world.advance(39);
    expect(await world.podNames()).toEqual(['second']);
    await world.advance(1);
    expect(await world.podNames()).toEqual([]);
  });

  test('deletes pods of a node that never existed', async () => {
    start({ missingNodeMs: 5_000 });
    await make('p', { nodeName: 'nowhere' });
    await world.advance(5);
    expect(await world.podNames()).toEqual([]);
  });
});

test('deletes terminating pods of an out-of-service node at once', async () => {
  start();
  await world.node('a');
  await make('p', { nodeName: 'a' });
  await make('q', { nodeName: 'a' });
  await world.remove('p');
  expect(await world.podNames()).toEqual(['p', 'q']);
  const taints = [{ key: 'node.orch.io/out-of-service', effect: 'NoExecute' as const }];
  await world.cluster.api(Node).patch('a', { type: 'merge', merge: { spec: { taints } } });
  expect(await world.podNames()).toEqual(['q']);
  await world.remove('q');
  expect(await world.podNames()).toEqual([]);
});

test('leaves terminating pods of a ready node to its kubelet', async () => {
  start();
  const taints = [{ key: 'node.orch.io/out-of-service', effect: 'NoExecute' as const }];
  await world.node('a', { taints });
  await world.cluster
    .api(Node)
    .status.patch('a', { type: 'merge', merge: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } });
  await make('p', { nodeName: 'a' });
  await world.remove('p');
  await world.advance(10);
  expect(await world.podNames()).toEqual(['p']);
});

test('deletes evicted and then the oldest finished pods above the limit', async () => {
  start({ terminatedPods: 2 });
  for (const name of ['d', 'c', 'b', 'a']) {
    await make(name);
    await world.advance(1);
  }
  await make('running');
  await world.setStatus('d', { phase: 'Succeeded' });
  await world.setStatus('b', { phase: 'Failed', reason: 'Evicted' });
  expect(await world.podNames()).toEqual(['a', 'b', 'c', 'd', 'running']);
  await world.setStatus('c', { phase: 'Failed' });
  expect(await world.podNames()).toEqual(['a', 'c', 'd', 'running']);
  await world.setStatus('a', { phase: 'Succeeded' });
  expect(await world.podNames()).toEqual(['a', 'c', 'running']);
});

test('rejects unknown options of the pod collector', () => {
  start();
  expect(() => podCollector({ terminated: 1 } as never)).toThrow('terminated');
});
