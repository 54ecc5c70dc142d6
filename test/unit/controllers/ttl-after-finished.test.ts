/** TTL-after-finished controller: deletes finished Jobs. */
import { controllers, ttlAfterFinished } from 'orchplane/controllers';
import { Job } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { template } from './job-fixture.js';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster({ controllers: controllers([ttlAfterFinished()]) });
});
afterEach(() => cluster.close());

const make = (ttlSecondsAfterFinished?: number, metadata: object = {}) =>
  cluster.api(Job).create({
    metadata: { name: 'j', ...metadata },
    spec: { template: template(), ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) },
  });
const finish = async (type: 'Complete' | 'Failed') => {
  const now = new Date(cluster.clock.now()).toISOString();
  const interim = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const conditions = [interim, type].map((name) => ({ type: name, status: 'True', lastTransitionTime: now }));
  const end = type === 'Complete' ? { completionTime: now } : {};
  const job = await cluster.api(Job).get('j');
  await cluster.api(Job).status.update('j', { ...job, status: { startTime: now, ...end, conditions } as never });
  await cluster.settle();
};
const job = () => cluster.api(Job).find('j');

test.each(['Complete', 'Failed'] as const)('deletes a %s Job exactly after its TTL', async (type) => {
  await make(100);
  await cluster.clock.advance(10_000);
  await finish(type);
  await cluster.clock.advance(99_000);
  expect(await job()).toBeDefined();
  await cluster.clock.advance(1_000);
  // Foreground deletion waits for the garbage collector to delete the pods.
  expect((await job())?.metadata.finalizers).toEqual(['foregroundDeletion']);
});

test('deletes a finished Job with a TTL of zero at once', async () => {
  await make(0);
  await finish('Complete');
  expect((await job())?.metadata.deletionTimestamp).toBeDefined();
});

test('keeps finished Jobs without a TTL and unfinished Jobs', async () => {
  await make();
  await finish('Complete');
  await cluster.clock.advance(1e9);
  expect((await job())?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.api(Job).delete('j', { propagation: 'Background' });
  await make(1);
  await cluster.clock.advance(1e9);
  expect((await job())?.metadata.deletionTimestamp).toBeUndefined();
});

test('measures an extended TTL from the end of the Job', async () => {
  await make(10);
  await finish('Complete');
  await cluster.clock.advance(5_000);
  await cluster.api(Job).patch('j', { type: 'merge', merge: { spec: { ttlSecondsAfterFinished: 60 } } });
  await cluster.clock.advance(54_000);
  expect((await job())?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.clock.advance(1_000);
  expect((await job())?.metadata.deletionTimestamp).toBeDefined();
});

test('deletes Jobs that finished before the controller started', async () => {
  const before = testCluster();
  await before
    .api(Job)
    .create({ metadata: { name: 'j' }, spec: { template: template(), ttlSecondsAfterFinished: 30 } });
  const now = '2030-01-01T00:00:00Z';
  const live = await before.api(Job).get('j');
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: now,
  }));
  const status = { startTime: now, completionTime: now, conditions };
  await before.api(Job).status.update('j', { ...live, status: status as never });
  const { runControllers } = await import('orchplane/controllers');
  const running = runControllers(before, [ttlAfterFinished()]);
  await before.clock.advance(30_000);
  expect((await before.api(Job).find('j'))?.metadata.deletionTimestamp).toBeDefined();
  running.close();
  await before.close();
});
