/** The scheduler as a controller of a cluster: what it writes, and when it tries again. */
import { defaultAdmission, taintNodesByCondition } from 'orchplane/admission';
import {
  type Controller,
  controllers,
  disruptionBudgets,
  persistentVolumes,
  type RunOptions,
  readyPods,
  removedPods,
  stages,
  volumeProvisioner,
} from 'orchplane/controllers';
import {
  CoreEvent,
  Node,
  type NodeInput,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type PodInput,
  PriorityClass,
  StorageClass,
} from 'orchplane/kinds';
import { failing, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { type SchedulerOptions, scheduler } from '../../../../src/runtime/scheduler/index.js';

function setting(options: SchedulerOptions = {}, others: readonly Controller[] = [], run: RunOptions = {}) {
  const cluster = testCluster({
    // New nodes are ready.
    admission: defaultAdmission.filter((plugin) => plugin !== taintNodesByCondition),
    controllers: controllers([scheduler(options), ...others], run),
  });
  const pods = cluster.api(Pod);
  return {
    cluster,
    pods,
    nodes: cluster.api(Node),
    events: async () =>
      (await cluster.api(CoreEvent).list()).items.map(
        ({ reason, message, involvedObject }) => `${involvedObject.name} ${reason}: ${message}`,
      ),
    async nodeOf(name: string) {
      return (await pods.get(name)).spec.nodeName;
    },
    async scheduled(name: string) {
      return (await pods.get(name)).status.conditions?.find(({ type }) => type === 'PodScheduled');
    },
  };
}

function node(name: string, cpu = '1', spec: NodeInput['spec'] = {}): NodeInput {
  return { metadata: { name }, spec, status: { allocatable: { cpu, memory: '4Gi', pods: '10' } } };
}

function pod(name: string, cpu = '100m', spec: Partial<PodInput['spec']> = {}): PodInput {
  const container = { name: 'app', image: 'nginx:1.29', resources: { requests: { cpu } } };
  return { metadata: { name, labels: { app: name } }, spec: { containers: [container], ...spec } };
}

const NO_GRACE = { gracePeriodSeconds: 0 };

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

describe('preemption', () => {
  async function occupied(others: readonly Controller[] = []) {
    const world = setting({}, others);
    const { cluster, nodes, pods } = world;
    await cluster.api(PriorityClass).create({ metadata: { name: 'high' }, value: 100 });
    await nodes.create(node('a'));
    await pods.create(pod('low', '800m'));
    await cluster.settle();
    return world;
  }

  test('removes a pod of a lower priority and takes its place when it is gone', async () => {
    const { cluster, pods, nodeOf, scheduled } = await occupied();
    await pods.create(pod('high', '800m', { priorityClassName: 'high' }));
    await cluster.settle();
    const high = await pods.get('high');
    expect(high.status.nominatedNodeName).toBe('a');
    expect(await scheduled('high')).toMatchObject({ message: '0/1 nodes are available: 1 Insufficient cpu.' });
    const victim = await pods.get('low');
    expect(victim.metadata.deletionTimestamp).toBeDefined();
    expect(victim.status.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
    });
    const event = (await cluster.api(CoreEvent).list()).items.find(({ reason }) => reason === 'Preempted');
    expect(event).toMatchObject({
      action: 'Preempting',
      message: `Preempted by pod ${high.metadata.uid} on node a`,
      involvedObject: { name: 'low' },
      related: { kind: 'Pod', name: 'high', uid: high.metadata.uid },
    });

    await pods.delete('low', NO_GRACE);
    await cluster.settle();
    expect(await nodeOf('high')).toBe('a');
  });

  test('keeps the place of a nominated pod from other pods', async () => {
    const { cluster, pods, nodeOf } = await occupied();
    await pods.create(pod('high', '800m', { priorityClassName: 'high' }));
    await cluster.settle();
    // Beside the victim it would fit.
    await pods.create(pod('small', '200m'));
    await cluster.settle();
    expect(await nodeOf('small')).toBeUndefined();
    await pods.delete('low', NO_GRACE);
    await cluster.settle();
    expect([await nodeOf('high'), await nodeOf('small')]).toEqual(['a', 'a']);
  });

  test('does not preempt again while its victims terminate', async () => {
    const { cluster, pods, nodes, scheduled } = await occupied();
    await pods.create(pod('high', '800m', { priorityClassName: 'high' }));
    await cluster.settle();
    await nodes.edit('a', (draft) => {
      draft.metadata.labels = { changed: 'yes' };
    });
    await cluster.settle();
    expect((await scheduled('high'))?.message).toBe(
      '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a terminating pod on the nominated node.',
    );
  });

  test('completes within settle if victims are removed at once', async () => {
    const { cluster, pods, nodeOf } = await occupied([stages([removedPods()])]);
    await pods.create(pod('high', '800m', { priorityClassName: 'high' }));
    await cluster.settle();
    expect([await nodeOf('high'), await pods.find('low')]).toEqual(['a', undefined]);
  });

  test('prefers victims that a disruption budget allows to remove', async () => {
    const { cluster, pods, nodes } = await occupied([disruptionBudgets()]);
    await nodes.create(node('b'));
    await pods.create(pod('other', '800m'));
    await cluster.api(PodDisruptionBudget).create({
      metadata: { name: 'low' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'low' } } },
    });
    await cluster.settle();
    await pods.create(pod('high', '800m', { priorityClassName: 'high' }));
    await cluster.settle();
    expect((await pods.get('high')).status.nominatedNodeName).toBe('b');
    expect((await pods.get('low')).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('volumes', () => {
  const claim = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };
  const user = pod('web', '100m', {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  });

  async function withClass(provisioner: string) {
    const world = setting({}, [persistentVolumes(), volumeProvisioner({ provisioners: ['example.com/disk'] })]);
    const { cluster, nodes } = world;
    for (const name of ['a', 'b']) await nodes.create({ ...node(name), metadata: { name, labels: { host: name } } });
    await cluster.api(StorageClass).create({
      metadata: { name: 'wait' },
      provisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await cluster.api(PersistentVolumeClaim).create({
      metadata: { name: 'data' },
      spec: { ...claim, storageClassName: 'wait' },
    });
    return world;
  }

  test('binds a pod to the node of a matching volume, after the volume is bound', async () => {
    const { cluster, pods, nodeOf } = await withClass('orch.io/no-provisioner');
    const term = { matchExpressions: [{ key: 'host', operator: 'In' as const, values: ['b'] }] };
    await cluster.api(PersistentVolume).create({
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '2Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'wait',
        local: { path: '/data' },
        nodeAffinity: { required: { nodeSelectorTerms: [term] } },
      },
    });
    await cluster.settle();
    await pods.create(user);
    await cluster.settle();
    expect(await nodeOf('web')).toBe('b');
    expect((await cluster.api(PersistentVolumeClaim).get('data')).spec.volumeName).toBe('disk');
  });

  test('selects a node for a volume that is provisioned, and waits for it', async () => {
    const { cluster, pods, nodeOf } = await withClass('example.com/disk');
    await pods.create(user);
    await cluster.settle();
    expect(await nodeOf('web')).toBe('a');
    const { metadata, status } = await cluster.api(PersistentVolumeClaim).get('data');
    expect(metadata.annotations).toMatchObject({ 'volume.orch.io/selected-node': 'a' });
    expect(status.phase).toBe('Bound');
  });

  test('reports that the selected node was deleted before the volume is bound', async () => {
    const { cluster, pods, nodes, scheduled } = await withClass('example.com/absent');
    await pods.create(user);
    await cluster.settle();
    await nodes.delete('a');
    await cluster.settle();
    expect(await scheduled('web')).toMatchObject({
      reason: 'SchedulerError',
      message: 'running PreBind plugin "VolumeBinding": binding volumes: failed to get node "a": node "a" not found',
    });
  });

  test('reports that no volume was provisioned in time, and tries again', async () => {
    const { cluster, pods, scheduled, nodeOf } = await withClass('example.com/absent');
    await pods.create(user);
    await cluster.settle();
    expect(await nodeOf('web')).toBeUndefined();
    expect(await scheduled('web')).toBeUndefined();
    await cluster.clock.advance(600_000);
    expect(await scheduled('web')).toMatchObject({
      reason: 'SchedulerError',
      message: 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
    });
  });
});
