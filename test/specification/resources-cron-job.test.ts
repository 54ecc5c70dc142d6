/** docs/specification.md, R16, R17 and R18: CronJob, StorageVersionMigration and PriorityClass. */
import { controllers, cronJobs, garbageCollector, jobs, storageVersionMigrations } from 'orchplane/controllers';
import { Event, Job } from 'orchplane/kinds';
import { captureCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService } from './service.js';

const template = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } };
const cron = (change: Json = {}) => ({ spec: { schedule: '* * * * *', jobTemplate: template, ...change } });
const create = (change: Json) => openService().create('CronJob', cron(change));

const RUNNING = controllers([cronJobs(), jobs(), garbageCollector()]);

/** A service whose controllers run, with a CronJob, after some minutes. */
async function runFor(minutes: number, change: Json) {
  const service = openService({ controllers: RUNNING });
  expect((await service.create('CronJob', cron(change))).code).toBe(201);
  for (let minute = 0; minute < minutes; minute++) await service.clock.advance(60_000);
  return service;
}
const jobsOf = async ({ cluster }: { cluster: ReturnType<typeof openService>['cluster'] }) =>
  (await cluster.api(Job).list()).items;

describe('CronJob', () => {
  test('R16.1: has the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'CronJob', 'CronJobSpec')).toEqual({
      jobTemplate: 'JobTemplateSpec!',
      schedule: 'string!',
      timeZone: 'string',
      concurrencyPolicy: 'string',
      startingDeadlineSeconds: 'int64',
      suspend: 'boolean',
      successfulJobsHistoryLimit: 'int32',
      failedJobsHistoryLimit: 'int32',
    });
    expect(await fieldsOf(service, 'CronJob', 'JobTemplateSpec')).toEqual({ metadata: 'ObjectMeta', spec: 'JobSpec' });
    expect(await fieldsOf(service, 'CronJob', 'CronJobStatus')).toEqual({
      active: '[]ObjectReference atomic',
      lastScheduleTime: 'Time',
      lastSuccessfulTime: 'Time',
    });
  });

  test('R16.2: a template and a valid schedule are required', async () => {
    expect((await create({ jobTemplate: undefined })).causes.join()).toContain('spec.jobTemplate');
    expect((await create({ schedule: undefined })).causes).toEqual(['spec.schedule: Required']);
    expect((await create({ schedule: 'often' })).causes).toEqual(['spec.schedule: Invalid']);
  });

  test('R16.3: a time zone is a name of the tz database', async () => {
    expect((await create({ timeZone: 'Europe/Vienna' })).code).toBe(201);
    expect((await create({ timeZone: 'Europe/Nowhere' })).causes).toEqual(['spec.timeZone: Invalid']);
  });

  test('R16.4: concurrencyPolicy, suspend and the limits have defaults', async () => {
    expect((await create({})).body.spec).toMatchObject({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    expect((await create({ concurrencyPolicy: 'Maybe' })).causes).toEqual(['spec.concurrencyPolicy: NotSupported']);
  });

  test.each(['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'])('R16.5: %s is not negative', async (field) => {
    expect((await create({ [field]: 0 })).body.spec[field]).toBe(0);
    expect((await create({ [field]: -1 })).causes).toEqual([`spec.${field}: Invalid`]);
  });

  test('R16.6: runs start on schedule; the policy decides about runs that overlap', async () => {
    expect(await jobsOf(await runFor(3, {}))).toHaveLength(3);
    const forbidden = await jobsOf(await runFor(3, { concurrencyPolicy: 'Forbid' }));
    const replaced = await jobsOf(await runFor(3, { concurrencyPolicy: 'Replace' }));
    expect([forbidden.length, replaced.length]).toEqual([1, 1]);
    const time = ({ metadata }: (typeof forbidden)[number]) => Date.parse(metadata.creationTimestamp);
    expect(time(replaced[0] as never)).toBeGreaterThan(time(forbidden[0] as never));
  });

  test('R16.7: suspend stops later runs, not those that run', async () => {
    const service = await runFor(1, {});
    await service.merge('CronJob', 'a', { spec: { suspend: true } });
    await service.clock.advance(120_000);
    expect(await jobsOf(service)).toHaveLength(1);
    expect((await service.get('CronJob', 'a')).body.status.active).toHaveLength(1);
  });

  test('R16.8: a run that is later than its deadline is missed', async () => {
    const service = await runFor(0, { suspend: true, startingDeadlineSeconds: 10 });
    await service.clock.advance(90_000);
    await service.merge('CronJob', 'a', { spec: { suspend: false } });
    await service.clock.advance(1000);
    expect(await jobsOf(service)).toHaveLength(0);
    await service.clock.advance(60_000);
    expect(await jobsOf(service)).toHaveLength(1);
  });

  test('R16.10: a time zone that becomes invalid stops the runs and is reported by an event', async () => {
    const before = openService();
    await before.create('CronJob', cron({ timeZone: 'Europe/Vienna' }));
    const state = JSON.parse(
      JSON.stringify(captureCluster(before.cluster)).replaceAll('Europe/Vienna', 'Europe/Nowhere'),
    );
    const service = openService({ from: state, controllers: RUNNING });
    await service.clock.advance(120_000);
    expect(await jobsOf(service)).toHaveLength(0);
    const events = (await service.cluster.api(Event).list()).items;
    expect(events).toContainEqual(expect.objectContaining({ reason: 'UnknownTimeZone' }));
  });

  test('R16.9: the status has the active runs and the times of runs', async () => {
    const service = await runFor(1, {});
    const [job] = await jobsOf(service);
    const { status } = (await service.get('CronJob', 'a')).body;
    expect(status.active).toEqual([expect.objectContaining({ kind: 'Job', name: job?.metadata.name })]);
    expect(status.lastScheduleTime).toMatch(/:00Z$/);
  });
});

