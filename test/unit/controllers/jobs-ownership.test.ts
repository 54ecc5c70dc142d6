/** Job controller: selectors, adoption, orphans, Jobs of other managers, and rejected requests. */
import { defineAdmission, mergePatch } from 'orchplane';
import { Job, Namespace, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FINALIZER, JobWorld, template } from './job-fixture.js';

let world: JobWorld;
let rejectCreates: boolean;
let rejectDeletes: boolean;
beforeEach(() => {
  [rejectCreates, rejectDeletes] = [false, false];
  const gate = defineAdmission({
    name: 'Gate',
    kind: Pod,
    on: ['CREATE', 'DELETE'],
    validate: ({ operation }) => ((operation === 'CREATE' ? rejectCreates : rejectDeletes) ? 'not now' : undefined),
  });
  world = new JobWorld(gate);
});
afterEach(() => world.close());

const bySelector = { manualSelector: true, selector: { matchLabels: { app: 'x' } } };
const makePod = (metadata: object) =>
  world.cluster.api(Pod).create({ metadata: { name: 'stray', ...metadata }, spec: template().spec });

describe('adoption by a Job', () => {
  test('adopts a matching pod without an owner and tracks it', async () => {
    await makePod({ labels: { app: 'x' } });
    await world.make({ ...bySelector });
    const [pod, ...others] = await world.pods();
    expect(others).toEqual([]);
    expect(pod?.metadata).toMatchObject({ name: 'stray', finalizers: [FINALIZER] });
    expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: 'j', controller: true }]);
    expect(await world.status()).toMatchObject({ active: 1 });
    await world.end('Succeeded');
    expect(await world.status()).toMatchObject({ succeeded: 1 });
  });

  test('adopts a pod that is created later and deletes the surplus pod', async () => {
    await world.make({ ...bySelector });
    await makePod({ labels: { app: 'x' } });
    expect(await world.active()).toHaveLength(1);
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('releases and replaces a pod that no longer matches', async () => {
    await world.make({ ...bySelector });
    const [pod] = await world.pods();
    const name = pod?.metadata.name ?? '';
    await world.cluster.api(Pod).patch(name, { type: 'merge', merge: { metadata: { labels: { app: 'y' } } } });
    await world.cluster.settle();
    const released = await world.cluster.api(Pod).get(name);
    expect(released.metadata.ownerReferences).toBeUndefined();
    // No Job counts this pod.
    expect(released.metadata.finalizers).toBeUndefined();
    expect(await world.active()).toHaveLength(2);
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('leaves pods of other controllers unchanged', async () => {
    const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'u', controller: true };
    await makePod({ labels: { app: 'x' }, ownerReferences: [owner] });
    await world.make({ ...bySelector });
    expect(await world.pods()).toHaveLength(2);
    expect((await world.cluster.api(Pod).get('stray')).metadata.ownerReferences).toEqual([owner]);
  });
});

describe('tracked pods without a Job', () => {
  test('removes the tracking finalizer of a pod without an owner', async () => {
    await makePod({ finalizers: [FINALIZER, 'example.com/mine'] });
    await world.cluster.settle();
    expect((await world.cluster.api(Pod).get('stray')).metadata.finalizers).toEqual(['example.com/mine']);
  });

  test('removes the tracking finalizer of pods of deleted and terminating Jobs', async () => {
    await world.make({ parallelism: 2, completions: 2 });
    const job = await world.job();
    await world.cluster.api(Job).delete('j', { propagation: 'Background' });
    expect((await world.pods()).map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
    expect(job.metadata.finalizers).toBeUndefined();

    await world.make({}, { name: 'k', finalizers: ['example.com/slow'] });
    await world.cluster.api(Job).delete('k');
    const [pod] = (await world.pods()).filter(({ metadata }) => metadata.name.startsWith('k-'));
    expect(pod?.metadata.finalizers).toBeUndefined();
    expect(await world.status('k')).toMatchObject({ active: 1 });
  });

  test('creates no pods for a terminating Job', async () => {
    await world.make({ backoffLimit: 5 }, { name: 'j', finalizers: ['example.com/slow'] });
    await world.cluster.api(Job).delete('j');
    await world.end('Failed');
    await world.advance(3600);
    expect(await world.active()).toEqual([]);
    expect(await world.conditions()).toEqual([]);
  });
});

describe('Jobs of other managers', () => {
  test('ignores a Job with another manager', async () => {
    await world.make({ managedBy: 'example.com/queue' });
    expect(await world.pods()).toEqual([]);
    expect(await world.status()).toEqual({});
  });

  test('keeps the finalizer of tracked pods of a Job with another manager', async () => {
    await world.make({ managedBy: 'example.com/queue' });
    const { metadata } = await world.job();
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: metadata.uid, controller: true };
    await makePod({ ownerReferences: [owner], finalizers: [FINALIZER] });
    await world.cluster.settle();
    expect((await world.cluster.api(Pod).get('stray')).metadata.finalizers).toEqual([FINALIZER]);
  });

  test('accepts its own name as the manager of a Job', async () => {
    await world.make({ managedBy: 'orch.io/job-controller' });
    expect(await world.pods()).toHaveLength(1);
  });
});

describe('rejected requests of the Job controller', () => {
  test('records an event for a rejected pod and retries with backoff', async () => {
    rejectCreates = true;
    await world.make({ parallelism: 4, completions: 4 });
    const [event] = await world.events('Warning');
    expect(event).toMatch(/^FailedCreate: Error creating: .*not now/);
    expect((await world.status()).active).toBeUndefined();
    expect(await world.status()).toMatchObject({ startTime: '2030-01-01T00:00:00Z', ready: 0 });
    // The first reconcile writes the start time, which does not shorten the delays of 1, 2, 4 and 8 seconds.
    const waits: number[] = [];
    for (let second = 1; waits.length < 4; second++) {
      const before = world.complaints.length;
      await world.advance(1);
      if (world.complaints.length > before) waits.push(second);
    }
    expect(waits).toEqual([1, 3, 7, 15]);
    rejectCreates = false;
    await world.advance(60);
    expect(await world.status()).toMatchObject({ active: 4 });
  });

  test('applies a change of the Job at once while a reconcile is failing', async () => {
    rejectCreates = true;
    await world.make({});
    const undo = world.cluster.use((request, next) => {
      if (request.verb !== 'create' || request.resource.resource !== 'pods') return next();
      undo();
      const suspended = world.cluster.api(Job).patch('j', mergePatch({ spec: { suspend: true } }));
      return suspended.then(() => next());
    });
    await world.advance(1);
    expect(await world.conditions()).toEqual(['Suspended=True JobSuspended']);
  });

  test('does not fail a Job while its pods cannot be deleted', async () => {
    rejectDeletes = true;
    await world.make({ activeDeadlineSeconds: 10 });
    await world.advance(10);
    expect(await world.conditions()).toEqual([]);
    expect(await world.status()).toMatchObject({ active: 1 });
    expect((await world.events('Warning'))[0]).toMatch(/^FailedDelete: Error deleting: .*not now/);
    rejectDeletes = false;
    await world.advance(60);
    expect(await world.conditions()).toEqual(['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded']);
  });

  test('creates no pods and reports no error in a terminating namespace', async () => {
    await world.cluster.api(Namespace).create({ metadata: { name: 'old' } });
    const jobs = world.cluster.api(Job, 'old');
    await jobs.create({ metadata: { name: 'j' }, spec: { template: template(), suspend: true } });
    await world.cluster.settle();
    await world.cluster.api(Namespace).delete('old');
    await jobs.patch('j', { type: 'merge', merge: { spec: { suspend: false } } });
    await world.cluster.settle();
    expect(await world.events('Warning')).toEqual([]);
    // The event cannot be written either, and no error is reported.
    expect(world.complaints).toEqual([]);
  });
});

test('uses the names of annotations and labels of each dialect', async () => {
  const { controllers, jobs } = await import('orchplane/controllers');
  const { testCluster } = await import('orchplane/testing');
  const cluster = testCluster({ dialect: 'kubernetes', controllers: controllers([jobs()]) });
  const spec = { template: template(), completionMode: 'Indexed' as const, completions: 1 };
  await cluster.api(Job).create({ metadata: { name: 'j' }, spec });
  await cluster.settle();
  const [pod] = (await cluster.api(Pod).list()).items;
  expect(pod?.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
  expect(pod?.metadata.annotations).toEqual({ 'batch.kubernetes.io/job-completion-index': '0' });
  await cluster.close();
});
