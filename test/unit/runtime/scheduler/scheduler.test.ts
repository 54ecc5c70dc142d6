/** The scheduler as a controller of a cluster: what it writes, and when it tries again. */
import { defaultAdmission, taintNodesByCondition } from 'orchplane/admission';
import { readyPods, runControllers, stages } from 'orchplane/controllers';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { CoreEvent, Node, Pod, PriorityClass } from 'orchplane/kinds';
import { failing, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { type SchedulerOptions, scheduler } from '../../../../src/runtime/scheduler/index.js';
import { NO_GRACE, node, pod, setting } from './cluster-fixture.js';

describe('the scheduler in a cluster', () => {
  test('binds a pod to the node with the best score and records it', async () => {
    const { cluster, pods, nodes, nodeOf, events, scheduled } = setting();
    await nodes.create(node('small', '1'));
    await nodes.create(node('large', '8'));
    await pods.create(pod('web', '500m'));
    await cluster.settle();
    expect(await nodeOf('web')).toBe('large');
    expect(await scheduled('web')).toMatchObject({ status: 'True' });
    expect(await events()).toEqual(['web Scheduled: Successfully assigned default/web to large']);
    const [event] = (await cluster.api(CoreEvent).list()).items;
    expect(event).toMatchObject({ action: 'Binding', reportingComponent: 'default-scheduler', type: 'Normal' });
    expect(event?.metadata.managedFields?.[0]?.manager).toBe('kube-scheduler');
  });

  test('takes the first of equal nodes by name', async () => {
    const { cluster, pods, nodes, nodeOf } = setting();
    for (const name of ['c', 'a', 'b']) await nodes.create(node(name));
    await pods.create(pod('web'));
    await cluster.settle();
    expect(await nodeOf('web')).toBe('a');
  });

  test('spreads pods over equal nodes', async () => {
    const { cluster, pods, nodes, nodeOf } = setting();
    for (const name of ['a', 'b', 'c']) await nodes.create(node(name));
    for (const name of ['p1', 'p2', 'p3']) await pods.create(pod(name));
    await cluster.settle();
    expect(await Promise.all(['p1', 'p2', 'p3'].map(nodeOf))).toEqual(['a', 'b', 'c']);
  });

  test('reports why a pod does not fit, and tries again when a node is added', async () => {
    const { cluster, pods, nodes, nodeOf, events, scheduled } = setting();
    await nodes.create(node('small'));
    await nodes.create(node('tainted', '8', { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }));
    await pods.create(pod('web', '4'));
    await cluster.settle();
    const message =
      '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {gpu: yes}. preemption: 0/2 nodes are ' +
      'available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.';
    expect(await scheduled('web')).toMatchObject({ status: 'False', reason: 'Unschedulable', message });
    expect(await events()).toEqual([`web FailedScheduling: ${message}`]);

    await nodes.create(node('large', '8'));
    await cluster.settle();
    expect(await nodeOf('web')).toBe('large');
  });

  test('waits for the first node', async () => {
    const { cluster, pods, nodes, nodeOf, scheduled } = setting();
    await pods.create(pod('web'));
    await cluster.settle();
    expect(await scheduled('web')).toMatchObject({ message: 'no nodes available to schedule pods' });
    await nodes.create(node('a'));
    await cluster.settle();
    expect(await nodeOf('web')).toBe('a');
  });

  test('tries again when a pod releases resources', async () => {
    const { cluster, pods, nodes, nodeOf } = setting();
    await nodes.create(node('a'));
    await pods.create(pod('first', '800m'));
    await pods.create(pod('second', '800m'));
    await cluster.settle();
    expect(await nodeOf('second')).toBeUndefined();
    await pods.delete('first', NO_GRACE);
    await cluster.settle();
    expect(await nodeOf('second')).toBe('a');
  });

  test('does not try again when a change cannot help', async () => {
    const { cluster, pods, nodes } = setting();
    await nodes.create(node('a'));
    await pods.create(pod('large', '4'));
    await cluster.settle();
    await pods.create(pod('small'));
    await cluster.settle();
    const { items } = await cluster.api(CoreEvent).list();
    const failed = items.filter(({ reason }) => reason === 'FailedScheduling');
    expect(failed.map(({ series }) => series?.count ?? 1)).toEqual([1]);
  });

  test('tries again when the labels of a pod change', async () => {
    const { cluster, pods, nodes, nodeOf } = setting();
    const term = { topologyKey: 'orch.io/hostname', labelSelector: { matchLabels: { app: 'web' } } };
    await nodes.create({ ...node('a'), metadata: { name: 'a', labels: { 'orch.io/hostname': 'a' } } });
    await pods.create(
      pod('web', '1m', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }),
    );
    await cluster.settle();
    await pods.create(pod('web2'));
    await pods.edit('web2', (draft) => {
      draft.metadata.labels = { app: 'web' };
    });
    await cluster.settle();
    expect(await nodeOf('web2')).toBeUndefined();
    await pods.edit('web2', (draft) => {
      draft.metadata.labels = { app: 'other' };
    });
    await cluster.settle();
    expect(await nodeOf('web2')).toBe('a');
  });

  test('leaves pods with scheduling gates alone until the gates are removed', async () => {
    const { cluster, pods, nodes, nodeOf, scheduled } = setting();
    await nodes.create(node('a'));
    await pods.create(pod('web', '1m', { schedulingGates: [{ name: 'example.com/wait' }] }));
    await cluster.settle();
    expect(await scheduled('web')).toMatchObject({ status: 'False', reason: 'SchedulingGated' });
    await pods.edit('web', (draft) => {
      draft.spec.schedulingGates = [];
    });
    await cluster.settle();
    expect(await nodeOf('web')).toBe('a');
  });

  test('places pods that stages run, if their own placement is left out', async () => {
    const running = readyPods().filter(({ name }) => name !== 'scheduled');
    const { cluster, pods, nodes } = setting({}, [stages(running)]);
    await nodes.create(node('small', '1'));
    await nodes.create(node('large', '8'));
    await pods.create(pod('web', '2'));
    await cluster.settle();
    expect(await pods.get('web')).toMatchObject({ spec: { nodeName: 'large' }, status: { phase: 'Running' } });
  });

  test('schedules only pods with its name', async () => {
    const { cluster, pods, nodes, nodeOf } = setting({ schedulerName: 'mine' });
    await nodes.create(node('a'));
    await pods.create(pod('own', '1m', { schedulerName: 'mine' }));
    await pods.create(pod('other'));
    await cluster.settle();
    expect([await nodeOf('own'), await nodeOf('other')]).toEqual(['a', undefined]);
  });

  test('schedules the pod with the higher priority first', async () => {
    const { cluster, pods, nodes, nodeOf } = setting();
    await cluster.api(PriorityClass).create({ metadata: { name: 'high' }, value: 100, preemptionPolicy: 'Never' });
    await pods.create(pod('low', '800m'));
    await pods.create(pod('important', '800m', { priorityClassName: 'high' }));
    await nodes.create(node('a'));
    await cluster.settle();
    expect([await nodeOf('low'), await nodeOf('important')]).toEqual([undefined, 'a']);
  });

  test('schedules pods of a remote cluster', async () => {
    const cluster = testCluster({ admission: defaultAdmission.filter((plugin) => plugin !== taintNodesByCondition) });
    const transport = httpTransport({ baseUrl: 'http://cluster.local', fetch: createFetchHandler(cluster) });
    await using running = runControllers(transport, [scheduler()]);
    await cluster.api(Node).create(node('a'));
    await cluster.api(Pod).create(pod('web'));
    await running.ready;
    await running.settle();
    expect((await cluster.api(Pod).get('web')).spec.nodeName).toBe('a');
  });

  test('leaves no timers after the cluster is closed', async () => {
    const { cluster, pods, nodes } = setting();
    using _fault = cluster.use(failing({ kind: Pod, subresource: 'binding' }));
    await nodes.create(node('a'));
    await pods.create(pod('web'));
    await pods.create(pod('large', '4'));
    await cluster.settle();
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });

  test('rejects unknown options and invalid values', () => {
    expect(() => scheduler({ name: 'x' } as SchedulerOptions)).toThrow('name');
    expect(() => scheduler({ schedulerName: '' })).toThrow('schedulerName of a scheduler is a name');
    expect(() => scheduler({ backoff: { firstMs: -1, longestMs: 1 } })).toThrow('backoff has firstMs');
  });
});

