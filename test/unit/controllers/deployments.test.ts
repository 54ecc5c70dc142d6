/** Deployment controller: ReplicaSets per template, rolling updates, scaling and pausing. */
import { Pod, ReplicaSet } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeploymentWorld } from './deployment-fixture.js';

let world: DeploymentWorld;
beforeEach(() => {
  world = new DeploymentWorld();
});
afterEach(() => world.close());

const REVISION = 'deployment.orch.io/revision';
const DESIRED = 'deployment.orch.io/desired-replicas';
const MAX = 'deployment.orch.io/max-replicas';

describe('new Deployment', () => {
  test('creates a ReplicaSet from the template', async () => {
    await world.make({ minReadySeconds: 3 }, { name: 'd', annotations: { note: 'n' }, labels: { l: 'dep' } });
    const [set, ...others] = await world.sets();
    expect(others).toEqual([]);
    const hash = set?.metadata.labels?.['pod-template-hash'] ?? '';
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{7,10}$/);
    const { uid } = (await world.deployment()).metadata;
    expect(set?.metadata).toMatchObject({
      name: `d-${hash}`,
      labels: { app: 'x', 'pod-template-hash': hash },
      annotations: { [REVISION]: '1', [DESIRED]: '2', [MAX]: '3', note: 'n' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid, controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(set?.metadata.labels).not.toHaveProperty('l');
    expect(set?.spec).toMatchObject({
      replicas: 2,
      minReadySeconds: 3,
      selector: { matchLabels: { app: 'x', 'pod-template-hash': hash } },
    });
    expect(set?.spec.template.metadata?.labels).toEqual({ app: 'x', 'pod-template-hash': hash });
    expect((await world.deployment()).metadata.annotations).toEqual({ [REVISION]: '1', note: 'n' });
    expect(await world.events({ kind: 'Deployment' })).toEqual([
      `ScalingReplicaSet: Scaled up replica set d-${hash} from 0 to 2`,
    ]);
    expect(world.complaints).toEqual([]);
  });

  test('reports replica counts and conditions during the first rollout', async () => {
    await world.make();
    const { name } = (await world.setOf('i:1')).metadata;
    expect(await world.counts()).toEqual({
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      unavailableReplicas: 2,
    });
    expect(await world.conditions()).toEqual([
      'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
      `Progressing=True ReplicaSetUpdated: ReplicaSet "${name}" is progressing.`,
    ]);
    await world.runPodsOf('i:1', 1);
    expect(await world.counts()).toMatchObject({ readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 });
    await world.runAll();
    expect(await world.counts()).toEqual({
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
    });
    expect(await world.conditions()).toEqual([
      'Available=True MinimumReplicasAvailable: Deployment has minimum availability.',
      `Progressing=True NewReplicaSetAvailable: ReplicaSet "${name}" has successfully progressed.`,
    ]);
    const [pod = ''] = await world.podNames();
    await world.stop(pod);
    expect(await world.conditions()).toEqual([
      `Progressing=True NewReplicaSetAvailable: ReplicaSet "${name}" has successfully progressed.`,
      'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
    ]);
  });

  test('completes a Deployment with zero replicas at once', async () => {
    await world.make({ replicas: 0 });
    expect(await world.sizes()).toEqual({ 'i:1': 0 });
    expect(await world.counts()).toEqual({ observedGeneration: 1 });
    expect(await world.progressing()).toMatch(/NewReplicaSetAvailable/);
    expect(await world.events()).toEqual([]);
  });

  test('writes the status through the subresource and only when it changes', async () => {
    await world.make();
    await world.runAll();
    const { metadata } = await world.deployment();
    const own = metadata.managedFields?.find(({ manager }) => manager === 'kube-controller-manager');
    expect(own).toMatchObject({ operation: 'Update', subresource: 'status' });
    await world.cluster.api(Pod).patch((await world.podNames())[0] ?? '', {
      type: 'merge',
      merge: { metadata: { annotations: { note: 'n' } } },
    });
    expect((await world.deployment()).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});

describe('Deployment rolling update', () => {
  test('counts revisions with 64 bits', async () => {
    await world.make();
    const set = await world.setOf('i:1');
    const annotations = { ...set.metadata.annotations, [REVISION]: '3546343826724305832' };
    await world.cluster.api(ReplicaSet).update({ ...set, metadata: { ...set.metadata, annotations } });
    await world.roll('i:2');
    expect((await world.deployment()).metadata.annotations?.[REVISION]).toBe('3546343826724305833');
  });

  test('stops at maxSurge and maxUnavailable while no new pod is ready', async () => {
    await world.make({ replicas: 4 });
    await world.runAll();
    await world.roll('i:2');
    expect(await world.sizes()).toEqual({ 'i:1': 3, 'i:2': 2 });
    expect(await world.counts()).toEqual({
      observedGeneration: 2,
      replicas: 5,
      updatedReplicas: 2,
      readyReplicas: 3,
      availableReplicas: 3,
      unavailableReplicas: 2,
    });
    expect((await world.deployment()).metadata.annotations?.[REVISION]).toBe('2');
    expect(await world.conditions()).toEqual([
      'Available=True MinimumReplicasAvailable: Deployment has minimum availability.',
      `Progressing=True ReplicaSetUpdated: ReplicaSet "${(await world.setOf('i:2')).metadata.name}" is progressing.`,
    ]);
  });

  test('continues with each pod that becomes available until it is complete', async () => {
    await world.make({ replicas: 4 });
    await world.runAll();
    await world.roll('i:2');
    await world.runPodsOf('i:2', 1);
    expect(await world.sizes()).toEqual({ 'i:1': 2, 'i:2': 3 });
    await world.runAll();
    expect(await world.sizes()).toEqual({ 'i:1': 0, 'i:2': 4 });
    expect(await world.counts()).toEqual({
      observedGeneration: 2,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
    });
    expect(await world.progressing()).toMatch(/^Progressing=True NewReplicaSetAvailable/);
    const { name } = (await world.setOf('i:2')).metadata;
    expect(await world.events({ kind: 'Deployment' })).toContain(
      `ScalingReplicaSet: Scaled up replica set ${name} from 2 to 3`,
    );
    expect(world.complaints).toEqual([]);
  });

  test.each([
    { maxSurge: 1, maxUnavailable: 0, first: { 'i:1': 4, 'i:2': 1 } },
    { maxSurge: 0, maxUnavailable: 1, first: { 'i:1': 3, 'i:2': 1 } },
    { maxSurge: '50%', maxUnavailable: '25%', first: { 'i:1': 3, 'i:2': 3 } },
    { maxSurge: '100%', maxUnavailable: '100%', first: { 'i:1': 0, 'i:2': 4 } },
    { maxSurge: '1%', maxUnavailable: '1%', first: { 'i:1': 4, 'i:2': 1 } },
    { maxSurge: 0, maxUnavailable: '1%', first: { 'i:1': 3, 'i:2': 1 } },
  ])(
    'starts with $first at maxSurge $maxSurge and maxUnavailable $maxUnavailable',
    async ({ maxSurge, maxUnavailable, first }) => {
      await world.make({ replicas: 4, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } });
      await world.runAll();
      await world.roll('i:2');
      expect(await world.sizes()).toEqual(first);
      await world.runAll();
      expect(await world.sizes()).toEqual({ 'i:1': 0, 'i:2': 4 });
    },
  );

  test('deletes unhealthy old pods first', async () => {
    await world.make({ replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await world.roll('i:2');
    // The old pods never became ready.
    expect(await world.sizes()).toEqual({ 'i:1': 2, 'i:2': 1 });
    await world.runPodsOf('i:2', 1);
    expect(await world.sizes()).toEqual({ 'i:1': 1, 'i:2': 2 });
    await world.runAll();
    expect(await world.sizes()).toEqual({ 'i:1': 0, 'i:2': 2 });
  });

  test('waits for minReadySeconds before it continues', async () => {
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await world.make({ replicas: 1, minReadySeconds: 30, strategy });
    await world.runAll();
    await world.advance(30);
    await world.roll('i:2');
    await world.runPodsOf('i:2');
    expect(await world.sizes()).toEqual({ 'i:1': 1, 'i:2': 1 });
    await world.advance(29);
    expect(await world.sizes()).toEqual({ 'i:1': 1, 'i:2': 1 });
    await world.advance(1);
    expect(await world.sizes()).toEqual({ 'i:1': 0, 'i:2': 1 });
  });

  test('ends with the last of three templates', async () => {
    await world.make({ replicas: 3 });
    await world.runAll();
    await world.roll('i:2');
    await world.runPodsOf('i:2', 1);
    await world.roll('i:3');
    await world.runAll();
    expect(await world.sizes()).toEqual({ 'i:1': 0, 'i:2': 0, 'i:3': 3 });
    expect((await world.deployment()).metadata.annotations?.[REVISION]).toBe('3');
  });

  test('applies minReadySeconds and annotation changes without a new ReplicaSet', async () => {
    await world.make();
    await world.change({ minReadySeconds: 7 }, { annotations: { note: 'later' } });
    const set = await world.setOf('i:1');
    expect(set.spec.minReadySeconds).toBe(7);
    expect(set.metadata.annotations).toMatchObject({ note: 'later', [REVISION]: '1' });
    await world.change({ minReadySeconds: 0 });
    expect((await world.setOf('i:1')).spec).not.toHaveProperty('minReadySeconds');
    expect(await world.sets()).toHaveLength(1);
  });
});

describe('Deployment Recreate strategy', () => {
  test('creates no new pod before the last old pod is deleted', async () => {
    await world.node('n');
    await world.make({ replicas: 2, strategy: { type: 'Recreate' } });
    expect((await world.setOf('i:1')).metadata.annotations).toMatchObject({ [DESIRED]: '2', [MAX]: '2' });
    const old = await world.podNames();
    await world.bind(old[0] ?? '', 'n');
    await world.runAll();
    await world.roll('i:2');
    // The pod is bound to a node, so it remains until its kubelet stops it.
    expect(await world.sizes()).toEqual({ 'i:1': 0 });
    expect(await world.podNames()).toEqual([old[0]]);
    await world.cluster.api(Pod).delete(old[0] ?? '', { gracePeriodSeconds: 0 });
    expect(await world.sizes()).toEqual({ 'i:1': 0, 'i:2': 2 });
    await world.runAll();
    expect(await world.progressing()).toMatch(/NewReplicaSetAvailable/);
  });
});

describe('Deployment scaling', () => {
  test('scales the only ReplicaSet', async () => {
    await world.make({ replicas: 1 });
    await world.change({ replicas: 3 });
    const set = await world.setOf('i:1');
    expect(set.spec.replicas).toBe(3);
    expect(set.metadata.annotations).toMatchObject({ [DESIRED]: '3', [MAX]: '4' });
    await world.change({ replicas: 0 });
    expect(await world.sizes()).toEqual({ 'i:1': 0 });
    expect(await world.events({ kind: 'Deployment' })).toEqual([
      `ScalingReplicaSet: Scaled up replica set ${set.metadata.name} from 0 to 1`,
      `ScalingReplicaSet: Scaled up replica set ${set.metadata.name} from 1 to 3`,
      `ScalingReplicaSet: Scaled down replica set ${set.metadata.name} from 3 to 0`,
    ]);
  });

  test.each([
    { to: 20, expected: { 'i:1': 15, 'i:2': 10 } },
    { to: 15, expected: { 'i:1': 12, 'i:2': 7 } },
    { to: 5, expected: { 'i:1': 4, 'i:2': 3 } },
    { to: 0, expected: { 'i:1': 0, 'i:2': 0 } },
  ])('scales both ReplicaSets in proportion from 10 to $to during a rollout', async ({ to, expected }) => {
    await world.make({ replicas: 10 });
    await world.runAll();
    await world.roll('i:2');
    // maxSurge is 3 and maxUnavailable is 2.
    expect(await world.sizes()).toEqual({ 'i:1': 8, 'i:2': 5 });
    await world.change({ paused: true });
    await world.change({ replicas: to });
    expect(await world.sizes()).toEqual(expected);
  });

  test('scales by the current replicas without the annotations', async () => {
    await world.make({ replicas: 10 });
    await world.runAll();
    await world.roll('i:2');
    await world.change({ paused: true });
    for (const { metadata } of await world.sets()) {
      await world.cluster
        .api(ReplicaSet)
        .patch(metadata.name, { type: 'merge', merge: { metadata: { annotations: { [MAX]: null } } } });
    }
    await world.change({ replicas: 20 });
    expect(await world.sizes()).toEqual({ 'i:1': 15, 'i:2': 10 });
  });

  test('reverts changes of other clients to the newest ReplicaSet', async () => {
    await world.make({ replicas: 2 });
    const { metadata } = await world.setOf('i:1');
    await world.cluster.api(ReplicaSet).patch(metadata.name, { type: 'merge', merge: { spec: { replicas: 5 } } });
    expect(await world.sizes()).toEqual({ 'i:1': 2 });
  });
});

describe('paused Deployment', () => {
  test('creates no ReplicaSet for a paused Deployment', async () => {
    await world.make({ paused: true });
    expect(await world.sets()).toEqual([]);
    expect(await world.conditions()).toEqual([
      'Progressing=Unknown DeploymentPaused: Deployment is paused',
      'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
    ]);
    expect(await world.counts()).toEqual({ observedGeneration: 1 });
    await world.change({ paused: false });
    expect(await world.sizes()).toEqual({ 'i:1': 2 });
    expect(await world.progressing()).toMatch(/^Progressing=True ReplicaSetUpdated/);
  });

  test('delays a new template while paused but scales at once', async () => {
    await world.make();
    await world.runAll();
    await world.change({ paused: true });
    await world.roll('i:2', { replicas: 4 });
    expect(await world.sizes()).toEqual({ 'i:1': 4 });
    expect(await world.progressing()).toBe('Progressing=Unknown DeploymentPaused: Deployment is paused');
    await world.change({ paused: false });
    expect(await world.sizes()).toMatchObject({ 'i:2': 2 });
  });

  test('stops the progress deadline while paused', async () => {
    await world.make({ progressDeadlineSeconds: 10 });
    await world.change({ paused: true });
    await world.advance(60);
    expect(await world.progressing()).toMatch(/DeploymentPaused/);
    await world.change({ paused: false });
    expect(await world.progressing()).toBe('Progressing=Unknown DeploymentResumed: Deployment is resumed');
    await world.advance(9);
    expect(await world.progressing()).toMatch(/DeploymentResumed/);
    await world.advance(1);
    expect(await world.progressing()).toMatch(/^Progressing=False ProgressDeadlineExceeded/);
  });
});
