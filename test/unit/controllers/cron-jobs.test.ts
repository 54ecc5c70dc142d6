/** CronJob controller: when it creates Jobs and how it tracks them. */
import { defineAdmission } from 'orchplane';
import { CronJob, Job, Namespace } from 'orchplane/kinds';
import { delaying } from 'orchplane/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { CronWorld, timeOfRun } from './cron-job-fixture.js';
import { template } from './job-fixture.js';

let world: CronWorld;
let rejectCreates = false;
let rejectDeletes = false;
beforeEach(() => {
  [rejectCreates, rejectDeletes] = [false, false];
  const gate = defineAdmission({
    name: 'Gate',
    kind: Job,
    on: ['CREATE', 'DELETE'],
    validate: ({ operation }) => ((operation === 'CREATE' ? rejectCreates : rejectDeletes) ? 'not now' : undefined),
  });
  world = new CronWorld('2030-01-01T00:00:00Z', gate);
});
afterEach(() => world.close());

const cronJobs = () => world.cluster.api(CronJob);
const jobs = () => world.cluster.api(Job);

describe('CronJob run', () => {
  test('creates a Job from the template with the scheduled time in its name', async () => {
    await world.make('*/15 * * * *', {
      jobTemplate: {
        metadata: { labels: { from: 'cron' }, annotations: { note: 'x' } },
        spec: { template: template(), backoffLimit: 3 },
      },
    });
    await world.advance(14);
    expect(await world.jobs()).toEqual([]);
    await world.advance(1);
    const [job, ...others] = await world.jobs();
    expect(others).toEqual([]);
    const { uid } = (await cronJobs().get('c')).metadata;
    expect(job?.metadata).toMatchObject({
      name: `c-${Date.parse('2030-01-01T00:15:00Z') / 60_000}`,
      creationTimestamp: '2030-01-01T00:15:00Z',
      annotations: { note: 'x', 'batch.orch.io/cronjob-scheduled-timestamp': '2030-01-01T00:15:00Z' },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid, controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(job?.metadata.labels).toEqual({ from: 'cron' });
    expect(job?.spec).toMatchObject({ backoffLimit: 3, parallelism: 1 });
    expect(await world.status()).toEqual({
      active: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          namespace: 'default',
          name: job?.metadata.name,
          uid: job?.metadata.uid,
          resourceVersion: job?.metadata.resourceVersion,
        },
      ],
      lastScheduleTime: '2030-01-01T00:15:00Z',
    });
    expect(await world.events()).toEqual([`SuccessfulCreate: Created job ${job?.metadata.name}`]);
  });

  test('allows overlapping Jobs by default', async () => {
    await world.make('* * * * *');
    await world.advance(3);
    expect(await world.runs()).toEqual(['2030-01-01T00:01', '2030-01-01T00:02', '2030-01-01T00:03']);
    expect(await world.active()).toHaveLength(3);
  });

  test('writes the status as the kube-controller-manager field manager', async () => {
    await world.make('* * * * *');
    await world.advance(1);
    const { metadata } = await cronJobs().get('c');
    const entries = metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource]);
    expect(entries).toContainEqual(['kube-controller-manager', 'status']);
  });

  test('leaves an unrelated Job with the same name unchanged', async () => {
    const name = `c-${Date.parse('2030-01-01T00:01:00Z') / 60_000}`;
    await jobs().create({ metadata: { name }, spec: { template: template() } });
    await world.make('* * * * *');
    await world.advance(1);
    expect(await world.status()).toEqual({});
    await world.advance(1);
    expect(await world.events('Warning')).toEqual([]);
  });

  test('adds an existing owned Job to the active list', async () => {
    await world.make('* * * * *', { suspend: true });
    const { metadata } = await cronJobs().get('c');
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: metadata.uid, controller: true };
    const name = `c-${Date.parse('2030-01-01T00:01:00Z') / 60_000}`;
    await jobs().create({ metadata: { name, ownerReferences: [owner] }, spec: { template: template() } });
    await world.change({ suspend: false });
    await world.advance(1);
    expect(await world.active()).toEqual([name]);
    expect(await world.events('Normal')).toEqual([]);
  });

  test('records an event for a rejected Job and retries', async () => {
    rejectCreates = true;
    await world.make('*/10 * * * *');
    await world.advance(10);
    expect((await world.events('Warning'))[0]).toMatch(/^FailedCreate: Error creating job: .*not now/);
    expect(world.complaints.length).toBeGreaterThan(0);
    expect(await world.status()).toEqual({});
    rejectCreates = false;
    await world.advance(1);
    expect(await world.runs()).toEqual(['2030-01-01T00:10']);
  });

  test('creates no Job and records no event in a terminating namespace', async () => {
    await world.cluster.api(Namespace).create({ metadata: { name: 'old' } });
    const jobTemplate = { spec: { template: template() } };
    await world.cluster
      .api(CronJob, 'old')
      .create({ metadata: { name: 'c' }, spec: { schedule: '* * * * *', jobTemplate } });
    await world.cluster.api(Namespace).delete('old');
    await world.advance(3);
    expect(world.complaints).toEqual([]);
    expect(await world.cluster.api(Job, 'old').list()).toMatchObject({ items: [] });
  });

  test('creates no Job for a terminating CronJob', async () => {
    await world.make('* * * * *');
    await cronJobs().patch('c', { type: 'merge', merge: { metadata: { finalizers: ['example.com/slow'] } } });
    await cronJobs().delete('c');
    await world.advance(5);
    expect(await world.jobs()).toEqual([]);
  });
});