describe('errors', () => {
  test('reports a failed binding and tries again after the backoff', async () => {
    const { cluster, pods, nodes, nodeOf, scheduled, events } = setting();
    const fault = failing({ kind: Pod, subresource: 'binding', times: 2 });
    using _fault = cluster.use(fault);
    await nodes.create(node('a'));
    await pods.create(pod('web'));
    await cluster.settle();
    expect(await scheduled('web')).toMatchObject({ status: 'False', reason: 'SchedulerError' });
    expect((await events())[0]).toMatch(/^web FailedScheduling: running Bind plugin "DefaultBinder": /);
    await cluster.clock.advance(1_000);
    expect([fault.count, await nodeOf('web')]).toEqual([2, undefined]);
    await cluster.clock.advance(1_999);
    expect(await nodeOf('web')).toBeUndefined();
    await cluster.clock.advance(1);
    expect(await nodeOf('web')).toBe('a');
  });

  test('tries again if the reason could not be written', async () => {
    const { cluster, pods, nodes, scheduled } = setting({}, [], { onError: () => undefined });
    const fault = failing({ kind: Pod, subresource: 'status', times: 1 });
    using _fault = cluster.use(fault);
    await nodes.create(node('a'));
    await pods.create(pod('large', '4'));
    await cluster.settle();
    expect([fault.count, await scheduled('large')]).toEqual([1, undefined]);
    await cluster.clock.advance(1_000);
    expect(await scheduled('large')).toMatchObject({ reason: 'Unschedulable' });
  });
});
