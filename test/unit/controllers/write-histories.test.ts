/** The versions of objects that controllers write on the way to the end state, as the reference server's controllers do. */
import type { Kind } from 'orchplane';
import { standardControllers } from 'orchplane/controllers';
import { Deployment, Job, Namespace, Pod, ReplicaSet } from 'orchplane/kinds';
import type { TestCluster } from 'orchplane/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

let world: WorkloadWorld;
let cluster: TestCluster;
beforeEach(() => {
  world = new WorkloadWorld(standardControllers());
  cluster = world.cluster;
});
afterEach(() => world.close());

const pods = { selector, template: template() };
const jobTemplate = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'i:1' }] } };

/** Records a value of every version of the kind's objects, without repetitions. */
async function record<AnyKind extends Kind>(kind: AnyKind, read: (object: never, type: string) => unknown) {
  const values: unknown[] = [];
  const informer = cluster.all(kind).informer();
  await informer.synced;
  informer.subscribe(({ type, object }) => {
    const value = read(object as never, type);
    if (JSON.stringify(value) !== JSON.stringify(values.at(-1))) values.push(value);
  });
  return { values, [Symbol.asyncDispose]: () => informer[Symbol.asyncDispose]() };
}

type Stored<AnyKind extends Kind> = Awaited<ReturnType<ReturnType<typeof cluster.api<AnyKind>>['get']>>;

function reasonOf({ status }: Stored<typeof Deployment>) {
  return status.conditions?.find(({ type }) => type === 'Progressing')?.reason;
}

async function runPods() {
  await world.run(...(await world.podNames()));
}

test('a Deployment reports a new ReplicaSet, a pause and a resumption before the rollout', async () => {
  await using seen = await record(Deployment, reasonOf);
  const api = cluster.api(Deployment);
  await api.create({ metadata: { name: 'd' }, spec: { replicas: 0, ...pods } });
  await cluster.settle();
  await api.patch('d', { type: 'merge', merge: { spec: { paused: true } } });
  await cluster.settle();
  await api.patch('d', { type: 'merge', merge: { spec: { paused: false } } });
  await cluster.settle();
  expect(seen.values).toEqual([
    'NewReplicaSetCreated',
    'NewReplicaSetAvailable',
    'DeploymentPaused',
    'DeploymentResumed',
    'NewReplicaSetAvailable',
  ]);
});

test('an adopting Deployment reports the ReplicaSet that it found', async () => {
  const api = cluster.api(Deployment);
  await api.create({ metadata: { name: 'd' }, spec: { replicas: 1, ...pods } });
  await runPods();
  await api.delete('d', { propagation: 'Orphan' });
  await cluster.settle();
  await using seen = await record(Deployment, reasonOf);
  await api.create({ metadata: { name: 'd' }, spec: { replicas: 1, ...pods } });
  await cluster.settle();
  expect(seen.values).toEqual(['FoundNewReplicaSet', 'NewReplicaSetAvailable']);
});

test('a Deployment that is resumed does not report the new ReplicaSet', async () => {
  await using seen = await record(Deployment, reasonOf);
  const api = cluster.api(Deployment);
  await api.create({ metadata: { name: 'd' }, spec: { replicas: 1, paused: true, ...pods } });
  await cluster.settle();
  await api.patch('d', { type: 'merge', merge: { spec: { paused: false } } });
  await cluster.settle();
  expect(seen.values).toEqual(['DeploymentPaused', 'DeploymentResumed', 'ReplicaSetUpdated']);
});

test('a Job that orphans its pods does not count them again', async () => {
  const api = cluster.api(Job);
  await api.create({ metadata: { name: 'j' }, spec: { template: jobTemplate } });
  await cluster.settle();
  await using seen = await record(Job, ({ status }: Stored<typeof Job>) => status.active);
  await api.delete('j', { propagation: 'Orphan' });
  await cluster.settle();
  expect(seen.values).toEqual([1]);
  expect(await api.find('j')).toBeUndefined();
});

test('a ReplicaSet that orphans its pods reports that none are left', async () => {
  const api = cluster.api(ReplicaSet);
  await api.create({ metadata: { name: 'r' }, spec: { replicas: 2, ...pods } });
  await cluster.settle();
  await using seen = await record(ReplicaSet, ({ status }: Stored<typeof ReplicaSet>) => [
    status.observedGeneration,
    status.replicas,
  ]);
  await api.delete('r', { propagation: 'Orphan' });
  await cluster.settle();
  expect(seen.values).toEqual([
    [1, 2],
    [2, 2],
    [2, 0],
  ]);
  expect((await cluster.api(Pod).list()).items).toHaveLength(2);
});

test.each(['Foreground', 'Background'] as const)(
  'a Job releases its pods before a deletion in %s',
  async (propagation) => {
    const api = cluster.api(Job);
    await api.create({ metadata: { name: 'j' }, spec: { parallelism: 2, template: jobTemplate } });
    await runPods();
    await using seen = await record(Pod, ({ metadata }: Stored<typeof Pod>, type: string) => [
      type === 'DELETED' || metadata.deletionTimestamp !== undefined,
      metadata.finalizers?.length ?? 0,
    ]);
    await using statuses = await record(Job, ({ status }: Stored<typeof Job>) => status.failed ?? 0);
    await api.delete('j', { propagation });
    await cluster.settle();
    expect(seen.values).toEqual([
      [false, 0],
      [true, 0],
    ]);
    expect(statuses.values).toEqual([0]);
  },
);

test('workloads report that their pods are gone before a deleted namespace loses them', async () => {
  await cluster.api(Namespace).create({ metadata: { name: 'n' } });
  await cluster.settle();
  await cluster.api(Deployment, 'n').create({ metadata: { name: 'd' }, spec: { replicas: 1, ...pods } });
  await cluster.settle();
  await using sets = await record(ReplicaSet, ({ status }: Stored<typeof ReplicaSet>) => status.replicas);
  await using all = await record(Deployment, ({ status }: Stored<typeof Deployment>) => status.replicas ?? 0);
  await cluster.api(Namespace).delete('n');
  await cluster.settle();
  expect(await cluster.api(Namespace).find('n')).toBeUndefined();
  expect(sets.values).toEqual([0]);
  expect(all.values).toEqual([0]);
});

test('a ReplicaSet that waits for the deletion of its pods reports that they are gone', async () => {
  const api = cluster.api(ReplicaSet);
  await api.create({ metadata: { name: 'r' }, spec: { replicas: 2, ...pods } });
  await runPods();
  await using seen = await record(ReplicaSet, ({ status }: Stored<typeof ReplicaSet>) => [
    status.observedGeneration,
    status.replicas,
  ]);
  await api.delete('r', { propagation: 'Foreground' });
  await cluster.settle();
  expect(seen.values).toEqual([
    [1, 2],
    [2, 2],
    [2, 0],
  ]);
});