describe('missed CronJob runs', () => {
  test('starts only the latest of the runs missed while suspended', async () => {
    await world.make('*/10 * * * *', { suspend: true });
    await world.advance(45);
    expect(await world.jobs()).toEqual([]);
    await world.change({ suspend: false });
    expect(await world.runs()).toEqual(['2030-01-01T00:40']);
    expect(await world.events('Warning')).toEqual([]);
    await world.advance(5);
    expect(await world.runs()).toEqual(['2030-01-01T00:40', '2030-01-01T00:50']);
  });

  test('records an event for more than a hundred missed runs', async () => {
    await world.make('* * * * *', { suspend: true });
    await world.advance(102);
    await world.change({ suspend: false });
    expect(await world.runs()).toEqual(['2030-01-01T01:42']);
    expect(await world.events('Warning')).toEqual([
      'TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    ]);
  });

  test('records no event for exactly a hundred missed runs', async () => {
    await world.make('* * * * *', { suspend: true });
    await world.advance(100);
    await world.change({ suspend: false });
    expect(await world.runs()).toEqual(['2030-01-01T01:40']);
    expect(await world.events('Warning')).toEqual([]);
  });

  test('does not iterate over every run missed in ten years', async () => {
    await world.make('* * * * *', { suspend: true });
    await world.clock.advance(10 * 365 * 86_400_000);
    const spentMs = cpuTimer();
    await world.change({ suspend: false });
    expect(await world.runs()).toEqual(['2039-12-30T00:00']);
    expect(spentMs()).toBeLessThan(1_000);
  });

  test.each([
    { startingDeadlineSeconds: 120, runs: [] },
    { startingDeadlineSeconds: 301, runs: ['2030-01-01T00:40'] },
    { startingDeadlineSeconds: 600, runs: ['2030-01-01T00:40'] },
  ])(
    'starts $runs with a starting deadline of $startingDeadlineSeconds s',
    async ({ startingDeadlineSeconds, runs }) => {
      await world.make('*/10 * * * *', { suspend: true, startingDeadlineSeconds });
      await world.advance(45);
      await world.change({ suspend: false });
      expect(await world.runs()).toEqual(runs);
      await world.advance(5);
      expect(await world.runs()).toEqual([...runs, '2030-01-01T00:50']);
    },
  );

  test('does not start runs from before a schedule change', async () => {
    await world.make('0 12 * * *');
    await world.advance(90);
    await world.change({ schedule: '0 * * * *' });
    expect(await world.jobs()).toEqual([]);
    await world.advance(30);
    expect(await world.runs()).toEqual(['2030-01-01T02:00']);
  });

  test('counts missed runs from the last run and not from the last reconcile', async () => {
    await world.make('0 * * * *');
    await world.advance(60);
    await world.change({ suspend: true });
    await world.advance(59);
    await world.change({ suspend: false });
    expect(await world.runs()).toEqual(['2030-01-01T01:00']);
  });
});

describe('CronJob concurrency policy', () => {
  test('starts the latest missed run after the active Job ends with Forbid', async () => {
    await world.make('*/10 * * * *', { concurrencyPolicy: 'Forbid' });
    await world.advance(25);
    expect(await world.runs()).toEqual(['2030-01-01T00:10']);
    expect(await world.events()).toContain(
      'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid',
    );
    expect((await world.status()).lastScheduleTime).toBe('2030-01-01T00:10:00Z');
    await world.finish((await world.active())[0] ?? '');
    expect(await world.runs()).toEqual(['2030-01-01T00:10', '2030-01-01T00:20']);
  });

  test('deletes the active Job with Replace', async () => {
    await world.make('*/10 * * * *', { concurrencyPolicy: 'Replace' });
    await world.advance(20);
    expect(await world.runs()).toEqual(['2030-01-01T00:20']);
    expect(await world.active()).toHaveLength(1);
    const first = `c-${Date.parse('2030-01-01T00:10:00Z') / 60_000}`;
    expect(await world.events()).toContain(`SuccessfulDelete: Deleted job ${first}`);
    expect((await world.events()).filter((event) => event.startsWith('MissingJob'))).toEqual([]);
  });

  test('starts no new Job with Replace while the active Job cannot be deleted', async () => {
    await world.make('*/10 * * * *', { concurrencyPolicy: 'Replace' });
    await world.advance(15);
    rejectDeletes = true;
    await world.advance(5);
    expect(await world.runs()).toEqual(['2030-01-01T00:10']);
    expect((await world.events('Warning'))[0]).toMatch(/^FailedDelete: Deleted job: .*not now/);
    rejectDeletes = false;
    await world.advance(1);
    expect(await world.runs()).toEqual(['2030-01-01T00:20']);
  });
});

describe('finished CronJob runs', () => {
  test.each(['Complete', 'Failed'] as const)(
    'removes a %s Job from the active list and records an event',
    async (type) => {
      await world.make('*/10 * * * *');
      await world.advance(10);
      const [name = ''] = await world.active();
      await world.advance(2);
      await world.finish(name, type);
      expect(await world.active()).toEqual([]);
      expect((await world.status()).lastSuccessfulTime).toBe(type === 'Complete' ? '2030-01-01T00:12:00Z' : undefined);
      expect(await world.events()).toContain(`SawCompletedJob: Saw completed job: ${name}, condition: ${type}`);
    },
  );

  test('reports the latest success regardless of the order in which Jobs end', async () => {
    await world.make('*/10 * * * *', { successfulJobsHistoryLimit: 10 });
    await world.advance(20);
    const [first = '', second = ''] = await world.active();
    await world.finish(second);
    expect((await world.status()).lastSuccessfulTime).toBe('2030-01-01T00:20:00Z');
    await world.advance(5);
    await world.finish(first);
    expect((await world.status()).lastSuccessfulTime).toBe('2030-01-01T00:25:00Z');
  });

  test('keeps finished Jobs up to the history limit per outcome', async () => {
    await world.make('*/10 * * * *', { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 });
    for (const type of ['Complete', 'Failed', 'Complete', 'Failed', 'Complete'] as const) {
      await world.advance(10);
      for (const name of await world.active()) await world.finish(name ?? '', type);
    }
    expect(await world.runs()).toEqual(['2030-01-01T00:30', '2030-01-01T00:40', '2030-01-01T00:50']);
    const deleted = (await world.events()).filter((event) => event.startsWith('SuccessfulDelete'));
    expect(deleted).toHaveLength(2);
    await world.change({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 });
    expect(await world.jobs()).toEqual([]);
  });

  test('records an event for a Job that cannot be deleted, and continues', async () => {
    await world.make('*/10 * * * *', { successfulJobsHistoryLimit: 0 });
    await world.advance(10);
    rejectDeletes = true;
    await world.finish((await world.active())[0] ?? '');
    expect((await world.events('Warning'))[0]).toMatch(/^FailedDelete: Deleted job: .*not now/);
    await world.advance(10);
    expect(await world.runs()).toEqual(['2030-01-01T00:10', '2030-01-01T00:20']);
  });

  test('keeps the other overlapping Jobs active when one ends, is deleted or is removed from the status', async () => {
    await world.make('* * * * *', { successfulJobsHistoryLimit: 10 });
    await world.advance(12);
    const names = await world.active();
    await world.finish(names[3] ?? '');
    expect(await world.active()).toEqual(names.filter((_name, at) => at !== 3));
    await jobs().delete(names[7] ?? '', { propagation: 'Background' });
    expect(await world.active()).toEqual(names.filter((_name, at) => at !== 3 && at !== 7));
    await world.advance(1);
    const [next = ''] = (await world.active()).slice(-1);
    expect(timeOfRun(next)).toBe('2030-01-01T00:13');
    // Another client removes the second Job from the status: the run is not repeated, and the Job is no longer tracked.
    const cronJob = await cronJobs().get('c');
    const active = (cronJob.status.active ?? []).filter((_reference, at) => at !== 1);
    await cronJobs().status.update('c', { ...cronJob, status: { ...cronJob.status, active } });
    expect(await world.active()).toHaveLength(10);
    expect(await world.events('Warning')).toContain(
      `UnexpectedJob: Saw a job that the controller did not create or forgot: ${names[1]}`,
    );
    await world.advance(1);
    expect(await world.active()).toHaveLength(11);
    expect(await world.jobs()).toHaveLength(13);
  });

  test('notices Jobs that end or are deleted in the reconcile that creates them', async () => {
    await world.make('*/5 * * * *', { concurrencyPolicy: 'Replace' });
    const jobs = world.cluster.api(Job).informer();
    await jobs.synced;
    const ended: Promise<void>[] = [];
    // Some Jobs end before the status lists them, another client deletes some, the rest run until they are replaced.
    jobs.subscribe(({ type, object }) => {
      if (type !== 'ADDED') return;
      const run = Math.floor(world.clock.now() / 300_000) % 3;
      if (run === 0) ended.push(world.finish(object.metadata.name));
      if (run === 1)
        ended.push(
          world.cluster
            .api(Job)
            .delete(object.metadata.name)
            .then(() => undefined),
        );
    });
    await world.clock.advance(3_600_000);
    await Promise.all(ended);
    expect(ended.length).toBe(8);
    const { active, lastScheduleTime, lastSuccessfulTime } = await world.status();
    expect(lastScheduleTime).toBe('2030-01-01T01:00:00Z');
    expect(active).toBeUndefined();
    expect(lastSuccessfulTime).toBe('2030-01-01T01:00:00Z');
    expect(await world.runs()).toEqual(['2030-01-01T00:30', '2030-01-01T00:45', '2030-01-01T01:00']);
    jobs.close();
  });

  test('starts runs on time when the writes of the previous run are slow', async () => {
    for (const seconds of [10, 30]) {
      const slow = new CronWorld('2030-01-01T00:00:00Z');
      slow.cluster.use(delaying({ verb: 'update', kind: CronJob, subresource: 'status' }, seconds * 1_000));
      const made: string[] = [];
      const informer = slow.cluster.api(Job).informer();
      await informer.synced;
      informer.subscribe(({ type }) => {
        if (type === 'ADDED') made.push(new Date(slow.clock.now()).toISOString().slice(11, 19));
      });
      await slow.cluster.api(CronJob).create({
        metadata: { name: 'c' },
        spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template() } } },
      });
      await slow.clock.advance(300_000);
      expect(made).toEqual(['00:01:00', '00:02:00', '00:03:00', '00:04:00', '00:05:00']);
      informer.close();
      await slow.close();
    }
  });

  test('records an event for an active Job that another client deleted', async () => {
    await world.make('*/10 * * * *');
    await world.advance(10);
    const [name = ''] = await world.active();
    await jobs().delete(name, { propagation: 'Background' });
    expect(await world.active()).toEqual([]);
    expect(await world.events()).toContain(`MissingJob: Active job went missing: ${name}`);
    await world.advance(9);
    expect(await world.jobs()).toEqual([]);
  });

  test('reports a Job with its owner reference that another client created, and counts its success', async () => {
    await world.make('0 0 29 2 *');
    const { metadata } = await cronJobs().get('c');
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: metadata.uid, controller: true };
    await jobs().create({ metadata: { name: 'by-hand', ownerReferences: [owner] }, spec: { template: template() } });
    expect(await world.events('Warning')).toEqual([
      'UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand',
    ]);
    await world.finish('by-hand');
    expect(await world.status()).toEqual({ lastSuccessfulTime: '2030-01-01T00:00:00Z' });
  });
});

describe('CronJob schedule', () => {
  test('evaluates the schedule in the time zone and writes it to the Job annotation', async () => {
    await world.make('30 9 * * *', { timeZone: 'Asia/Kolkata' });
    await world.advance(24 * 60);
    const [job] = await world.jobs();
    expect(await world.runs()).toEqual(['2030-01-01T04:00']);
    expect(job?.metadata.annotations).toMatchObject({
      'batch.orch.io/cronjob-scheduled-timestamp': '2030-01-01T09:30:00+05:30',
    });
  });

  test('reports a schedule without any next time as invalid', async () => {
    await world.make('0 0 31 2 *');
    expect(await world.events('Warning')).toEqual([
      'InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
    ]);
    await world.change({ schedule: '* * * * *' });
    await world.advance(1);
    expect(await world.jobs()).toHaveLength(1);
  });

  test('accepts schedule macros', async () => {
    await world.make('@hourly');
    await world.make('@every 90m', {}, 'e');
    await world.advance(120);
    expect(await world.runs()).toEqual(['2030-01-01T01:00', '2030-01-01T02:00', '2030-01-01T01:30']);
  });
});
