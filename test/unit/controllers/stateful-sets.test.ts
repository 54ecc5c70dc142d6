/** StatefulSet controller: ordered and parallel pods, updates, history and status. */
import { statefulSets } from 'orchplane/controllers';
import { ControllerRevision, Pod, StatefulSet, type StatefulSetInput } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

type Spec = Partial<NonNullable<StatefulSetInput['spec']>>;

let world: WorkloadWorld;
beforeEach(() => {
  world = new WorkloadWorld([statefulSets()]);
});
afterEach(() => world.close());

async function make(spec: Spec = {}, metadata: StatefulSetInput['metadata'] = { name: 'web' }) {
  const all = { replicas: 2, serviceName: 'svc', selector, template: template(), ...spec };
  await world.cluster.api(StatefulSet).create({ metadata, spec: all });
  await world.cluster.settle();
}

async function change(spec: object) {
  await world.cluster.api(StatefulSet).patch('web', { type: 'merge', merge: { spec } });
  await world.cluster.settle();
}

async function status() {
  await world.cluster.settle();
  const { currentRevision, updateRevision, ...rest } = (await world.cluster.api(StatefulSet).get('web')).status;
  return { ...rest, isUpdating: currentRevision !== updateRevision };
}

async function images() {
  return (await world.pods()).map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]?.image}`);
}

describe('ordered StatefulSet', () => {
  test('creates a pod when its predecessor is ready', async () => {
    await make({ replicas: 3 });
    expect(await world.podNames()).toEqual(['web-0']);
    await world.run('web-0');
    expect(await world.podNames()).toEqual(['web-0', 'web-1']);
    await world.run('web-1', 'web-2');
    expect(await world.podNames()).toEqual(['web-0', 'web-1', 'web-2']);
    expect(await status()).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      collisionCount: 0,
      isUpdating: false,
    });
    expect(world.complaints).toEqual([]);
  });

  test('sets the ordinal in name, labels and host name of a pod', async () => {
    await make({ replicas: 1 });
    const set = await world.cluster.api(StatefulSet).get('web');
    const pod = await world.pod('web-0');
    expect(pod.metadata.generateName).toBe('web-');
    expect(pod.metadata.labels).toEqual({
      app: 'x',
      'apps.orch.io/pod-index': '0',
      'statefulset.orch.io/pod-name': 'web-0',
      'controller-revision-hash': set.status.updateRevision,
    });
    expect(pod.spec).toMatchObject({ hostname: 'web-0', subdomain: 'svc' });
    expect(pod.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        name: 'web',
        uid: set.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(await world.events()).toEqual(['SuccessfulCreate: create Pod web-0 in StatefulSet web successful']);
  });

  test('deletes the highest ordinal first, one pod at a time', async () => {
    await make({ replicas: 3 });
    await world.run('web-0', 'web-1', 'web-2');
    const hold = { type: 'merge', merge: { metadata: { finalizers: ['example.com/hold'] } } } as const;
    for (const pod of ['web-1', 'web-2']) await world.cluster.api(Pod).patch(pod, hold);
    await change({ replicas: 0 });
    const going = async () =>
      (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
    expect(await going()).toEqual(['web-2']);
    await world.cluster.api(Pod).patch('web-2', { type: 'merge', merge: { metadata: { finalizers: null } } });
    expect(await going()).toEqual(['web-1']);
    await world.cluster.api(Pod).patch('web-1', { type: 'merge', merge: { metadata: { finalizers: null } } });
    expect(await world.podNames()).toEqual([]);
  });

  test('deletes no pod while a lower pod is not ready, except that pod', async () => {
    await make({ replicas: 3 });
    await world.run('web-0', 'web-1', 'web-2');
    await world.stop('web-1');
    await change({ replicas: 1 });
    expect(await world.podNames()).toEqual(['web-0']);

    await change({ replicas: 3 });
    await world.run('web-1', 'web-2');
    await world.stop('web-0');
    await change({ replicas: 1 });
    // web-0 stays and is not ready, so the others wait for it.
    expect(await world.podNames()).toEqual(['web-0', 'web-1', 'web-2']);
    await world.run('web-0');
    expect(await world.podNames()).toEqual(['web-0']);
  });

  test('recreates a deleted pod under its name and replaces a finished pod', async () => {
    await make({ replicas: 1 });
    await world.run('web-0');
    const first = (await world.pod('web-0')).metadata.uid;
    await world.remove('web-0');
    const second = (await world.pod('web-0')).metadata.uid;
    expect(second).not.toBe(first);
    for (const phase of ['Failed', 'Succeeded']) {
      const before = (await world.pod('web-0')).metadata.uid;
      await world.setStatus('web-0', { phase });
      const after = await world.pod('web-0');
      expect(after.metadata.uid).not.toBe(before);
      expect(after.status.phase).toBe('Pending');
    }
  });

  test('starts at the configured ordinal and deletes lower ones', async () => {
    await make({ replicas: 2, ordinals: { start: 3 } });
    await world.run('web-3');
    expect(await world.podNames()).toEqual(['web-3', 'web-4']);
    expect((await world.pod('web-4')).metadata.labels).toMatchObject({ 'apps.orch.io/pod-index': '4' });
    await world.run('web-4');
    await change({ ordinals: { start: 4 } });
    await world.run('web-5');
    expect(await world.podNames()).toEqual(['web-4', 'web-5']);
  });

  test('creates the next pod when its predecessor is available after minReadySeconds', async () => {
    await make({ replicas: 2, minReadySeconds: 10 });
    await world.run('web-0');
    expect(await status()).toMatchObject({ replicas: 1, readyReplicas: 1, availableReplicas: 0 });
    await world.advance(9);
    expect(await world.podNames()).toEqual(['web-0']);
    await world.advance(1);
    expect(await world.podNames()).toEqual(['web-0', 'web-1']);
    expect(await status()).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
  });
});

describe('parallel StatefulSet', () => {
  test('does not compute two billion replicas before it creates the first one', async () => {
    await make({ replicas: 2_147_483_647 });
    expect(await world.podNames()).toEqual(['web-0']);
  });

  test('creates more pods than one reconcile creates', async () => {
    await make({ replicas: 1_200, podManagementPolicy: 'Parallel' });
    expect(await world.podNames()).toHaveLength(1_200);
    expect(await status()).toMatchObject({ replicas: 1_200 });
  });

  test('creates and deletes pods without waiting', async () => {
    await make({ replicas: 5, podManagementPolicy: 'Parallel' });
    expect(await world.podNames()).toEqual(['web-0', 'web-1', 'web-2', 'web-3', 'web-4']);
    expect(await status()).toMatchObject({ replicas: 5, currentReplicas: 5, updatedReplicas: 5, availableReplicas: 0 });
    await change({ replicas: 1 });
    expect(await world.podNames()).toEqual(['web-0']);
  });

  test('creates the other pods of a batch when one is rejected, and records an event', async () => {
    await world.cluster
      .api(Pod)
      .create({ metadata: { name: 'web-1' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await make({ replicas: 4, podManagementPolicy: 'Parallel' });
    // web-1 does not belong to the set. The next batch waits for it.
    expect(await world.podNames()).toEqual(['web-0', 'web-1', 'web-2']);
    expect(world.complaints.length).toBeGreaterThan(0);
    await world.remove('web-1');
    await world.advance(60);
    expect(await world.podNames()).toEqual(['web-0', 'web-1', 'web-2', 'web-3']);
  });
});

describe('StatefulSet updates', () => {
  test('updates from the highest ordinal down and waits for each pod', async () => {
    await make({ replicas: 2 });
    await world.run('web-0', 'web-1');
    await change({ template: template('i:2') });
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:2']);
    expect(await status()).toMatchObject({ currentReplicas: 1, updatedReplicas: 1, isUpdating: true });
    await world.run('web-1');
    expect(await images()).toEqual(['web-0 i:2', 'web-1 i:2']);
    expect(await status()).toMatchObject({ updatedReplicas: 2, isUpdating: true });
    await world.run('web-0');
    expect(await status()).toMatchObject({ currentReplicas: 2, updatedReplicas: 2, isUpdating: false });
  });

  test('keeps ordinals below the partition at the old revision, also when recreated', async () => {
    await make({ replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } });
    await world.run('web-0', 'web-1', 'web-2');
    await change({ template: template('i:2') });
    await world.run('web-2');
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:1', 'web-2 i:2']);
    await world.remove('web-0');
    await world.run('web-0');
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:1', 'web-2 i:2']);
    expect(await status()).toMatchObject({ currentReplicas: 2, updatedReplicas: 1, isUpdating: true });
    await change({ updateStrategy: { rollingUpdate: { partition: 0 } } });
    await world.run('web-1', 'web-0');
    expect(await images()).toEqual(['web-0 i:2', 'web-1 i:2', 'web-2 i:2']);
    expect(await status()).toMatchObject({ isUpdating: false });
  });

  test('replaces a pod only after its deletion with OnDelete', async () => {
    await make({ replicas: 2, updateStrategy: { type: 'OnDelete' } });
    await world.run('web-0', 'web-1');
    await change({ template: template('i:2') });
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:1']);
    await world.remove('web-0');
    expect(await images()).toEqual(['web-0 i:2', 'web-1 i:1']);
  });

  test('waits for an unready pod unless it is the next to be replaced', async () => {
    await make({ replicas: 2 });
    await world.run('web-0', 'web-1');
    await change({ template: template('i:bad') });
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:bad']);
    await change({ template: template('i:3') });
    // An ordered set waits for web-1 first, as the reference server does.
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:bad']);
    await world.remove('web-1');
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:3']);
  });

  test('replaces several pods at once with the MaxUnavailableStatefulSet feature gate', async () => {
    world = new WorkloadWorld([statefulSets()], { featureGates: { MaxUnavailableStatefulSet: true } });
    const updateStrategy = { rollingUpdate: { maxUnavailable: '50%' } };
    await make({ replicas: 5, podManagementPolicy: 'Parallel', updateStrategy });
    await world.run('web-0', 'web-1', 'web-2', 'web-3', 'web-4');
    await change({ template: template('i:2') });
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:1', 'web-2 i:1', 'web-3 i:2', 'web-4 i:2']);
    await world.run('web-3');
    expect(await images()).toEqual(['web-0 i:1', 'web-1 i:1', 'web-2 i:2', 'web-3 i:2', 'web-4 i:2']);
  });
});

describe('StatefulSet history', () => {
  test('creates a revision per template with a name from its hash', async () => {
    await make({ replicas: 1 }, { name: 'web', annotations: { note: 'kept' } });
    const [revision, ...others] = await world.revisions();
    expect(others).toEqual([]);
    const set = await world.cluster.api(StatefulSet).get('web');
    expect(revision).toMatchObject({
      revision: 1,
      metadata: {
        name: set.status.updateRevision,
        annotations: { note: 'kept' },
        labels: { app: 'x', 'controller.orch.io/hash': set.status.updateRevision?.slice('web-'.length) },
      },
      data: { spec: { template: { $patch: 'replace', ...set.spec.template } } },
    });
    expect(revision?.metadata.ownerReferences).toMatchObject([{ kind: 'StatefulSet', name: 'web', controller: true }]);
  });

  test('makes the revision of a restored template the newest', async () => {
    await make({ replicas: 0 });
    await change({ template: template('i:2') });
    expect((await world.revisions()).map(({ revision }) => revision)).toEqual([1, 2]);
    await change({ template: template('i:1') });
    const revisions = await world.revisions();
    expect(revisions.map(({ revision }) => revision)).toEqual([2, 3]);
    const { updateRevision } = (await world.cluster.api(StatefulSet).get('web')).status;
    expect(revisions[1]?.metadata.name).toBe(updateRevision);
  });

  test('keeps old revisions up to the limit and those of existing pods', async () => {
    await make({ replicas: 1, revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } });
    await world.run('web-0');
    for (const image of ['i:2', 'i:3', 'i:4', 'i:5']) await change({ template: template(image) });
    // 1 belongs to the pod, 5 is the newest, 4 is within the limit.
    expect((await world.revisions()).map(({ revision }) => revision)).toEqual([1, 4, 5]);
  });

  test('compares a hundred long revisions with a changed template without printing them', async () => {
    const env = Array.from({ length: 10_000 }, (_, at) => ({ name: `A${at}`, value: 'v' }));
    const long = template('i:1', { containers: [{ name: 'c', image: 'i:1', env }] });
    await make({ replicas: 0, revisionHistoryLimit: 1_000, template: long });
    const [first] = await world.revisions();
    const stored = JSON.stringify(first?.data);
    for (let at = 0; at < 100; at++) {
      // Only the end differs.
      const data = JSON.parse(
        stored.replace('"terminationGracePeriodSeconds":30', `"terminationGracePeriodSeconds":${31 + at}`),
      );
      await world.cluster.api(ControllerRevision).create({
        metadata: { name: `old-${at}`, labels: { app: 'x' }, ownerReferences: first?.metadata.ownerReferences ?? [] },
        data,
        revision: 1,
      });
    }
    const changed = cpuTimer();
    await change({ template: { spec: { terminationGracePeriodSeconds: 29 } } });

    expect(changed()).toBeLessThan(1_500);
    expect(await world.revisions()).toHaveLength(102);
  });

  test('resolves a name collision with the collision count', async () => {
    await make({ replicas: 0 });
    const { updateRevision = '' } = (await world.cluster.api(StatefulSet).get('web')).status;
    await world.cluster.api(StatefulSet).delete('web');
    await world.cluster.api(ControllerRevision).delete(updateRevision);
    await world.cluster.settle();
    await world.cluster
      .api(ControllerRevision)
      .create({ metadata: { name: updateRevision }, data: { a: 1 }, revision: 1 });
    await make({ replicas: 0 });
    const { updateRevision: other, collisionCount } = (await world.cluster.api(StatefulSet).get('web')).status;
    expect(other).not.toBe(updateRevision);
    expect(collisionCount).toBe(1);
  });

  test('adopts matching orphaned revisions', async () => {
    await make({ replicas: 0 });
    const [before] = await world.revisions();
    await world.cluster.api(StatefulSet).delete('web');
    const name = before?.metadata.name ?? '';
    await world.cluster
      .api(ControllerRevision)
      .patch(name, { type: 'merge', merge: { metadata: { ownerReferences: null } } });
    await make({ replicas: 0 });
    const { uid } = (await world.cluster.api(StatefulSet).get('web')).metadata;
    const after = await world.revisions();
    expect(after.map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.uid])).toEqual([[name, uid]]);
  });
});

describe('StatefulSet ownership', () => {
  const container = { containers: [{ name: 'c', image: 'i:1' }] };

  test('adopts an orphan with matching labels and name and ignores others', async () => {
    const pods = world.cluster.api(Pod);
    await pods.create({ metadata: { name: 'web-0', labels: { app: 'x' } }, spec: container });
    await pods.create({ metadata: { name: 'other-0', labels: { app: 'x' } }, spec: container });
    await make({ replicas: 1 });
    await world.run('web-0');
    const adopted = await world.pod('web-0');
    expect(adopted.metadata.ownerReferences).toMatchObject([{ kind: 'StatefulSet', name: 'web' }]);
    expect(adopted.metadata.labels).toMatchObject({
      'statefulset.orch.io/pod-name': 'web-0',
      'apps.orch.io/pod-index': '0',
    });
    expect((await world.pod('other-0')).metadata.ownerReferences).toBeUndefined();
    expect(await world.events()).toContain('SuccessfulUpdate: update Pod web-0 in StatefulSet web successful');
  });

  test('releases a pod that no longer matches and recreates its name', async () => {
    await make({ replicas: 1 });
    await world.run('web-0');
    await world.cluster.api(Pod).patch('web-0', { type: 'merge', merge: { metadata: { labels: { app: 'y' } } } });
    expect((await world.pod('web-0')).metadata.ownerReferences).toBeUndefined();
    await world.remove('web-0');
    await world.advance(60);
    expect((await world.pod('web-0')).metadata.ownerReferences).toMatchObject([{ name: 'web' }]);
  });

  test('creates no pods for a terminating StatefulSet', async () => {
    await make({ replicas: 1 }, { name: 'web', finalizers: ['example.com/hold'] });
    await world.cluster.api(StatefulSet).delete('web');
    await world.remove('web-0');
    expect(await world.podNames()).toEqual([]);
    expect(await status()).toMatchObject({ replicas: 0 });
  });

  test('records an event for a rejected pod and retries', async () => {
    await make({ replicas: 1, template: template('i:1', { priorityClassName: 'missing' }) });
    expect(await world.podNames()).toEqual([]);
    const [event] = await world.events({ type: 'Warning' });
    expect(event).toBe(
      'FailedCreate: create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden: no PriorityClass with name missing was found',
    );
    expect(await status()).toMatchObject({ observedGeneration: 1, replicas: 0 });
  });
});
