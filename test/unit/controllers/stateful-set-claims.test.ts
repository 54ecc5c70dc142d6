/** StatefulSet claims: created before pods, retained by default, owned according to the retention policy. */
import { claimProtection, garbageCollector, statefulSets } from 'orchplane/controllers';
import { ConfigMap, PersistentVolumeClaim, Pod, StatefulSet, type StatefulSetInput } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

let world: WorkloadWorld;
beforeEach(() => {
  world = new WorkloadWorld([statefulSets(), garbageCollector(), claimProtection()]);
});
afterEach(() => world.close());

type Retention = 'Retain' | 'Delete';
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;

async function make(spec: Partial<NonNullable<StatefulSetInput['spec']>> = {}) {
  const volumeClaimTemplates = [
    { metadata: { name: 'data', labels: { tier: 'slow' }, annotations: { note: 'n' } }, spec: claimSpec },
  ];
  const all = { replicas: 2, serviceName: 'svc', selector, template: template(), volumeClaimTemplates, ...spec };
  await world.cluster
    .api(StatefulSet)
    .create({ metadata: { name: 'web' }, spec: { podManagementPolicy: 'Parallel', ...all } as never });
  await world.cluster.settle();
}

async function change(spec: object) {
  await world.cluster.api(StatefulSet).patch('web', { type: 'merge', merge: { spec } });
  await world.cluster.settle();
}

/** Each claim with the kind of its owner. */
async function owners() {
  await world.cluster.settle();
  const { items } = await world.cluster.api(PersistentVolumeClaim).list();
  return items.map(
    ({ metadata }) => `${metadata.name}: ${metadata.ownerReferences?.map(({ kind }) => kind).join() ?? 'none'}`,
  );
}

test('creates a claim for each pod and mounts it under the template name', async () => {
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'other', emptyDir: {} },
  ];
  await make({ template: template('i:1', { volumes }) });
  const claim = await world.cluster.api(PersistentVolumeClaim).get('data-web-1');
  expect(claim.metadata).toMatchObject({ labels: { app: 'x', tier: 'slow' }, annotations: { note: 'n' } });
  expect(claim.spec).toMatchObject(claimSpec);
  expect((await world.pod('web-1')).spec.volumes).toEqual([
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
    { name: 'other', emptyDir: {} },
  ]);
  expect((await world.events()).sort()).toEqual([
    'SuccessfulCreate: create Claim data-web-0 Pod web-0 in StatefulSet web success',
    'SuccessfulCreate: create Claim data-web-1 Pod web-1 in StatefulSet web success',
    'SuccessfulCreate: create Pod web-0 in StatefulSet web successful',
    'SuccessfulCreate: create Pod web-1 in StatefulSet web successful',
  ]);
});

test('copies everything from the claim template except the name', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'm', uid: 'u' };
  const metadata = { name: 'data', generateName: 'some-', finalizers: ['example.com/f'], ownerReferences: [owner] };
  await make({ replicas: 1, volumeClaimTemplates: [{ metadata, spec: claimSpec }] as never });
  const claim = await world.cluster.api(PersistentVolumeClaim).get('data-web-0');
  expect(claim.metadata).toMatchObject({ generateName: 'some-', ownerReferences: [owner] });
  expect(claim.metadata.finalizers).toContain('example.com/f');
});

test('reuses the claim of a recreated pod and keeps claims of deleted pods and sets', async () => {
  await make();
  const { uid } = (await world.cluster.api(PersistentVolumeClaim).get('data-web-0')).metadata;
  await world.remove('web-0');
  expect((await world.cluster.api(PersistentVolumeClaim).get('data-web-0')).metadata.uid).toBe(uid);
  await change({ replicas: 0 });
  await world.cluster.api(StatefulSet).delete('web');
  expect(await owners()).toEqual(['data-web-0: none', 'data-web-1: none']);
});

test('creates no pod while its claim is terminating and records an event', async () => {
  await make({ replicas: 1 });
  const claims = world.cluster.api(PersistentVolumeClaim);
  await claims.patch('data-web-0', { type: 'merge', merge: { metadata: { finalizers: ['example.com/hold'] } } });
  await claims.delete('data-web-0');
  await world.remove('web-0');
  expect(await world.podNames()).toEqual([]);
  expect(await world.events({ type: 'Warning' })).toEqual([
    'FailedCreate: create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted',
  ]);
  await claims.patch('data-web-0', { type: 'merge', merge: { metadata: { finalizers: null } } });
  await world.advance(60);
  expect(await world.podNames()).toEqual(['web-0']);
});