describe('StorageVersionMigration', () => {
  const resource = { group: 'apps', version: 'v1', resource: 'deployments' };

  test('R17.1: has a required resource and a continue token', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'StorageVersionMigration', type);
    expect(await fields('StorageVersionMigrationSpec')).toEqual({
      resource: 'GroupVersionResource!',
      continueToken: 'string',
    });
    expect(await fields('GroupVersionResource')).toEqual({ group: 'string', resource: 'string', version: 'string' });
    expect((await service.create('StorageVersionMigration', { spec: {} })).code).toBe(422);
    const made = await service.create('StorageVersionMigration', { spec: { resource, continueToken: 't' } });
    expect(made.body.spec).toEqual({ resource, continueToken: 't' });
  });

  test('R17.2: the resource is immutable', async () => {
    const service = openService();
    await service.create('StorageVersionMigration', { spec: { resource } });
    const changed = await service.merge('StorageVersionMigration', 'a', { spec: { resource: { version: 'v2' } } });
    expect(changed.code).toBe(422);
  });

  test('R17.3: conditions have a type, which is their key, and a known status', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'StorageVersionMigration', type);
    expect(await fields('StorageVersionMigrationStatus')).toEqual({
      conditions: '[]MigrationCondition map type',
      resourceVersion: 'string',
    });
    expect(await fields('MigrationCondition')).toEqual({
      status: 'string!',
      type: 'string!',
      lastUpdateTime: 'Time',
      message: 'string',
      reason: 'string',
    });
    await service.create('StorageVersionMigration', { spec: { resource } });
    const put = (condition: Json) =>
      service.merge('StorageVersionMigration', 'a/status', {
        status: { conditions: [{ reason: 'R', lastUpdateTime: '2024-01-02T03:04:05Z', ...condition }] },
      });
    expect((await put({ type: 'Running', status: 'Unknown' })).code).toBe(200);
    for (const bad of [{ type: 'Running' }, { status: 'True' }, { type: 'Running', status: 'Maybe' }]) {
      expect((await put(bad)).code).toBe(422);
    }
  });

  test('R17.4: the controller rewrites the objects and records the resourceVersion', async () => {
    const service = openService({ controllers: controllers([storageVersionMigrations()]) });
    await service.create('ConfigMap', {});
    const maps = { group: '', version: 'v1', resource: 'configmaps' };
    await service.create('StorageVersionMigration', { spec: { resource: maps } });
    await service.clock.advance(60_000);
    const { status } = (await service.get('StorageVersionMigration', 'a')).body;
    expect(status.resourceVersion).toMatch(/^[0-9]+$/);
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Succeeded', status: 'True' }));
  });
});

describe('PriorityClass', () => {
  test('R18.1: has a required value, which may be 0, and the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'PriorityClass', 'PriorityClass')).toMatchObject({
      value: 'int32!',
      description: 'string',
      globalDefault: 'boolean',
      preemptionPolicy: 'string',
    });
    expect(await service.create('PriorityClass', {})).toMatchObject({ code: 422, causes: ['value: Required'] });
    expect(await service.create('PriorityClass', { value: 0, description: 'd' })).toMatchObject({
      code: 201,
      body: { value: 0, description: 'd' },
    });
  });

  const pod = (spec: Json, name = 'p') => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

  test('R18.2: a pod that names the class gets its value', async () => {
    const service = openService();
    await service.create('PriorityClass', { value: 7 });
    expect((await service.create('Pod', pod({ priorityClassName: 'a' }))).body.spec.priority).toBe(7);
  });

  test('R18.3: pods without a class get the default class; of several, the one with the smallest value', async () => {
    const service = openService();
    expect((await service.create('Pod', pod({}, 'none'))).body.spec.priority).toBe(0);
    await service.create('PriorityClass', { value: 7, globalDefault: true });
    expect((await service.create('Pod', pod({}))).body.spec).toMatchObject({ priority: 7, priorityClassName: 'a' });
    const second = await service.create('PriorityClass', { metadata: { name: 'b' }, value: 5, globalDefault: true });
    expect(second.code).toBe(403);
    const unguarded = openService({ admission: [] });
    for (const [name, value] of [
      ['b', 9],
      ['c', 5],
      ['d', 7],
    ] as const) {
      await unguarded.create('PriorityClass', { metadata: { name }, value, globalDefault: true });
    }
    const guarded = openService({ from: captureCluster(unguarded.cluster) });
    expect((await guarded.create('Pod', pod({}))).body.spec).toMatchObject({ priority: 5, priorityClassName: 'c' });
  });

  test('R18.4: the preemption policy is Never or PreemptLowerPriority, the default', async () => {
    const service = openService();
    expect((await service.create('PriorityClass', { value: 1 })).body.preemptionPolicy).toBe('PreemptLowerPriority');
    const never = await service.create('PriorityClass', {
      metadata: { name: 'b' },
      value: 1,
      preemptionPolicy: 'Never',
    });
    expect(never.code).toBe(201);
    const bad = await service.create('PriorityClass', { metadata: { name: 'c' }, value: 1, preemptionPolicy: 'Maybe' });
    expect(bad.causes).toEqual(['preemptionPolicy: NotSupported']);
  });
});
