/** What the scheduler changes besides the pod: pods of a lower priority, and volumes. */
import {
  type Controller,
  disruptionBudgets,
  persistentVolumes,
  removedPods,
  stages,
  volumeProvisioner,
} from 'orchplane/controllers';
import {
  CoreEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  PriorityClass,
  StorageClass,
} from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { NO_GRACE, node, pod, setting } from './cluster-fixture.js';

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