test('creates no pod when its claim is rejected', async () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { ...claimSpec, storageClassName: '-' } }];
  await make({ replicas: 1, volumeClaimTemplates: volumeClaimTemplates as never });
  expect(await world.podNames()).toEqual([]);
  const events = await world.events({ type: 'Warning' });
  expect(events).toHaveLength(2);
  expect(events[0]).toMatch(/^FailedCreate: create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: /);
  expect(events[1]).toMatch(
    /^FailedCreate: create Pod web-0 in StatefulSet web failed error: failed to create PVC data-web-0: /,
  );
});

test('records an event for an adopted pod that does not mount its claim', async () => {
  await world.cluster
    .api(Pod)
    .create({ metadata: { name: 'web-0', labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } });
  await make({ replicas: 1 });
  expect((await world.pod('web-0')).metadata.ownerReferences).toHaveLength(1);
  const [event] = await world.events({ type: 'Warning' });
  expect(event).toMatch(
    /^FailedUpdate: update Pod web-0 in StatefulSet web failed error: Pod "web-0" is invalid: spec: /,
  );
});

test('recreates the deleted claim of a pending pod with the next reconcile', async () => {
  await make({ replicas: 1 });
  await world.cluster.api(PersistentVolumeClaim).delete('data-web-0');
  await world.cluster.settle();
  // Neither the set nor its pods changed, so no reconcile runs.
  expect(await owners()).toEqual([]);
  await world.cluster.api(Pod).patch('web-0', { type: 'merge', merge: { metadata: { labels: { a: 'b' } } } });
  expect(await owners()).toEqual(['data-web-0: none']);
});

describe('claim retention policy', () => {
  test.each<{ whenDeleted: Retention; whenScaled: Retention; initial: string; scaled: string[]; deleted: string[] }>([
    {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
      initial: 'none',
      scaled: ['none', 'none'],
      deleted: ['none', 'none'],
    },
    {
      whenDeleted: 'Delete',
      whenScaled: 'Retain',
      initial: 'StatefulSet',
      scaled: ['StatefulSet', 'StatefulSet'],
      deleted: [],
    },
    { whenDeleted: 'Retain', whenScaled: 'Delete', initial: 'none', scaled: ['none'], deleted: ['none'] },
    { whenDeleted: 'Delete', whenScaled: 'Delete', initial: 'StatefulSet', scaled: ['StatefulSet'], deleted: [] },
  ])(
    'sets the owners of claims with $whenDeleted when deleted and $whenScaled when scaled',
    async ({ whenDeleted, whenScaled, initial, scaled, deleted }) => {
      await make({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });
      const named = (kinds: readonly string[]) => kinds.map((kind, index) => `data-web-${index}: ${kind}`);
      expect(await owners()).toEqual(named([initial, initial]));
      await change({ replicas: 1 });
      expect(await owners()).toEqual(named(scaled));
      await world.cluster.api(StatefulSet).delete('web');
      expect(await owners()).toEqual(named(deleted));
    },
  );

  test('makes a pod the owner of its claim while scaling down and waits for the deletion of the claim', async () => {
    await make({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } });
    const held = { type: 'merge', merge: { metadata: { finalizers: ['example.com/hold'] } } } as const;
    const free = { type: 'merge', merge: { metadata: { finalizers: null } } } as const;
    await world.cluster.api(PersistentVolumeClaim).patch('data-web-1', held);
    await change({ replicas: 1 });
    expect(await owners()).toEqual(['data-web-0: none', 'data-web-1: Pod']);
    await change({ replicas: 2 });
    expect(await world.podNames()).toEqual(['web-0']);
    await world.cluster.api(PersistentVolumeClaim).patch('data-web-1', free);
    expect(await world.podNames()).toEqual(['web-0', 'web-1']);
    expect(await owners()).toEqual(['data-web-0: none', 'data-web-1: none']);
  });

  test('applies a policy change to existing claims', async () => {
    await make();
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } });
    expect(await owners()).toEqual(['data-web-0: StatefulSet', 'data-web-1: StatefulSet']);
    await world.run('web-0', 'web-1');
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } });
    expect(await owners()).toEqual(['data-web-0: none', 'data-web-1: none']);
    expect(await world.events()).toContain('SuccessfulUpdate: update Pod web-0 in StatefulSet web successful');
  });

  test('leaves a claim of another controller unchanged and records a warning', async () => {
    const { uid } = (await world.cluster.api(ConfigMap).create({ metadata: { name: 'other' } })).metadata;
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid, controller: true };
    await make();
    await world.cluster
      .api(PersistentVolumeClaim)
      .patch('data-web-0', { type: 'merge', merge: { metadata: { ownerReferences: [other] } } });
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } });
    const all = await world.events({ type: 'Warning' });
    expect(all.filter((event) => event.startsWith('ConflictingController'))).toEqual([
      'ConflictingController: PersistentVolumeClaim data-web-0 has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim',
    ]);
    expect(await owners()).toEqual(['data-web-0: ConfigMap', 'data-web-1: StatefulSet']);
  });
});
